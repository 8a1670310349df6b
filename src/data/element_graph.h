// ElementGraph: the graph of a dataset function, which may capture tensors of enclosing graphs.
#pragma once

#include <memory>
#include <vector>

#include "graph/graph.h"

namespace runhooks {

// Has its own names and collections, so the operations do not depend on the enclosing graph. Each
// captured tensor becomes an argument, which gets its value when an iterator starts.
class ElementGraph : public Graph {
 public:
  // `outer` is NULL if nothing can be captured.
  explicit ElementGraph(Graph* outer) {
    if (outer) outer_ = outer->shared_from_this();
  }
  Output capture(const Output& outside) override;
  // The enclosing graph; NULL if none exists or if it has been destroyed.
  std::shared_ptr<Graph> outer() const { return outer_.lock(); }
  // The captured tensors: inside() are the placeholders for them in this graph, outside() are the
  // tensors in the innermost enclosing graph.
  const std::vector<Output>& inside() const { return inside_; }
  const std::vector<Output>& outside() const { return outside_; }

 private:
  std::weak_ptr<Graph> outer_;
  std::vector<Output> inside_, outside_;
};

// True if `inner` is a function nested in `outer` at any depth.
bool encloses(const Graph& outer, const Graph& inner);

}  // namespace runhooks
