// GraphImporter: converts the nodes of a GraphDef to operations of a graph.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "graph/func_graph.h"
#include "io/graphs/graph_def.h"

namespace runhooks {

// The side effects that imported operations may have. Each op declares its side effects in OpDef.
enum class ImportRights {
  kNone,       // no file access, no R functions
  kReadFiles,  // read files within the session's FileAccessPolicy
  kAll,        // trust the graph
};

struct ImportOptions {
  // Prefix of node names: "" or a scope that ends in "/".
  std::string prefix;
  // Replaces tensors of the GraphDef, named "name:0" or "^name", by tensors of the graph.
  std::map<std::string, Output> input_map;
  ImportRights rights = ImportRights::kNone;
};

// Imports the requested nodes and their dependencies. Before it changes the graph, it throws
// kUnimplemented for unsupported ops and kPermissionDenied for forbidden side effects.
class GraphImporter {
 public:
  // Throws if a node has no name or two nodes have the same name.
  GraphImporter(Graph& graph, GraphDef def, ImportOptions options);

  const GraphDef& def() const { return def_; }
  // Imports all nodes, except forbidden nodes that only the nodes `savers` need, and nodes that
  // depend on these. This package saves checkpoints with its own Saver.
  void import_all(const std::vector<std::string>& savers = {});
  // Imports these nodes and their dependencies.
  void import(const std::vector<std::string>& names);
  // Returns the operation imported for a node; NULL if the node was not imported.
  Operation* find(const std::string& name) const;
  // Returns the tensor imported for the name "name:0".
  Output tensor(const std::string& name) const;
  // Returns the names in the input map that no node uses.
  std::vector<std::string> unused_inputs() const;

 private:
  const NodeDef& node(const std::string& name, const std::string& consumer) const;
  std::vector<const NodeDef*> topological_order(const std::vector<std::string>& names) const;
  void check_supported(const std::vector<const NodeDef*>& nodes) const;
  void check_rights(const std::vector<const NodeDef*>& nodes) const;
  std::set<std::string> excluded_nodes(const std::vector<std::string>& savers) const;
  struct Scope;
  void add_nodes(Scope& scope, const std::vector<const NodeDef*>& nodes);
  void add(Scope& scope, const NodeDef& node);
  void add_merge(Scope& scope, const NodeDef& node);
  std::shared_ptr<FuncGraph> branch_function(Scope& scope, const std::string& result);
  void check_runs_once(const NodeDef& node);
  void cast_inputs(Graph& graph,
                   const NodeDef& node,
                   const OpDef& def,
                   std::vector<Output>& inputs);
  Scope& scope_of(Scope& scope, const std::string& input);
  std::vector<Operation*> control_inputs(Scope& scope, const NodeDef& node);
  Output input(Scope& scope, const NodeDef& node, const std::string& name);

  Graph& graph_;
  GraphDef def_;
  ImportOptions options_;
  // The keys refer to the node names in def_.
  using OperationsByNode = std::unordered_map<std::string_view, Operation*>;
  std::unordered_map<std::string_view, const NodeDef*> nodes_;
  OperationsByNode imported_ops_;
  std::set<std::string> used_inputs_;
  std::set<const NodeDef*> stateful_nodes_in_functions_;
  std::set<const NodeDef*> conditional_nodes_;  // all nodes in branches, and Switches
  size_t nodes_in_functions_ = 0, num_outputs_ = 0;
};

// Returns the subgraph of a GraphDef that consists of these nodes and their dependencies.
GraphDef extract_sub_graph(const GraphDef& def, const std::vector<std::string>& names);

}  // namespace runhooks
