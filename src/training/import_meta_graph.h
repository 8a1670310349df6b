// Import_meta_graph(): graphs of files with their collections, and their variables as Variables.
#pragma once

#include <string>
#include <vector>

#include "import/import_graph.h"
#include "io/graphs/meta_graph.h"

namespace runhooks {

// The graph's collections as the meta graph has them, as far as they name what was imported:
// variables, tensors, operations and texts.
void import_collections(Graph& graph,
                        const MetaGraphDef& meta_graph,
                        const GraphImporter& importer);

// Adds a whole meta graph below `prefix` ("" or "scope/"). Where it has a saver, its variables are
// what that saves, and the operations that it saves and restores them by come along only where the
// graph is trusted.
void import_meta_graph(Graph& graph,
                       const MetaGraphDef& meta_graph,
                       const std::string& prefix,
                       const std::string& where,
                       ImportRights rights = ImportRights::kNone);

}  // namespace runhooks
