#include <chrono>
#include <thread>

#include "base/ticks.h"
#include "test.h"

using namespace runhooks;

TEST(ticks_match_the_clock) {
  using Clock = std::chrono::steady_clock;
  const auto before = Clock::now();
  const int64_t first = now_ticks();
  const auto started = Clock::now();
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  const auto ending = Clock::now();
  const int64_t last = now_ticks();
  const auto after = Clock::now();
  const double min_seconds = std::chrono::duration<double>(ending - started).count();
  const double max_seconds = std::chrono::duration<double>(after - before).count();
  const double measured = ticks_to_seconds(last - first);
  CHECK(measured > 0.999 * min_seconds);
  CHECK(measured < 1.001 * max_seconds);
  CHECK(now_ticks() >= last);
}
