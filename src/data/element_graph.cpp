#include "data/element_graph.h"

#include <algorithm>

#include "graph/func_graph.h"

namespace runhooks {

Output ElementGraph::capture(const Output& outside) {
  if (&outside.graph() == this) return outside;
  const std::shared_ptr<Graph> outer = outer_.lock();
  if (!outer) return Graph::capture(outside);
  const Output outer_tensor = outer->capture(outside);
  const auto found = std::find(outside_.begin(), outside_.end(), outer_tensor);
  if (found != outside_.end()) return inside_[static_cast<size_t>(found - outside_.begin())];
  if (FuncGraph::is_resource_handle(outer_tensor)) {
    throw Error(
        Code::kUnimplemented,
        str_cat("Handle '", outer_tensor.name(), "' cannot be used in a function of a dataset."),
        {"Use the value of a variable instead; it is read when the iterator starts."});
  }
  const ControlDependencies no_dependencies(*this, {}, true);
  const NameScope scope(*this, "");
  outside_.push_back(outer_tensor);
  inside_.push_back(op("Placeholder")
                        .attr("dtype", outer_tensor.dtype())
                        .attr("shape", outer_tensor.shape())
                        .named("captured"));
  return inside_.back();
}

bool encloses(const Graph& outer, const Graph& inner) {
  if (&outer == &inner) return false;
  if (inner.is_function() && &inner.root() == &outer.root()) return true;
  const auto* function = dynamic_cast<const ElementGraph*>(&inner.root());
  const std::shared_ptr<Graph> enclosing = function ? function->outer() : nullptr;
  return enclosing && (&outer.root() == &enclosing->root() || encloses(outer, *enclosing));
}

}  // namespace runhooks
