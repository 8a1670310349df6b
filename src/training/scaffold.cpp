#include "training/scaffold.h"

#include "ops/summary.h"

namespace runhooks {

namespace {

Operation* group_initializers(Graph& graph, const char* variables, const char* name) {
  std::vector<Operation*> initializers;
  for (const VariablePtr& variable : variables_in(graph, variables)) {
    initializers.push_back(variable->initializer);
  }
  return graph.group(initializers, name);
}

}  // namespace

void Scaffold::finalize(Graph& graph) {
  if (!finalized_) {
    NameScope root(graph, "");
    if (!init_op) {
      init_op = group_initializers(graph, collection_keys::kGlobalVariables, "init");
      graph.add_to_collection(collection_keys::kInitOp, init_op);
    }
    if (!local_init_op) {
      local_init_op = group_initializers(graph, collection_keys::kLocalVariables, "local_init");
      graph.add_to_collection(collection_keys::kLocalInitOp, local_init_op);
    }
    if (!summary_op) summary_op = merge_all_summaries(graph);
    if (summary_op) graph.add_to_collection(kSummaryOpCollection, summary_op);
    if (!saver) saver = std::make_shared<Saver>();
    if (!saver->is_built()) {
      saver->build(graph);
      graph.add_to_collection(collection_keys::kSavers, std::shared_ptr<void>(saver));
    }
    finalized_ = true;
  }
  graph.finalize();
}

}  // namespace runhooks
