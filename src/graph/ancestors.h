// Finds the operations that given operations depend on.
#pragma once

#include <functional>
#include <map>
#include <vector>

#include "graph/operation.h"

namespace runhooks {

enum class Through { kInputs, kInputsAndControl };

// Operations of one graph by their numbers.
using NumberedOperations = std::map<int, const Operation*>;

// `ends` and all operations that they depend on. The search stops at operations for which `goes_on`
// is FALSE.
NumberedOperations ancestors_of(std::vector<const Operation*> ends,
                                     Through through,
                                     const std::function<bool(const Operation&)>& goes_on = {});
// The first ancestor for which `is_it` is TRUE, or NULL.
const Operation* find_ancestor(const Operation* end,
                             Through through,
                             const std::function<bool(const Operation&)>& is_it);

}  // namespace runhooks
