// Traversal of the ancestors of operations: all operations that they depend on.
#pragma once

#include <functional>
#include <map>
#include <vector>

#include "graph/operation.h"

namespace runhooks {

enum class Through { kInputs, kInputsAndControl };

// Operations of one graph by id, that is, in creation order.
using NumberedOperations = std::map<int, const Operation*>;

// Returns `ends` and their ancestors. The traversal does not visit the inputs of an operation for
// which `goes_on` returns FALSE.
NumberedOperations ancestors_of(std::vector<const Operation*> ends,
                                     Through through,
                                     const std::function<bool(const Operation&)>& goes_on = {});
// Returns `end` or one of its ancestors, whichever satisfies `is_it` first, or NULL.
const Operation* find_ancestor(const Operation* end,
                             Through through,
                             const std::function<bool(const Operation&)>& is_it);

}  // namespace runhooks
