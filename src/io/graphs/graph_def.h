// GraphDef, the graph in TensorFlow's files: from a Graph, to bytes and text.
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
  // Those that an AttrValue cannot hold, as bytes of their messages.
  std::vector<std::pair<std::string, std::string>> raw_attrs;
  // Fields that runhooks does not know (debug info, full types), as bytes.
  std::string other_fields;
};

struct GraphDef {
  // Of TensorFlow's graph versions: what this writer knows of. Readers as old as 1.0 may read it.
  static constexpr int kProducer = 1087;

  std::vector<NodeDef> nodes;
  int producer = kProducer;
  int min_consumer = 0;
  // A FunctionDefLibrary, as bytes.
  std::string library;
};

struct GraphDefOptions {
  // The inferred shapes as attribute "_output_shapes", for TensorBoard.
  bool add_shapes = false;
  // Leaves out what has its default value, so that older readers that lack the attribute can read
  // the graph.
  bool strip_default_attrs = false;
};

GraphDef make_graph_def(const Graph& graph, const GraphDefOptions& options = {});

std::string write_graph_def(const GraphDef& graph);
// `where` names the file in an error.
GraphDef read_graph_def(std::string_view bytes, const std::string& where);
// As tf.train.write_graph() writes graph.pbtxt.
std::string graph_def_text(const GraphDef& graph);

// The bytes of make_graph_def() of a graph that grows, in parts: what has been written is not
// written again.
class GraphDefWriter {
 public:
  GraphDefWriter(const Graph& graph, const GraphDefOptions& options)
      : graph_(graph), options_(options) {}
  // The nodes of the operations that have come since the last call.
  void put_new_nodes(WireWriter& out);
  // What comes behind all nodes.
  void put_end(WireWriter& out) const;

 private:
  const Graph& graph_;
  const GraphDefOptions options_;
  size_t written_ = 0;  // operations
};

// The definitions of the graph's ops, in the order of their names: an OpList.
std::string write_op_list(const Graph& graph);
std::string write_op_list(const std::set<std::string>& types);

}  // namespace runhooks
