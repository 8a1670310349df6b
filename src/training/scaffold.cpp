#include "training/scaffold.h"

#include "graph/collection_item.h"
#include "nn/summary_ops.h"

namespace runhooks {

namespace {

Operation* group_initializers(Graph& graph, const char* variables, const char* name) {
  std::vector<Operation*> initializers;
  for (const VariablePtr& variable : variables_in(graph, variables)) {
    initializers.push_back(variable->initializer);
  }
  return graph.group(initializers, name);
}

// Returns the initializers of resources other than variables (tf.initialize_resources()).
std::vector<Operation*> resource_initializers(const Graph& graph) {
  std::vector<Operation*> initializers;
  for (const SaveablePtr& saveable : saveables_in(graph)) {
    if (!saveable->variable() && saveable->initializer()) {
      initializers.push_back(saveable->initializer());
    }
  }
  return initializers;
}

// Returns the only item of a collection, which the user or an earlier scaffold has added; NULL if
// the collection is empty.
const CollectionItem* single_item(const std::vector<CollectionItem>& items,
                                  const char* collection) {
  if (items.size() > 1) {
    fail(Code::kFailedPrecondition, "More than one item in the collection \"", collection,
         "\". Please indicate which one to use by passing it to the tf.Scaffold constructor.");
  }
  return items.empty() ? nullptr : &items.front();
}

Operation* get_or_create_group(Graph& graph,
                               const char* key,
                               const char* variables,
                               const char* name,
                               const std::vector<Operation*>& more_initializers) {
  const std::vector<CollectionItem> items = graph.collection(key);
  if (const CollectionItem* item = single_item(items, key)) {
    return collection_item<Operation*>(*item, key);
  }
  std::vector<Operation*> initializers = {group_initializers(graph, variables, name)};
  initializers.insert(initializers.end(), more_initializers.begin(), more_initializers.end());
  Operation* op = graph.group(initializers);
  graph.add_to_collection(key, op);
  return op;
}

// Returns the initializers of tables, and of iterators whose datasets depend on variables.
std::vector<Operation*> table_initializers(const Graph& graph) {
  std::vector<Operation*> result;
  for (const CollectionItem& item : graph.collection(collection_keys::kTableInitializers)) {
    result.push_back(collection_item<Operation*>(item, collection_keys::kTableInitializers));
  }
  return result;
}

std::shared_ptr<Saver> get_or_make_saver(Graph& graph) {
  const std::vector<CollectionItem> items = graph.collection(collection_keys::kSavers);
  if (const CollectionItem* item = single_item(items, collection_keys::kSavers)) {
    return std::static_pointer_cast<Saver>(
        collection_item<std::shared_ptr<void>>(*item, collection_keys::kSavers));
  }
  auto saver = std::make_shared<Saver>();
  graph.add_to_collection(collection_keys::kSavers, std::shared_ptr<void>(saver));
  return saver;
}

}  // namespace

void Scaffold::finalize(Graph& graph) {
  if (!finalized_) {
    NameScope root(graph, "");
    if (!init_op) {
      init_op =
          get_or_create_group(graph, collection_keys::kInitOp, collection_keys::kGlobalVariables,
                              "init", resource_initializers(graph));
    }
    if (!local_init_op) {
      local_init_op = get_or_create_group(graph, collection_keys::kLocalInitOp,
                                          collection_keys::kLocalVariables, "local_init",
                                          table_initializers(graph));
    }
    if (!summary_op) summary_op = merge_all_summaries(graph);
    if (summary_op) graph.add_to_collection(kSummaryOpCollection, summary_op);
    if (!saver) {
      saver = get_or_make_saver(graph);
    } else if (!saver->is_built()) {
      graph.add_to_collection(collection_keys::kSavers, std::shared_ptr<void>(saver));
    }
    if (!saver->is_built()) saver->build(graph);
    finalized_ = true;
  }
  graph.finalize();
}

}  // namespace runhooks
