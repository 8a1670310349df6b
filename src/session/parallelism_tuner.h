// What lives here: ParallelismTuner, which way to use threads takes a plan the least time, on this machine and at this time.
// Who may use it: the executor.
// What it must not know: plans, the clock, R.
#pragma once

#include <array>
#include <cstdint>

namespace runhooks {

// How a run may use threads. The results are the same.
enum class ParallelMode { kLevels, kKernels, kNone };

// What a second thread gains depends on how far it is: two processors of a virtual machine may
// share a cache or not, and which of it is the case changes, as do neighbours. So the ways are
// tried again and again, a run each, and between these the one is taken that was the fastest of
// late.
class ParallelismTuner {
 public:
  // Plans without levels have the other ways.
  explicit ParallelismTuner(bool has_levels);

  // Of the next run.
  ParallelMode way() const { return is_trying() ? turn() : best_; }
  bool is_trying() const { return left_ == 0; }
  // What a run by way() has taken. The time counts while it is trying.
  void took(int64_t ns);

 private:
  static constexpr int kWays = 3, kRounds = 9;
  ParallelMode turn() const { return static_cast<ParallelMode>(first_ + tried_); }
  void choose();

  int first_;  // of the ways that there are
  // Of the last rounds, in which each way had a run.
  std::array<std::array<int64_t, kRounds>, kWays> times_{};
  int round_ = 0, tried_ = 0;
  int left_ = 0;  // runs until the next round
  ParallelMode best_;
};

}  // namespace runhooks
