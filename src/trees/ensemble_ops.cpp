#include "graph/op_registry.h"
#include "graph/resource_kernel.h"
#include "trees/ensemble_resource.h"

namespace runhooks {

namespace {

const char* const kStamp = "stamp";
const char* const kSerialized = "serialized";

TreeEnsemble ensemble_of(int64_t stamp, const std::string& serialized, const std::string& where) {
  TreeEnsemble ensemble = TreeEnsemble::parse(serialized, where);
  ensemble.stamp = stamp;
  return ensemble;
}

}  // namespace

std::unique_ptr<StatefulResource> EnsembleResource::make(const Operation&) {
  return std::make_unique<EnsembleResource>();
}

NamedTensors EnsembleResource::save_state() const {
  return {{kStamp, Tensor::scalar<int64_t>(ensemble().stamp)},
          {kSerialized, Tensor::string_scalar(ensemble().serialize())}};
}

void EnsembleResource::restore_state(const NamedTensors& state) {
  const int64_t stamp = state_integer(state, kStamp);
  set(ensemble_of(stamp, state_string(state, kSerialized), "the state of trees"));
}

const TreeEnsemble& EnsembleResource::ensemble() const {
  if (!is_initialized_) {
    fail(Code::kFailedPrecondition,
         "The trees have not been created; run their initializer or "
         "restore a checkpoint.");
  }
  return ensemble_;
}

TreeEnsemble& EnsembleResource::ensemble() {
  return const_cast<TreeEnsemble&>(static_cast<const EnsembleResource&>(*this).ensemble());
}

void EnsembleResource::set(TreeEnsemble ensemble) {
  ensemble_ = std::move(ensemble);
  is_initialized_ = true;
  ++revision_;
  checked_stamp_ = -1;
}

void EnsembleResource::check_fits(int32_t num_features, int32_t logits) const {
  const bool is_checked = checked_stamp_ == ensemble_.stamp && checked_features_ == num_features &&
                          checked_logits_ == logits;
  if (is_checked) return;
  ensemble().check_fits(num_features, logits, "this model");
  checked_stamp_ = ensemble_.stamp;
  checked_features_ = num_features;
  checked_logits_ = logits;
}

namespace {

// --- Kernels

EnsembleResource& trees_of(KernelContext& c) { return c.input_resource<EnsembleResource>(0); }

// Does nothing if the ensemble exists, as in TensorFlow.
class CreateKernel : public Kernel {
 public:
  void compute(KernelContext& c) override {
    if (trees_of(c).is_initialized()) return;
    trees_of(c).set(
        ensemble_of(*c.input(1).data<int64_t>(), c.input(2).string_at(0), c.op().name()));
  }
};

class DeserializeKernel : public Kernel {
 public:
  void compute(KernelContext& c) override {
    trees_of(c).set(
        ensemble_of(*c.input(1).data<int64_t>(), c.input(2).string_at(0), c.op().name()));
  }
};

class IsInitializedKernel : public Kernel {
 public:
  void compute(KernelContext& c) override {
    *c.output(0).data<bool>() = trees_of(c).is_initialized();
  }
};

class SerializeKernel : public Kernel {
 public:
  void compute(KernelContext& c) override {
    const TreeEnsemble& ensemble = trees_of(c).ensemble();
    *c.allocate_output(0, DType::kInt64, Shape()).data<int64_t>() = ensemble.stamp;
    c.alias_output(1, Tensor::string_scalar(ensemble.serialize()));
  }
};

class StatesKernel : public Kernel {
 public:
  void compute(KernelContext& c) override {
    const TreeEnsemble& ensemble = trees_of(c).ensemble();
    *c.output(0).data<int64_t>() = ensemble.stamp;
    *c.output(1).data<int32_t>() = ensemble.num_trees();
    *c.output(2).data<int32_t>() = ensemble.num_finalized_trees();
    *c.output(3).data<int32_t>() = static_cast<int32_t>(ensemble.num_layers_attempted);
    auto* range = c.output(4).data<int32_t>();
    range[0] = ensemble.last_layer_node_start;
    range[1] = ensemble.last_layer_node_end;
  }
};

// --- Saveable

class EnsembleSaveable : public ResourceSaveable {
 public:
  EnsembleSaveable(const Operation& op, Operation* create)
      : ResourceSaveable(op, op.name() + ":0_"), create_(create) {}
  bool is_trainable() const override { return true; }
  Operation* initializer() const override { return create_; }
  bool is_initialized(const ResourceManager& resources) const override {
    const auto* trees = resources.find<EnsembleResource>(op()->name());
    return trees && trees->is_initialized();
  }
  Assign read(const TensorSource& source, const ResourceManager& resources) override {
    for (const char* key : {kStamp, kSerialized}) {
      if (!source.find(name() + key)) throw_missing(source, name() + key);
    }
    return ResourceSaveable::read(source, resources);
  }
  SaveableOps lowered() const override {
    SaveableOps ops;
    ops.specs = {{name() + kStamp, DType::kInt64, ""}, {name() + kSerialized, DType::kString, ""}};
    const std::string handle = op()->name();
    ops.values = [handle](Graph& g) {
      Operation* trees =
          g.op("BoostedTreesSerializeEnsemble", {g.operation(handle)->output(0)}).build();
      return std::vector<Output>{trees->output(0), trees->output(1)};
    };
    // TensorFlow restores only resources that exist, so the restore op depends on `create`.
    const std::string create = create_->name();
    ops.restore = [handle, create](Graph& g, const std::vector<Output>& values) -> Operation* {
      return g
          .op("BoostedTreesDeserializeEnsemble",
              {g.operation(handle)->output(0), values[0], values[1]})
          .after({g.operation(create)});
    };
    return ops;
  }

