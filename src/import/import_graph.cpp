#include "import/import_graph.h"

#include <algorithm>

#include "base/complexity_counter.h"
#include "base/interrupt.h"
#include "base/suggestions.h"
#include "graph/conditional.h"
#include "import/branches.h"

namespace runhooks {

namespace {

// A nested conditional is copied into each result that needs it. This bounds the copies that a
// malicious file can cause.
constexpr size_t kMaxFunctionNodes = 1000000;

// Outputs allocate memory, and a file can request any number (e.g. num_split of Split).
constexpr size_t kMaxOutputsOfNode = 1000000;

// Whether an attribute that our op lacks may be ignored, because its value is zero, FALSE or empty.
bool is_empty_value(const AttrValue& value) {
  return std::visit(
      [](const auto& x) {
        using X = std::decay_t<decltype(x)>;
        if constexpr (std::is_same_v<X, std::monostate>) {
          return true;
        } else if constexpr (std::is_same_v<X, int64_t> || std::is_same_v<X, float>) {
          return x == 0;
        } else if constexpr (std::is_same_v<X, bool>) {
          return !x;
        } else if constexpr (std::is_same_v<X, DType> || std::is_same_v<X, Shape> ||
                             std::is_same_v<X, Tensor> || std::is_same_v<X, FunctionPtr>) {
          return false;
        } else {
          return x.empty();
        }
      },
      value);
}

// Whether an attribute of a newer TensorFlow version does not affect the result: debug names,
// sparse gradients, shape checks, and types that follow from the inputs.
bool has_no_effect(const std::string& name, const AttrValue& value) {
  if (name == "debug_name" || name == "sparse_gradient") return true;
  const bool* flag = std::get_if<bool>(&value);
  if (name == "incompatible_shape_error") return flag && *flag;
  return std::holds_alternative<DType>(value) && name[0] == 'T';
}

std::string unsupported_part(const NodeDef& node) {
  if (is_switch(node) || is_merge(node)) return "";  // part of a conditional, which becomes an If
  const OpDef* def = find_op_or_null(node.op);
  if (!def) return str_cat("Op type '", node.op, "' (node '", node.name, "')");
  for (const auto& attr : node.attrs.items()) {
    const bool is_supported = attr.first[0] == '_' || def->find_attr(attr.first) ||
                              is_empty_value(attr.second) || has_no_effect(attr.first, attr.second);
    if (!is_supported) {
      return str_cat("Attribute '", attr.first, "' of op type '", node.op, "' (node '", node.name,
                     "')");
    }
  }
  for (const auto& attr : node.raw_attrs) {
    if (!attr.first.empty() && attr.first[0] == '_') continue;
    return str_cat("The value of attribute '", attr.first, "' of op type '", node.op, "' (node '",
                   node.name, "')");
  }
  return "";
}

// Returns the side effect of a node that `rights` forbid, for messages; "" if the node is allowed.
std::string forbidden_effect(const NodeDef& node, ImportRights rights) {
  const OpDef* def = find_op_or_null(node.op);
  if (!def || rights == ImportRights::kAll) return "";
  if (def->writes_files) return "writes files";
  if (def->is_host_function) return "calls a function of R";
  return def->reads_files && rights == ImportRights::kNone ? "reads files" : "";
}

}  // namespace

GraphImporter::GraphImporter(Graph& graph, GraphDef def, ImportOptions options)
    : graph_(graph), def_(std::move(def)), options_(std::move(options)) {
  for (const NodeDef& node : def_.nodes) {
    check_interrupt();
    if (node.name.empty()) {
      fail(Code::kDataLoss, "A node of the GraphDef has no name (op '", node.op, "').");
    }
    if (!nodes_.emplace(node.name, &node).second) {
      fail(Code::kDataLoss, "The GraphDef has two nodes called '", node.name, "'.");
    }
  }
}

const NodeDef& GraphImporter::node(const std::string& name, const std::string& consumer) const {
  const auto found = nodes_.find(name);
  if (found != nodes_.end()) return *found->second;
  if (!consumer.empty()) {
    invalid_argument("Node '", consumer, "' of the GraphDef has the input '", name,
                     "', which does not exist.");
  }
  std::vector<std::string> names;
  for (const NodeDef& one : def_.nodes) names.push_back(one.name);
  throw Error(Code::kNotFound, str_cat("The GraphDef has no node '", name, "'."),
              did_you_mean(name, names));
}

// Searches depth-first without recursion, because a file determines the depth.
std::vector<const NodeDef*> GraphImporter::topological_order(
    const std::vector<std::string>& names) const {
  enum class State { kNone, kOpen, kDone };
  std::vector<State> states(def_.nodes.size(), State::kNone);
  std::vector<const NodeDef*> order;
  std::vector<std::pair<const NodeDef*, size_t>> path;
  const auto enter = [&](const NodeDef& next) {
    State& state = states[static_cast<size_t>(&next - def_.nodes.data())];
    if (state == State::kDone || imported_ops_.count(next.name)) return;
    if (state == State::kOpen) {
      fail(Code::kUnimplemented, "The GraphDef has a loop through node '", next.name, "' (",
           next.op, "); loops are not supported.");
    }
    state = State::kOpen;
    path.emplace_back(&next, 0);
  };
  for (const std::string& name : names) {
    enter(node(name, ""));
    while (!path.empty()) {
      check_interrupt();
      ++pass_work_count();
      const NodeDef& current = *path.back().first;
      if (path.back().second == current.inputs.size()) {
        states[static_cast<size_t>(&current - def_.nodes.data())] = State::kDone;
        order.push_back(&current);
        path.pop_back();
        continue;
      }
      const std::string& input = current.inputs[path.back().second++];
      if (!is_control_input(input) && options_.input_map.count(with_output_index(input))) continue;
      enter(node(node_of_input(input), current.name));
    }
  }
  return order;
}

void GraphImporter::check_supported(const std::vector<const NodeDef*>& nodes) const {
  std::vector<std::string> problems;
  std::set<std::string> types;
  for (const NodeDef* node : nodes) {
    check_interrupt();
    const std::string problem = unsupported_part(*node);
    if (!problem.empty() && types.insert(node->op).second) problems.push_back(problem);
  }
  if (problems.empty()) return;
  const std::string all = str_join(problems, "; ");
  throw Error(Code::kUnimplemented,
              str_cat("The graph uses features that runhooks does not support: ", all, "."));
}

void GraphImporter::check_rights(const std::vector<const NodeDef*>& nodes) const {
  constexpr size_t kMaxListed = 5;
  std::vector<std::string> effects;
  for (const NodeDef* node : nodes) {
    check_interrupt();
    const std::string effect = forbidden_effect(*node, options_.rights);
    if (!effect.empty())
      effects.push_back(str_cat("Node '", node->name, "' (", node->op, ") ", effect));
  }
  if (effects.empty()) return;
  const size_t more = effects.size() - std::min(effects.size(), kMaxListed);
  effects.resize(effects.size() - more);
  std::vector<std::string> hints;
  if (options_.rights == ImportRights::kNone) {
    hints.push_back("`trust = TRUE` imports the graph of somebody whom you trust.");
  }
  throw Error(Code::kPermissionDenied,
              str_cat("A graph from a file must not have side effects. ", str_join(effects, "; "),
                      more > 0 ? str_cat("; and ", more, " more") : "", "."),
              hints);
}

// A graph to which nodes are added: the target of the import, or the function of a branch.
struct GraphImporter::Scope {
  Graph& graph;
  const Branches& branches;
  int branch = 0;
  Scope* outer = nullptr;
  OperationsByNode& imported;
};

// Returns the scope that contains a tensor: `scope` or an enclosing scope.
GraphImporter::Scope& GraphImporter::scope_of(Scope& scope, const std::string& input) {
  const int branch = scope.branches.branch_of_input(input);
  Scope* found = &scope;
  while (found && found->branch != branch) found = found->outer;
  if (!found) fail(Code::kUnimplemented, "'", input, "' is inside a conditional.");
  return *found;
}

Output GraphImporter::input(Scope& scope, const NodeDef& node, const std::string& name) {
  const std::string full = with_output_index(name);
  const auto mapped = options_.input_map.find(full);
  if (mapped != options_.input_map.end()) {
    used_inputs_.insert(full);
    return mapped->second;
  }
  try {
    Scope& from = scope_of(scope, full);
    const auto def = nodes_.find(node_of_input(full));
    if (def != nodes_.end() && is_switch(*def->second)) {
      return input(*from.outer, *def->second, def->second->inputs[0]);
    }
    const auto found = from.imported.find(node_of_input(full));
    if (found == from.imported.end()) {
      fail(Code::kNotFound, "There is no tensor '", name, "' in the imported graph.");
    }
    return from.graph.tensor(found->second->name() + full.substr(full.rfind(':')));
  } catch (Error& error) {
    if (error.code() == Code::kUnimplemented) throw;
    throw Error(Code::kDataLoss,
                str_cat("Input '", name, "' of node '", node.name, "': ", error.message()));
  }
}

// Casts int64 inputs: newer TensorFlow versions use int64 for some arguments that are int32 here,
// for example the number of segments of UnsortedSegmentSum.
void GraphImporter::cast_inputs(Graph& graph,
                                const NodeDef& node,
                                const OpDef& def,
                                std::vector<Output>& inputs) {
  if (inputs.size() != def.inputs.size()) return;
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (def.inputs[i].dtype != DType::kInt32 || inputs[i].dtype() != DType::kInt64) continue;
    inputs[i] = graph.op("Cast", {inputs[i]})
                    .attr("DstT", DType::kInt32)
                    .named(options_.prefix + node.name + "/" + def.inputs[i].name);
  }
}

