#include "tensor/clock.h"

#include <chrono>

namespace runhooks {

namespace {
double (*clock_override)() = nullptr;
}

double now_seconds() {
  if (clock_override) return clock_override();
  const auto since_epoch = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration<double>(since_epoch).count();
}

void set_clock(double (*clock)()) { clock_override = clock; }

}  // namespace runhooks
