#include "graph/ancestors.h"

namespace runhooks {

OperationsById ancestors_of(std::vector<const Operation*> open,
                                Through through,
                                const std::function<bool(const Operation&)>& visits_inputs_of) {
  OperationsById found;
  while (!open.empty()) {
    const Operation* op = open.back();
    open.pop_back();
    if (!found.emplace(op->id(), op).second || (visits_inputs_of && !visits_inputs_of(*op)))
      continue;
    for (const Output& input : op->inputs()) open.push_back(input.op);
    if (through == Through::kInputs) continue;
    for (const Operation* control : op->control_inputs()) open.push_back(control);
  }
  return found;
}

const Operation* find_ancestor(const Operation* end,
                               Through through,
                               const std::function<bool(const Operation&)>& matches) {
  const Operation* found = nullptr;
  ancestors_of({end}, through, [&](const Operation& op) {
    if (!found && matches(op)) found = &op;
    return !found;
  });
  return found;
}

}  // namespace runhooks