std::vector<Operation*> GraphImporter::control_inputs(Scope& scope, const NodeDef& node) {
  std::vector<Operation*> control_inputs;
  for (const std::string& input : node.inputs) {
    if (!is_control_input(input)) continue;
    // Skips Switch nodes, which are not imported: a branch runs only after its predicate anyway.
    const Scope& from = scope_of(scope, input);
    const auto imported = from.imported.find(node_of_input(input));
    if (imported != from.imported.end()) control_inputs.push_back(imported->second);
  }
  return control_inputs;
}

void GraphImporter::add(Scope& scope, const NodeDef& node) {
  check_interrupt();
  const OpDef& def = find_op(node.op);
  std::vector<Output> inputs;
  for (const std::string& name : node.inputs) {
    if (!is_control_input(name)) inputs.push_back(input(scope, node, name));
  }
  cast_inputs(scope.graph, node, def, inputs);
  AttrMap attrs;
  for (const auto& attr : node.attrs.items()) {
    if (attr.first[0] == '_' ? attr.first != "_output_shapes"
                             : def.find_attr(attr.first) != nullptr) {
      attrs.set(attr.first, attr.second);
    }
  }
  try {
    Operation* op = scope.graph.create_op(node.op, inputs, attrs, options_.prefix + node.name + "/",
                                          control_inputs(scope, node));
    scope.imported[node.name] = op;
    num_outputs_ += static_cast<size_t>(op->num_outputs());
    if (num_outputs_ > kMaxOutputsOfNode + def_.nodes.size()) {
      fail(Code::kResourceExhausted, "The operations of the GraphDef have more than ",
           kMaxOutputsOfNode + def_.nodes.size(), " outputs.");
    }
  } catch (const Error& error) {
    throw Error(
        error.code(),
        str_cat("Node '", node.name, "' (", node.op, ") cannot be imported: ", error.message()),
        error.hints());
  }
}

