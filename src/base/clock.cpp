#include "base/clock.h"

#include <chrono>
#include <ctime>
#include <thread>

namespace runhooks {

namespace {
double (*clock_override)() = nullptr;
void (*sleep_override)(double) = nullptr;
}  // namespace

double now_seconds() {
  if (clock_override) return clock_override();
  const auto since_epoch = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration<double>(since_epoch).count();
}

int64_t steady_ns() {
  const auto since_origin = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::nanoseconds>(since_origin).count();
}

std::string local_time_text(double seconds, const char* format) {
  const auto time = static_cast<std::time_t>(seconds);
  char text[40];
  const size_t length = std::strftime(text, sizeof text, format, std::localtime(&time));
  return std::string(text, length);
}

void set_clock(double (*clock)()) { clock_override = clock; }

void sleep_seconds(double seconds) {
  if (sleep_override) return sleep_override(seconds);
  std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
}

void set_sleep(void (*sleep)(double)) { sleep_override = sleep; }

}  // namespace runhooks
