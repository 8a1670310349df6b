// How plans use threads: the way that takes the least time, found again where that changes.
#include "session/thread_trial.h"
#include "test.h"

using namespace runhooks;

namespace {

struct Times {
  int64_t levels, kernels, none;
  int64_t of(ThreadWay way) const {
    return way == ThreadWay::kLevels ? levels : way == ThreadWay::kKernels ? kernels : none;
  }
};

// So many rounds, and the runs by the best way between them.
void try_rounds(ThreadTrial& trial, int rounds, const Times& times) {
  for (; rounds > 0; --rounds) {
    while (!trial.is_trying()) trial.took(0);
    for (int way = 0; way < 3 && trial.is_trying(); ++way) trial.took(times.of(trial.way()));
  }
}

}  // namespace

TEST(thread_trial_gives_each_way_a_run_and_then_the_best_one) {
  ThreadTrial trial(true);
  for (int round = 0; round < 9; ++round) {
    for (const ThreadWay way : {ThreadWay::kLevels, ThreadWay::kKernels, ThreadWay::kNone}) {
      CHECK(trial.is_trying() && trial.way() == way);
      trial.took(way == ThreadWay::kNone ? 90 : 100);
    }
  }
  for (int run = 0; run < 120; ++run) {
    CHECK(!trial.is_trying() && trial.way() == ThreadWay::kNone);
    trial.took(0);
  }
  CHECK(trial.is_trying() && trial.way() == ThreadWay::kLevels);
}

TEST(thread_trial_finds_when_another_way_is_the_fastest) {
  ThreadTrial trial(true);
  const auto best_after = [&](int rounds, const Times& times) {
    try_rounds(trial, rounds, times);
    return trial.way();
  };
  CHECK(best_after(9, {100, 150, 130}) == ThreadWay::kLevels);
  CHECK(best_after(1, {900, 150, 130}) == ThreadWay::kLevels);  // a disturbance
  CHECK(best_after(9, {300, 150, 130}) == ThreadWay::kNone);
  CHECK(best_after(9, {300, 100, 130}) == ThreadWay::kKernels);
}

TEST(thread_trial_stays_where_little_is_won) {
  ThreadTrial trial(true);
  try_rounds(trial, 9, {100, 200, 98});
  CHECK(trial.way() == ThreadWay::kLevels);
  try_rounds(trial, 9, {100, 200, 90});
  CHECK(trial.way() == ThreadWay::kNone);
}

TEST(thread_trial_of_a_plan_without_levels_has_two_ways) {
  ThreadTrial trial(false);
  for (int run = 0; run < 18; ++run) {
    CHECK(trial.is_trying() && trial.way() == (run % 2 ? ThreadWay::kNone : ThreadWay::kKernels));
    trial.took(run % 2 ? 50 : 100);
  }
  CHECK(!trial.is_trying() && trial.way() == ThreadWay::kNone);
}
