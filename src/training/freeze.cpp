#include "training/freeze.h"

#include <algorithm>
#include <map>

#include "graph/saveable.h"
#include "import/import_graph.h"

namespace runhooks {

namespace {

bool contains(const std::vector<std::string>& items, const std::string& item) {
  return std::find(items.begin(), items.end(), item) != items.end();
}

bool is_variable_op(const std::string& type) {
  const OpDef* def = find_op_or_null(type);
  return def && def->holds_variable;
}

NodeDef constant_node(const std::string& name, const Tensor& value) {
  NodeDef node;
  node.name = name;
  node.op = "Const";
  node.attrs.set("dtype", value.dtype());
  node.attrs.set("value", value);
  return node;
}

class Freezer {
 public:
  Freezer(Session& session, const GraphDef& def, const FreezeOptions& options) {
    std::map<std::string, SaveablePtr> saveables;
    for (const SaveablePtr& saveable : model_saveables_in(session.graph())) {
      if (saveable->op()) saveables[saveable->op()->name()] = saveable;
    }
    std::vector<const NodeDef*> unsaved_variables;
    for (const NodeDef& node : def.nodes) {
      const bool is_frozen = !contains(options.blacklist, node.name) &&
                             (options.whitelist.empty() || contains(options.whitelist, node.name));
      if (!is_frozen) continue;
      const auto saveable = saveables.find(node.name);
      if (saveable != saveables.end()) {
        values_[node.name] = value_of(session, *saveable->second, node);
      } else if (is_variable_op(node.op)) {
        unsaved_variables.push_back(&node);
      }
    }
    for (const NodeDef* node : unsaved_variables) values_[node->name] = value_of(session, *node);
  }
  void add(const NodeDef& node, GraphDef& out) {
    const auto value = values_.find(node.name);
    if (value != values_.end()) {
      out.nodes.push_back(constant_node(node.name, value->second));
      return;
    }
    const bool reads_variable = !node.inputs.empty() && values_.count(node.inputs[0]) > 0;
    if (!reads_variable) {
      out.nodes.push_back(without_colocation(node));
    } else if (node.op == "ReadVariableOp") {
      out.nodes.push_back(replace_op(node, "Identity", {{"T", dtype_of_value(node)}}));
    } else if (node.op == "VariableShape") {
      const AttrValue* type = node.attrs.find("out_type");
      out.nodes.push_back(
          replace_op(node, "Shape",
                     {{"T", dtype_of_value(node)}, {"out_type", type ? *type : DType::kInt32}}));
    } else if (node.op == "ResourceGather") {
      out.nodes.push_back(constant_node(node.name + "/axis", Tensor::scalar<int32_t>(0)));
      const AttrValue* indices = node.attrs.find("Tindices");
      NodeDef gather = replace_op(node, "GatherV2",
                                  {{"Tparams", dtype_of_value(node)},
                                   {"Tindices", indices ? *indices : DType::kInt64},
                                   {"Taxis", DType::kInt32}});
      gather.inputs.insert(gather.inputs.begin() + 2, node.name + "/axis");
      out.nodes.push_back(gather);
    } else if (uses_handle(node)) {
      fail(Code::kUnimplemented, "Cannot freeze variable '", node.inputs[0], "': op type '",
           node.op, "' (node '", node.name, "') needs the variable itself, not its value.");
    } else {
      out.nodes.push_back(without_colocation(node));
    }
  }

 private:
  static Tensor value_of(Session& session, Saveable& saveable, const NodeDef& node) {
    const std::vector<SaveSpec> specs = saveable.save(session.resources());
    if (is_variable_op(node.op) && specs.size() == 1) return specs[0].tensor.copy();
    fail(Code::kUnimplemented, "Cannot freeze node '", node.name,
         "': a constant cannot hold the state of op type '", node.op, "'.");
  }
  // Returns the value of a variable by its node, for variables that checkpoints do not contain.
  static Tensor value_of(Session& session, const NodeDef& node) {
    const Operation* op = session.graph().find_operation(node.name);
    VariableState* state = op ? find_variable_state(session.resources(), *op) : nullptr;
    if (!state || !state->is_initialized()) {
      fail(Code::kFailedPrecondition, "Attempting to use uninitialized value ", node.name, ".");
    }
    return state->value().copy();
  }
  DType dtype_of_value(const NodeDef& node) const { return values_.at(node.inputs[0]).dtype(); }
  // True if the op takes a resource handle or a reference to a variable.
  static bool uses_handle(const NodeDef& node) {
    const OpDef* def = find_op_or_null(node.op);
    if (!def || def->inputs.empty()) return false;
    return def->inputs[0].takes_handles() || def->inputs[0].is_ref;
  }
  // Removes the colocation attribute `_class`, which may name a variable that is now a constant.
  static NodeDef without_colocation(const NodeDef& node) {
    NodeDef copy = node;
    AttrMap attrs;
    for (const auto& attr : node.attrs.items()) {
      if (attr.first != "_class") attrs.set(attr.first, attr.second);
    }
    copy.attrs = attrs;
    return copy;
  }
  static NodeDef replace_op(const NodeDef& node, const char* type, const AttrMap& attrs) {
    NodeDef new_node;
    new_node.name = node.name;
    new_node.op = type;
    new_node.inputs = node.inputs;
    new_node.device = node.device;
    new_node.attrs = attrs;
    return new_node;
  }

  std::map<std::string, Tensor> values_;
};

}  // namespace

GraphDef freeze(Session& session,
                const GraphDef& graph_def,
                const std::vector<std::string>& outputs,
                const FreezeOptions& options) {
  const GraphDef sub_graph = extract_sub_graph(graph_def, outputs);
  Freezer freezer(session, sub_graph, options);
  GraphDef frozen;
  frozen.producer = sub_graph.producer;
  frozen.min_consumer = sub_graph.min_consumer;
  frozen.library = sub_graph.library;
  for (const NodeDef& node : sub_graph.nodes) freezer.add(node, frozen);
  // Drops nodes that only the variables needed, such as initial values.
  return extract_sub_graph(frozen, outputs);
}

}  // namespace runhooks
