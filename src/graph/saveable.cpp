#include "graph/saveable.h"

#include <algorithm>

#include "base/suggestions.h"

namespace runhooks {

namespace {

// The collection of Saveables that may be missing in a checkpoint. Exported graphs omit it.
constexpr const char* kOptional = "optional_in_checkpoints";

bool is_optional(const VariablePtr& variable) {
  const std::vector<CollectionItem> all = variable->graph().collection(kOptional);
  return std::any_of(all.begin(), all.end(), [&variable](const CollectionItem& item) {
    const auto* saveable = std::get_if<SaveablePtr>(&item);
    return saveable && (*saveable)->variable() == variable;
  });
}

VariableState& state_of(ResourceManager& resources, const Variable& variable) {
  return resources.get_or_create<VariableState>(variable.op_name(), [&variable] {
    return std::make_unique<VariableState>(variable.op_name(), variable.dtype);
  });
}

class VariableSaveable : public Saveable {
 public:
  VariableSaveable(VariablePtr variable, std::string name, bool reshape)
      : variable_(std::move(variable)), name_(std::move(name)), reshape_(reshape) {}
  const std::string& name() const override { return name_; }
  const std::string& display_name() const override { return name_; }
  std::vector<SaveSpec> save(ResourceManager& resources) override {
    VariableState* state = find_variable_state(resources, *op());
    if (!state || !state->is_initialized()) {
      fail(Code::kFailedPrecondition, "Attempting to use uninitialized value ",
           variable_->op_name(), ".");
    }
    return {{name_, state->value(), variable_->slice}};
  }
  Assign read(const TensorSource& source, const ResourceManager&) override {
    return [variable = variable_, value = value_in(source)](ResourceManager& resources) mutable {
      state_of(resources, *variable).take(std::move(value));
    };
  }
  bool is_in(const TensorSource& source) const override { return source.find(name_).has_value(); }
  bool is_model_state() const override { return true; }
  bool is_trainable() const override { return variable_->trainable; }
  const Operation* op() const override { return variable_->handle.op; }
  Operation* initializer() const override { return variable_->initializer; }
  bool is_initialized(const ResourceManager& resources) const override {
    const VariableState* state = find_variable_state(resources, *op());
    return state && state->is_initialized();
  }
  VariablePtr variable() const override { return variable_; }

  SaveableOps lowered() const override {
    SaveableOps ops;
    ops.specs = {{name_, variable_->dtype, slice_spec(*variable_)}};
    ops.values = [this](Graph& graph) -> std::vector<Output> {
      if (!variable_->is_resource) return {handle_in(graph)};
      return {graph.op("ReadVariableOp", {handle_in(graph)})
                  .attr("dtype", variable_->dtype)
                  .named("Read/ReadVariableOp")};
    };
    ops.restore = [this](Graph& graph, const std::vector<Output>& values) -> Operation* {
      const Output handle = handle_in(graph);
      if (!variable_->is_resource) return graph.op("Assign", {handle, values[0]});
      return graph.op("AssignVariableOp", {handle, graph.op("Identity", {values[0]})});
    };
    return ops;
  }

 private:
  Output handle_in(const Graph& graph) const {
    return graph.operation(variable_->op_name())->output(variable_->handle.index);
  }
  Tensor value_in(const TensorSource& source) const;

