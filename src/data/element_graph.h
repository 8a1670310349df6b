// What lives here: ElementGraph, the graph of a function of elements, which may use tensors of the graphs around it.
// Who may use it: data, the bindings.
// What it must not know: datasets, how it runs, R.
#pragma once

#include <memory>
#include <vector>

#include "graph/graph.h"

namespace runhooks {

// It has names and collections of its own, so that it is the same whatever stands around it. Each
// tensor from outside gets a stand-in among the arguments; its value is that when an iterator
// begins.
class ElementGraph : public Graph {
 public:
  // `outer` is NULL where nothing can be used.
  explicit ElementGraph(Graph* outer) {
    if (outer) outer_ = outer->shared_from_this();
  }
  Output capture(const Output& outside) override;
  // NULL where it is gone.
  std::shared_ptr<Graph> outer() const { return outer_.lock(); }
  // The stand-ins, and what they stand for: tensors of the graph that is next around this one.
  const std::vector<Output>& inside() const { return inside_; }
  const std::vector<Output>& outside() const { return outside_; }

 private:
  std::weak_ptr<Graph> outer_;
  std::vector<Output> inside_, outside_;
};

// Whether `inner` is a function in `outer`, or in a function that is.
bool is_around(const Graph& outer, const Graph& inner);

}  // namespace runhooks
