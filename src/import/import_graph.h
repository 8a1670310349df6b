// What lives here: GraphImporter, which makes operations of a graph out of the nodes of a GraphDef.
// Who may use it: every layer above io.
// What it must not know: files, sessions, R.
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

// What operations of the graph may do beside computing. Each op says in its registration what it
// does.
enum class ImportRights {
  kNone,       // neither read or write files nor call functions of the embedding language
  kReadFiles,  // read them; the session that runs the graph says which (FileAccessPolicy)
  kAll,        // the graph is trusted
};

struct ImportOptions {
  // What the names of nodes are put below; "" or a scope that ends in "/".
  std::string prefix;
  // Tensors of the graph in the place of those of the GraphDef: by "name:0" or "^name" is none.
  std::map<std::string, Output> input_map;
  ImportRights rights = ImportRights::kNone;
};

// Imports what it is asked for and what that needs. What runhooks does not have is an error that
// names it, and so is what acts where the graph only may compute (kPermissionDenied); nothing is
// added then.
class GraphImporter {
 public:
  // Throws where nodes have no name, or two have one.
  GraphImporter(Graph& graph, GraphDef def, ImportOptions options);

  const GraphDef& def() const { return def_; }
  // All nodes; but for those that act, and what needs them, among those that only the operations
  // `savers` need: files are saved by this package's savers.
  void import_all(const std::vector<std::string>& savers = {});
  // These nodes and those that they need.
  void import(const std::vector<std::string>& names);
  // What a node has become; NULL where it was not imported.
  Operation* find(const std::string& name) const;
  // The same by what a fetch is called: "name:0".
  Output tensor(const std::string& name) const;
  // What the input map has that no node uses.
  std::vector<std::string> unused_inputs() const;

 private:
  const NodeDef& node(const std::string& name, const std::string& wanted_by) const;
  std::vector<const NodeDef*> in_order(const std::vector<std::string>& names) const;
  void check_supported(const std::vector<const NodeDef*>& nodes) const;
  void check_rights(const std::vector<const NodeDef*>& nodes) const;
  std::set<std::string> left_to_savers(const std::vector<std::string>& savers) const;
  struct Scope;
  void add_all(Scope& scope, const std::vector<const NodeDef*>& nodes);
  void add(Scope& scope, const NodeDef& node);
  void add_merge(Scope& scope, const NodeDef& node);
  std::shared_ptr<FuncGraph> branch_function(Scope& scope, const std::string& result);
  void check_once(const NodeDef& node);
  void narrow(Graph& graph, const NodeDef& node, const OpDef& def, std::vector<Output>& inputs);
  Scope& scope_of(Scope& scope, const std::string& input);
  std::vector<Operation*> controls(Scope& scope, const NodeDef& node);
  Output input(Scope& scope, const NodeDef& node, const std::string& name);

  Graph& graph_;
  GraphDef def_;
  ImportOptions options_;
  // by their names in def_: what is made here is let go of at once where the user stops
  using MadeNodes = std::unordered_map<std::string_view, Operation*>;
  std::unordered_map<std::string_view, const NodeDef*> nodes_;
  MadeNodes made_;
  std::set<std::string> used_inputs_;
  std::set<const NodeDef*> in_functions_, inside_;  // of conditionals
  size_t nodes_in_functions_ = 0, outputs_ = 0;
};

// The part of a GraphDef that these nodes need.
GraphDef extract_sub_graph(const GraphDef& def, const std::vector<std::string>& names);

}  // namespace runhooks