// Imports a branch as a function: the nodes between the Switches and one input of a Merge.
std::shared_ptr<FuncGraph> GraphImporter::branch_function(Scope& scope, const std::string& result) {
  const int branch = scope.branches.branch_of_input(result);
  const bool is_true = scope.branches.side(branch) == 1;
  const std::string name = node_of_input(result);
  const auto function = std::make_shared<FuncGraph>(
      scope.graph, options_.prefix + name.substr(0, name.rfind('/') + 1),
      is_true ? "true" : "false");
  OperationsByNode imported;
  Scope inner = {*function, scope.branches, branch, &scope, imported};
  const NameScope root(*function, "");
  const ControlDependencies none(*function, {}, /*clears=*/true);
  const std::vector<const NodeDef*> nodes = scope.branches.nodes_needed_by(result, branch);
  nodes_in_functions_ += nodes.size();
  if (nodes_in_functions_ > kMaxFunctionNodes) {
    fail(Code::kUnimplemented, "The conditionals of the GraphDef need more than ",
         kMaxFunctionNodes, " operations.");
  }
  for (const NodeDef* node : nodes) check_runs_once(*node);
  add_nodes(inner, nodes);
  Output value = function->capture(input(inner, *nodes_.at(name), result));
  if (FuncGraph::is_resource_handle(value)) value = function->op("Identity", {value});
  function->results.push_back(value);
  return function;
}

