// import_meta_graph(): imports a graph from a file with its collections and variables.
#pragma once

#include <string>
#include <vector>

#include "import/import_graph.h"
#include "io/graphs/meta_graph.h"

namespace runhooks {

// Adds the variables, tensors and operations in the collections of a meta graph to the collections
// of `graph`. Items that were not imported are skipped.
void import_collections(Graph& graph,
                        const MetaGraphDef& meta_graph,
                        const GraphImporter& importer);

// Imports a meta graph under `prefix` ("" or "scope/"). The file operations of its saver are
// imported only if `rights` allow them. `where` names the source in error messages.
void import_meta_graph(Graph& graph,
                       const MetaGraphDef& meta_graph,
                       const std::string& prefix,
                       const std::string& where,
                       ImportRights rights = ImportRights::kNone);

}  // namespace runhooks