 protected:
  std::string describe() const override { return str_cat("The trees '", op()->name(), "'"); }

 private:
  Operation* create_;
};

}  // namespace

EnsembleHandle add_ensemble(Graph& graph, const std::string& name) {
  EnsembleHandle added;
  added.handle = graph.op("BoostedTreesEnsembleResourceHandleOp")
                     .attr("shared_name", name + "/")
                     .named(name + "/");
  const NameScope scope(graph, name + "/");
  added.create = graph.op("BoostedTreesCreateEnsemble",
                          {added.handle, graph.constant(Tensor::scalar<int64_t>(0), "stamp_token"),
                           graph.constant(Tensor::string_scalar(""), "tree_ensemble_serialized")});
  graph.add_to_collection(
      collection_keys::kSaveableObjects,
      SaveablePtr(std::make_shared<EnsembleSaveable>(*added.handle.op, added.create)));
  return added;
}

RUNHOOKS_REGISTER_OP("BoostedTreesEnsembleResourceHandleOp")
    .output("resource: resource")
    .attr("container: string = ''")
    .attr("shared_name: string = ''")
    .shape(scalar_shape)
    .kernel(resource_handle_kernel)
    .owns_resource(EnsembleResource::make)
    .stateful()
    .not_differentiable()
    .endpoint("raw_ops.BoostedTreesEnsembleResourceHandleOp")
    .summary("A tree ensemble.");

#define RUNHOOKS_REGISTER_ENSEMBLE_SETTER(type, Setter, text) \
  RUNHOOKS_REGISTER_OP(type)                                  \
      .input("tree_ensemble_handle: resource, tree ensemble") \
      .input("stamp_token: int64, scalar")                    \
      .input("tree_ensemble_serialized: string, scalar")      \
      .shape(no_outputs)                                      \
      .kernel(kernel_of<Setter>())                            \
      .mutates(0)                                             \
      .stateful()                                             \
      .not_differentiable()                                   \
      .endpoint("raw_ops." type)                              \
      .summary(text)
RUNHOOKS_REGISTER_ENSEMBLE_SETTER("BoostedTreesCreateEnsemble",
                                  CreateKernel,
                                  "Creates a tree ensemble from its serialized form.");
RUNHOOKS_REGISTER_ENSEMBLE_SETTER("BoostedTreesDeserializeEnsemble",
                                  DeserializeKernel,
                                  "Replaces a tree ensemble by a serialized one.");
#undef RUNHOOKS_REGISTER_ENSEMBLE_SETTER

RUNHOOKS_REGISTER_OP("IsBoostedTreesEnsembleInitialized")
    .input("tree_ensemble_handle: resource, tree ensemble")
    .output("is_initialized: bool")
    .shape(scalar_shape)
    .kernel(kernel_of<IsInitializedKernel>())
    .stateful()
    .not_differentiable()
    .endpoint("raw_ops.IsBoostedTreesEnsembleInitialized")
    .summary("Whether the trees have been created.");

RUNHOOKS_REGISTER_OP("BoostedTreesSerializeEnsemble")
    .input("tree_ensemble_handle: resource, tree ensemble")
    .output("stamp_token: int64")
    .output("tree_ensemble_serialized: string")
    .shape(scalar_shape)
    .kernel(kernel_of<SerializeKernel>())
    .allocates_outputs()
    .stateful()
    .not_differentiable()
    .endpoint("raw_ops.BoostedTreesSerializeEnsemble")
    .summary("A tree ensemble as TensorFlow's message TreeEnsemble, and its stamp.");

RUNHOOKS_REGISTER_OP("BoostedTreesGetEnsembleStates")
    .input("tree_ensemble_handle: resource, tree ensemble")
    .output("stamp_token: int64")
    .output("num_trees: int32")
    .output("num_finalized_trees: int32")
    .output("num_attempted_layers: int32")
    .output("last_layer_nodes_range: int32")
    .shape([](ShapeContext& c) {
      for (int i = 0; i < 4; ++i) c.set_output(i, Shape());
      c.set_output(4, Shape{2});
    })
    .kernel(kernel_of<StatesKernel>())
    .stateful()
    .not_differentiable()
    .endpoint("raw_ops.BoostedTreesGetEnsembleStates")
    .summary("Numbers of trees and layers, and the range of nodes of the last layer.");

}  // namespace runhooks
