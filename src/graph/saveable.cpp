#include "graph/saveable.h"

#include <algorithm>

#include "base/near_names.h"

namespace runhooks {

namespace {

// Held as plain pointers, which no exported graph shows.
constexpr const char* kOptional = "optional_in_checkpoints";

bool is_optional(const VariablePtr& variable) {
  for (const CollectionItem& item : variable->graph().collection(kOptional)) {
    const auto* held = std::get_if<std::shared_ptr<void>>(&item);
    if (held && held->get() == variable.get()) return true;
  }
  return false;
}

class VariableSaveable : public Saveable {
 public:
  explicit VariableSaveable(VariablePtr variable) : variable_(std::move(variable)) {}
  const std::string& name() const override { return variable_->save_name(); }
  std::vector<SaveSpec> save(ResourceManager& resources) override {
    VariableState* state = find_variable_state(resources, *variable_->handle.op);
    if (!state || !state->is_initialized()) {
      fail(Code::kFailedPrecondition, "Attempting to use uninitialized value ",
           variable_->op_name(), ".");
    }
    return {{name(), state->value(), variable_->slice}};
  }
  Assign read(const TensorSource& source) override {
    const Tensor value = !source.find(name()) && is_optional(variable_)
                             ? Tensor::zeros(variable_->dtype, variable_->shape)
                             : read_variable(source, *variable_, name());
    return [variable = variable_, value](ResourceManager& resources) {
      auto& state = resources.get_or_create<VariableState>(variable->op_name(), [&variable] {
        return std::make_unique<VariableState>(variable->op_name(), variable->dtype);
      });
      state.assign(value);
    };
  }

 private:
  VariablePtr variable_;
};

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

int64_t state_integer(const NamedTensors& state, const std::string& name) {
  const auto found = state.find(name);
  const bool is_integer = found != state.end() && found->second.dtype() == DType::kInt64 &&
                          found->second.num_elements() == 1;
  if (!is_integer) fail(Code::kDataLoss, "The state has no integer '", name, "'.");
  return *found->second.data<int64_t>();
}

std::string path_part(const std::string& name) {
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

void may_be_missing(const VariablePtr& variable) {
  if (is_optional(variable)) return;
  variable->graph().add_to_collection(kOptional, std::static_pointer_cast<void>(variable));
}

SaveablePtr variable_saveable(const VariablePtr& variable) {
  return std::make_shared<VariableSaveable>(variable);
}

Tensor read_variable(const TensorSource& source,
                     const Variable& variable,
                     const std::string& name) {
  const auto info = source.find(name);
  if (!info) {
    std::vector<std::string> hints = near_hint(name, source.names_with(""));
    hints.push_back("The model has a variable that was not there when the checkpoint was written. Use another "
                    "model_dir, or the model that the checkpoint is of.");
    throw Error(Code::kNotFound,
                str_cat("Key ", name, " not found in checkpoint ", source.path(), "."), hints);
  }
  const Shape& wanted = variable.slice ? variable.slice->full_shape : variable.shape;
  if (info->shape != wanted || info->dtype != variable.dtype) {
    throw Error(Code::kInvalidArgument,
                str_cat("Variable '", name, "' is ", dtype_name(variable.dtype), " of shape ",
                        wanted, " in the model, but ", dtype_name(info->dtype), " of shape ",
                        info->shape, " in checkpoint ", source.path(), "."),
                {"Use another model_dir, or the model that the checkpoint is of."});
  }
  return variable.slice ? source.read_part(name, *variable.slice) : source.read(name);
}

std::vector<SaveSpec> StateSaveable::save(ResourceManager& resources) {
  std::vector<SaveSpec> specs;
  for (const auto& item : save_state(resources)) {
    specs.push_back({prefix_ + item.first, item.second, nullptr});
  }
  return specs;
}

Saveable::Assign StateSaveable::read(const TensorSource& source) {
  NamedTensors state;
  for (const std::string& full : source.names_with(prefix_)) {
    state[full.substr(prefix_.size())] = source.read(full);
  }
  if (state.empty()) return {};
  return read_state(state, source.path());
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

}  // namespace runhooks
