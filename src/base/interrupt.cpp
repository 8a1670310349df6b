#include "base/interrupt.h"

#include "base/log.h"

namespace runhooks {

namespace {
void (*current_check)() = nullptr;
thread_local bool is_asking_thread = false;
}  // namespace

void check_interrupt() {
  show_waiting_lines();
  if (is_asking_thread && current_check) current_check();
}

bool may_ask_user() { return is_asking_thread || !current_check; }

void set_interrupt_check(void (*check)()) {
  current_check = check;
  is_asking_thread = check != nullptr;
}

}  // namespace runhooks
