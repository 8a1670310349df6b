// The walk from operations back to all that they take.
#pragma once

#include <functional>
#include <map>
#include <vector>

#include "graph/operation.h"

namespace runhooks {

enum class Through { kInputs, kInputsAndControl };

// Those of one graph, by their numbers.
using NumberedOperations = std::map<int, const Operation*>;

// `ends` and what they take, directly or not; behind one of which `goes_on` is FALSE nobody looks.
NumberedOperations ancestors_of(std::vector<const Operation*> ends,
                                     Through through,
                                     const std::function<bool(const Operation&)>& goes_on = {});
// The first of them that is found of which `is_it` is TRUE; NULL where there is none.
const Operation* find_ancestor(const Operation* end,
                             Through through,
                             const std::function<bool(const Operation&)>& is_it);

}  // namespace runhooks
