#include "data/element_graph.h"

#include <algorithm>

#include "graph/func_graph.h"

namespace runhooks {

Output ElementGraph::capture(const Output& outside) {
  if (&outside.graph() == this) return outside;
  const std::shared_ptr<Graph> outer = outer_.lock();
  if (!outer) return Graph::capture(outside);
  const Output next = outer->capture(outside);
  const auto known = std::find(outside_.begin(), outside_.end(), next);
  if (known != outside_.end()) return inside_[static_cast<size_t>(known - outside_.begin())];
  if (FuncGraph::is_resource_handle(next)) {
    throw Error(Code::kUnimplemented,
                str_cat("Handle '", next.name(), "' cannot be used in a function of a dataset."),
                {"Use the value of a variable instead; it is read when the iterator starts."});
  }
  const ControlDependencies none(*this, {}, true);
  const NameScope scope(*this, "");
  outside_.push_back(next);
  inside_.push_back(
      op("Placeholder").attr("dtype", next.dtype()).attr("shape", next.shape()).named("captured"));
  return inside_.back();
}

bool is_around(const Graph& outer, const Graph& inner) {
  if (&outer == &inner) return false;
  if (inner.is_function() && &inner.root() == &outer.root()) return true;
  const auto* function = dynamic_cast<const ElementGraph*>(&inner.root());
  const std::shared_ptr<Graph> around = function ? function->outer() : nullptr;
  return around && (&outer.root() == &around->root() || is_around(outer, *around));
}

}  // namespace runhooks