// Each result of a tf.cond becomes a separate If operation. Throws if two of them would contain the
// same node with side effects.
void GraphImporter::check_runs_once(const NodeDef& node) {
  const OpDef* def = find_op_or_null(node.op);
  if (!def) return;
  const bool has_effects = !def->mutates.empty() || (def->is_stateful && !def->outputs.empty() &&
                                                     !def->holds_variable && !def->reads_variable);
  if (has_effects && !stateful_nodes_in_functions_.insert(&node).second) {
    fail(Code::kUnimplemented, "Node '", node.name, "' (", node.op,
         ") is needed by two results of a conditional, where it would run twice.");
  }
}

void GraphImporter::add_merge(Scope& scope, const NodeDef& node) {
  std::vector<std::string> values;
  for (const std::string& name : node.inputs) {
    if (!is_control_input(name)) values.push_back(name);
  }
  const Branches& branches = scope.branches;
  if (branches.side(branches.branch_of_input(values[0])) == 1) std::swap(values[0], values[1]);
  const auto else_branch = branch_function(scope, values[0]);
  const auto then_branch = branch_function(scope, values[1]);
  const Output pred = input(scope, node, branches.pred(branches.branch_of_input(values[0])));
  const ControlDependencies controls_scope(scope.graph, control_inputs(scope, node));
  scope.imported[node.name] =
      add_if(scope.graph, pred, then_branch, else_branch, options_.prefix + node.name + "/");
}

void GraphImporter::add_nodes(Scope& scope, const std::vector<const NodeDef*>& nodes) {
  for (const NodeDef* node : nodes) {
    if (is_switch(*node) || scope.branches.branch_of(*node) != scope.branch) continue;
    if (is_merge(*node)) {
      add_merge(scope, *node);
    } else {
      add(scope, *node);
    }
  }
}

void GraphImporter::import(const std::vector<std::string>& names) {
  const std::vector<const NodeDef*> nodes = topological_order(names);
  check_rights(nodes);
  check_supported(nodes);
  const Branches branches(nodes);
  for (const NodeDef* node : nodes) {
    if (is_switch(*node) || branches.branch_of(*node) != 0) conditional_nodes_.insert(node);
  }
  const NameScope root(graph_, "");
  const ControlDependencies none(graph_, {}, /*clears=*/true);
  Scope scope = {graph_, branches, 0, nullptr, imported_ops_};
  add_nodes(scope, nodes);
}