  VariablePtr variable_;
  std::string name_;
  bool reshape_;
};

// Reads the variable's value from a checkpoint. Throws if the value has another shape or type, or
// if it is missing and not optional.
Tensor VariableSaveable::value_in(const TensorSource& source) const {
  const Variable& variable = *variable_;
  const auto info = source.find(name_);
  if (!info) {
    if (is_optional(variable_)) return Tensor::zeros(variable.dtype, variable.shape);
    throw_missing(source, name_);
  }
  const Shape& expected_shape = variable.slice ? variable.slice->full_shape : variable.shape;
  const bool is_reshaped = reshape_ && !variable.slice && expected_shape.is_fully_defined() &&
                           info->dtype == variable.dtype && info->shape != expected_shape &&
                           info->shape.num_elements() == expected_shape.num_elements();
  if (is_reshaped) return source.read(name_).reshaped(expected_shape);
  if (info->shape != expected_shape || info->dtype != variable.dtype) {
    throw Error(Code::kInvalidArgument,
                str_cat("Variable '", name_, "' is ", dtype_name(variable.dtype), " of shape ",
                        expected_shape, " in the model, but ", dtype_name(info->dtype),
                        " of shape ", info->shape, " in checkpoint ", source.path(), "."),
                {"Use another model_dir, or the model that wrote the checkpoint."});
  }
  return variable.slice ? source.read_part(name_, *variable.slice) : source.read(name_);
}

template <typename Predicate>
std::vector<SaveablePtr> filter_saveables(std::vector<SaveablePtr> all, Predicate predicate) {
  all.erase(
      std::remove_if(all.begin(), all.end(),
                     [&predicate](const SaveablePtr& saveable) { return !predicate(*saveable); }),
      all.end());
  return all;
}

const Tensor& required_scalar(const NamedTensors& state,
                              const std::string& name,
                              DType dtype,
                              const char* kind) {
  const Tensor* scalar = state_scalar(state, name, dtype);
  if (!scalar) fail(Code::kDataLoss, "The state has no ", kind, " '", name, "'.");
  return *scalar;
}

}  // namespace

NamedTensors subtree(const NamedTensors& tree, const std::string& prefix) {
  NamedTensors part;
  for (auto item = tree.lower_bound(prefix); item != tree.end(); ++item) {
    if (item->first.compare(0, prefix.size(), prefix) != 0) break;
    part[item->first.substr(prefix.size())] = item->second;
  }
  return part;
}

void add_subtree(NamedTensors& tree, const std::string& prefix, const NamedTensors& part) {
  for (const auto& item : part) tree[prefix + item.first] = item.second;
}

const Tensor* state_scalar(const NamedTensors& state, const std::string& name, DType dtype) {
  const auto found = state.find(name);
  const bool is_valid =
      found != state.end() && found->second.dtype() == dtype && found->second.num_elements() == 1;
  return is_valid ? &found->second : nullptr;
}

int64_t state_integer(const NamedTensors& state, const std::string& name) {
  return *required_scalar(state, name, DType::kInt64, "integer").data<int64_t>();
}

bool state_flag(const NamedTensors& state, const std::string& name) {
  return *required_scalar(state, name, DType::kBool, "flag").data<bool>();
}

double state_number(const NamedTensors& state, const std::string& name) {
  return *required_scalar(state, name, DType::kFloat64, "number").data<double>();
}

std::string state_string(const NamedTensors& state, const std::string& name) {
  return required_scalar(state, name, DType::kString, "string").string_at(0);
}

std::string escape_path_component(const std::string& name) {
  std::string part;
  for (const char c : name) {
    if (c == '/') {
      part += "%2F";
    } else if (c == '%') {
      part += "%25";
    } else {
      part += c;
    }
  }
  return part;
}

StatefulResource* stateful_resource(ResourceManager& resources, const Operation& op) {
  const ResourceFactory factory = op.def().resource_factory;
  if (!factory) return nullptr;
  return &resources.get_or_create<StatefulResource>(op.name(), [&] { return factory(op); });
}

void assign_variable(ResourceManager& resources, const Variable& variable, const Tensor& value) {
  state_of(resources, variable).assign(value);
}

std::string slice_spec(const Variable& variable) {
  if (!variable.slice) return "";
  const SaveSliceInfo& slice = *variable.slice;
  std::string dims, extents;
  for (int i = 0; i < slice.shape.rank(); ++i) {
    dims += str_cat(slice.full_shape.dim(i), " ");
    extents +=
        str_cat(i > 0 ? ":" : "", slice.offset[static_cast<size_t>(i)], ",", slice.shape.dim(i));
  }
  return dims + extents;
}

void mark_optional_in_checkpoint(const VariablePtr& variable) {
  if (is_optional(variable)) return;
  variable->graph().add_to_collection(kOptional, variable_saveable(variable));
}

SaveablePtr variable_saveable(const VariablePtr& variable, const std::string& name, bool reshape) {
  return std::make_shared<VariableSaveable>(variable, name.empty() ? variable->save_name() : name,
                                            reshape);
}

void throw_missing(const TensorSource& source, const std::string& name) {
  std::vector<std::string> hints = did_you_mean(name, source.names_with(""));
  hints.push_back(
      "The model has a variable that the checkpoint lacks. Use another model_dir, or the model "
      "that wrote the checkpoint.");
  throw Error(Code::kNotFound,
              str_cat("Key ", name, " not found in checkpoint ", source.path(), "."), hints);
}

std::vector<SaveSpec> StateSaveable::save(ResourceManager& resources) {
  std::vector<SaveSpec> specs;
  for (const auto& item : save_state(resources)) {
    specs.push_back({prefix_ + item.first, item.second, nullptr});
  }
  return specs;
}

Saveable::Assign StateSaveable::read(const TensorSource& source, const ResourceManager& resources) {
  NamedTensors state;
  for (const std::string& full : source.names_with(prefix_)) {
    state[full.substr(prefix_.size())] = source.read(full);
  }
  if (state.empty()) return {};
  return read_state(state, source.path(), resources);
}

NamedTensors ResourceSaveable::save_state(ResourceManager& resources) {
  return stateful_resource(resources, op_)->save_state();
}

Saveable::Assign ResourceSaveable::read_state(const NamedTensors& state,
                                              const std::string& where,
                                              const ResourceManager&) {
  try {
    return read_resource_state(op_, state);
  } catch (const Error& error) {
    fail(error.code(), describe(), " in checkpoint ", where,
         " cannot be restored: ", error.message());
  }
}

std::string ResourceSaveable::describe() const {
  return str_cat("The state of '", op_.name(), "' (", op_.type(), ")");
}

Saveable::Assign read_resource_state(const Operation& op, const NamedTensors& state) {
  auto validated =
      std::make_shared<std::unique_ptr<StatefulResource>>(op.def().resource_factory(op));
  (*validated)->restore_state(state);
  return [&op, state, validated](ResourceManager& resources) {
    resources
        .get_or_create<StatefulResource>(op.name(), [&validated] { return std::move(*validated); })
        .restore_state(state);
  };
}

std::vector<SaveablePtr> saveables_in(const Graph& graph) {
  std::vector<SaveablePtr> all;
  for (const VariablePtr& variable : variables_in(graph, collection_keys::kGlobalVariables)) {
    all.push_back(variable_saveable(variable));
  }
  std::sort(all.begin(), all.end(),
            [](const SaveablePtr& a, const SaveablePtr& b) { return a->name() < b->name(); });
  for (const CollectionItem& item : graph.collection(collection_keys::kSaveableObjects)) {
    if (const auto* object = std::get_if<SaveablePtr>(&item)) all.push_back(*object);
  }
  return all;
}

std::vector<SaveablePtr> filter_model_state(std::vector<SaveablePtr> saveables) {
  return filter_saveables(std::move(saveables),
                          [](const Saveable& saveable) { return saveable.is_model_state(); });
}

std::vector<SaveablePtr> model_saveables_in(const Graph& graph) {
  return filter_model_state(saveables_in(graph));
}

std::vector<SaveablePtr> exported_saveables_in(const Graph& graph) {
  std::vector<SaveablePtr> all =
      filter_saveables(saveables_in(graph),
                       [](const Saveable& saveable) { return !saveable.lowered().specs.empty(); });
  const auto op_name = [](const SaveablePtr& s) -> const std::string& {
    return s->op() ? s->op()->name() : s->name();
  };
  std::stable_sort(all.begin(), all.end(), [&op_name](const SaveablePtr& a, const SaveablePtr& b) {
    return op_name(a) < op_name(b);
  });
  return all;
}

std::vector<SaveablePtr> saveables_in_source(std::vector<SaveablePtr> saveables,
                                         const TensorSource& source) {
  return filter_saveables(std::move(saveables),
                          [&source](const Saveable& s) { return s.is_in(source); });
}

void restore_saveables(const std::vector<SaveablePtr>& saveables,
                       const TensorSource& source,
                       ResourceManager& resources) {
  std::vector<Saveable::Assign> assigns;
  for (const SaveablePtr& saveable : saveables) {
    assigns.push_back(saveable->read(source, resources));
  }
  for (const Saveable::Assign& assign : assigns) {
    if (assign) assign(resources);
  }
}

}  // namespace runhooks
