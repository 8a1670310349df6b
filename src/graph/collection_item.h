// Converts items of a collection to their expected type.
#pragma once

#include <string>
#include <vector>

#include "graph/graph.h"

namespace runhooks {

// Throws if the item is not a T; the message names the collection and the item. Instantiated for
// the types of CollectionItem.
template <typename T>
const T& collection_item(const CollectionItem& item, const std::string& collection);

// Returns all items of a collection; throws unless each is a T.
template <typename T>
std::vector<T> collection_of(const Graph& graph, const std::string& collection) {
  std::vector<T> all;
  for (const CollectionItem& item : graph.collection(collection)) {
    all.push_back(collection_item<T>(item, collection));
  }
  return all;
}

}  // namespace runhooks