// Returns the nodes that import_all() excludes: forbidden nodes that only `savers` need, and all
// nodes that depend on them.
std::set<std::string> GraphImporter::excluded_nodes(const std::vector<std::string>& savers) const {
  if (savers.empty()) return {};
  std::map<std::string, std::vector<const NodeDef*>> consumers;
  for (const NodeDef& node : def_.nodes) {
    check_interrupt();
    for (const std::string& input : node.inputs) consumers[node_of_input(input)].push_back(&node);
  }
  std::set<std::string> saver_nodes, excluded;
  std::vector<std::string> pending = savers;
  while (!pending.empty()) {
    const auto found = nodes_.find(pending.back());
    pending.pop_back();
    if (found == nodes_.end() || !saver_nodes.emplace(found->first).second) continue;
    for (const std::string& input : found->second->inputs) pending.push_back(node_of_input(input));
  }
  for (const NodeDef& node : def_.nodes) {
    check_interrupt();
    if (saver_nodes.count(node.name) == 0 || forbidden_effect(node, options_.rights).empty())
      continue;
    std::set<std::string> dependents;
    bool only_savers_need_it = true;
    pending = {node.name};
    while (only_savers_need_it && !pending.empty()) {
      const std::string name = pending.back();
      pending.pop_back();
      if (excluded.count(name) > 0 || !dependents.insert(name).second) continue;
      only_savers_need_it = saver_nodes.count(name) > 0;
      for (const NodeDef* consumer : consumers[name]) pending.push_back(consumer->name);
    }
    if (only_savers_need_it) excluded.insert(dependents.begin(), dependents.end());
  }
  return excluded;
}

void GraphImporter::import_all(const std::vector<std::string>& savers) {
  const std::set<std::string> excluded = excluded_nodes(savers);
  std::vector<std::string> names;
  for (const NodeDef& node : def_.nodes) {
    if (excluded.count(node.name) == 0) names.push_back(node.name);
  }
  import(names);
}

Operation* GraphImporter::find(const std::string& name) const {
  const auto found = imported_ops_.find(name);
  return found == imported_ops_.end() ? nullptr : found->second;
}

Output GraphImporter::tensor(const std::string& name) const {
  const std::string op_name = node_of_input(with_output_index(name));
  Operation* op = find(op_name);
  if (!op) {
    const auto def = nodes_.find(op_name);
    if (def != nodes_.end() && conditional_nodes_.count(def->second) > 0) {
      fail(Code::kUnimplemented, "Tensor '", name, "' is inside a conditional");
    }
    fail(Code::kNotFound, "There is no tensor '", name, "' in the imported graph.");
  }
  return graph_.tensor(options_.prefix + with_output_index(name));
}

std::vector<std::string> GraphImporter::unused_inputs() const {
  std::vector<std::string> unused;
  for (const auto& entry : options_.input_map) {
    if (!used_inputs_.count(entry.first)) unused.push_back(entry.first);
  }
  return unused;
}

GraphDef extract_sub_graph(const GraphDef& def, const std::vector<std::string>& names) {
  std::map<std::string, const NodeDef*> nodes;
  for (const NodeDef& node : def.nodes) nodes[node.name] = &node;
  std::set<std::string> needed;
  std::vector<std::string> pending = names;
  while (!pending.empty()) {
    const std::string name = pending.back();
    pending.pop_back();
    if (!needed.insert(name).second) continue;
    const auto found = nodes.find(name);
    if (found == nodes.end()) invalid_argument(name, " is not in graph");
    for (const std::string& input : found->second->inputs) pending.push_back(node_of_input(input));
  }
  GraphDef subgraph;
  subgraph.producer = def.producer;
  subgraph.min_consumer = def.min_consumer;
  subgraph.library = def.library;
  for (const NodeDef& node : def.nodes) {
    if (needed.count(node.name)) subgraph.nodes.push_back(node);
  }
  return subgraph;
}

}  // namespace runhooks
