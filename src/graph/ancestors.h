// Finds the operations that given operations depend on.
#pragma once

#include <functional>
#include <map>
#include <vector>

#include "graph/operation.h"

namespace runhooks {

enum class Through { kInputs, kInputsAndControl };

// Operations of one graph by id, in creation order.
using OperationsById = std::map<int, const Operation*>;

// Returns `ends` and all operations that they depend on by the edges that `through` selects. The
// search does not continue to the inputs of an operation for which `visits_inputs_of` is FALSE.
OperationsById ancestors_of(std::vector<const Operation*> ends,
                                Through through,
                                const std::function<bool(const Operation&)>& visits_inputs_of = {});
// Returns `end` or one of its ancestors for which `matches` is TRUE; NULL if none exists.
const Operation* find_ancestor(const Operation* end,
                               Through through,
                               const std::function<bool(const Operation&)>& matches);

}  // namespace runhooks
