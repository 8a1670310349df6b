// GraphDef: TensorFlow's serialized graph, created from a Graph and written as bytes or text.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "graph/graph.h"
#include "io/proto/wire.h"

namespace runhooks {

struct NodeDef {
  std::string name, op;
  std::vector<std::string> inputs;  // "a", "a:1", "^control"
  std::string device;
  AttrMap attrs;
  // Serialized attributes that AttrValue cannot represent.
  std::vector<std::pair<std::string, std::string>> raw_attrs;
  // Serialized fields that runhooks does not interpret, such as debug info and full types.
  std::string other_fields;
};

struct GraphDef {
  // The version of TensorFlow's graph format that this package writes.
  static constexpr int kProducer = 1087;

  std::vector<NodeDef> nodes;
  int producer = kProducer;
  int min_consumer = 0;  // the oldest version that may read the graph; 0 allows all
  std::string library;  // serialized FunctionDefLibrary
};

struct GraphDefOptions {
  // Adds the inferred shapes as attribute "_output_shapes", for TensorBoard.
  bool add_shapes = false;
  // Omits attributes with default values, so that an older TensorFlow, which may lack such an
  // attribute, can read the graph.
  bool strip_default_attrs = false;
};

GraphDef make_graph_def(const Graph& graph, const GraphDefOptions& options = {});

std::string write_graph_def(const GraphDef& graph);
GraphDef read_graph_def(std::string_view bytes, const std::string& where);
std::string graph_def_text(const GraphDef& graph);

// Writes the bytes of make_graph_def() incrementally while the graph grows.
class GraphDefWriter {
 public:
  GraphDefWriter(const Graph& graph, const GraphDefOptions& options)
      : graph_(graph), options_(options) {}
  // Writes the operations that were added since the last call.
  void put_new_nodes(WireWriter& out);
  // Writes the fields after the nodes: the functions and the versions.
  void put_end(WireWriter& out) const;

 private:
  const Graph& graph_;
  const GraphDefOptions options_;
  size_t num_written_ = 0;  // number of operations written so far
};

// Returns a serialized OpList with the definitions of the graph's ops, sorted by name.
std::string write_op_list(const Graph& graph);
std::string write_op_list(const std::set<std::string>& types);

}  // namespace runhooks
