#include "graph/ancestors.h"

namespace runhooks {

NumberedOperations ancestors_of(std::vector<const Operation*> ends,
                                     Through through,
                                     const std::function<bool(const Operation&)>& goes_on) {
  NumberedOperations found;
  while (!ends.empty()) {
    const Operation* op = ends.back();
    ends.pop_back();
    if (!found.emplace(op->id(), op).second || (goes_on && !goes_on(*op))) continue;
    for (const Output& input : op->inputs()) ends.push_back(input.op);
    if (through == Through::kInputs) continue;
    for (const Operation* control : op->control_inputs()) ends.push_back(control);
  }
  return found;
}

const Operation* find_ancestor(const Operation* end,
                             Through through,
                             const std::function<bool(const Operation&)>& is_it) {
  const Operation* found = nullptr;
  ancestors_of({end}, through, [&](const Operation& op) {
    if (!found && is_it(op)) found = &op;
    return !found;
  });
  return found;
}

}  // namespace runhooks
