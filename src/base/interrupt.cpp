#include "base/interrupt.h"

namespace runhooks {

namespace {
void (*current_check)() = nullptr;
}  // namespace

void check_interrupt() {
  if (current_check) current_check();
}

void set_interrupt_check(void (*check)()) { current_check = check; }

}  // namespace runhooks
