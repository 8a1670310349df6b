// Collection_item(), typed access to the items of a collection.
#pragma once

#include <string>
#include <vector>

#include "graph/graph.h"

namespace runhooks {

// Throws an error that names the collection and the item if the item has another type. T must be an
// alternative of CollectionItem.
template <typename T>
const T& collection_item(const CollectionItem& item, const std::string& collection);

template <typename T>
std::vector<T> collection_of(const Graph& graph, const std::string& collection) {
  std::vector<T> all;
  for (const CollectionItem& item : graph.collection(collection)) {
    all.push_back(collection_item<T>(item, collection));
  }
  return all;
}

}  // namespace runhooks
