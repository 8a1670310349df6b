// ParallelismTuner: measures which use of threads makes a plan fastest.
#pragma once

#include <array>
#include <cstdint>

namespace runhooks {

// How a run may use threads. Results are the same in every mode.
enum class ParallelMode { kLevels, kKernels, kNone };

// Whether a second thread helps depends on cache topology and load, which change on a virtual
// machine. Each mode is therefore measured periodically; other runs use the fastest recent mode.
class ParallelismTuner {
 public:
  // Plans without levels skip kLevels.
  explicit ParallelismTuner(bool has_levels);

  // The mode for the next run.
  ParallelMode way() const { return is_trying() ? turn() : best_; }
  bool is_trying() const { return left_ == 0; }
  // Records how long a run in way() took. Ignored unless is_trying().
  void took(int64_t ns);

 private:
  static constexpr int kWays = 3, kRounds = 9;
  ParallelMode turn() const { return static_cast<ParallelMode>(first_ + tried_); }
  void choose();

  int first_;  // first available mode
  // Times from the recent rounds; each mode runs once per round.
  std::array<std::array<int64_t, kRounds>, kWays> times_{};
  int round_ = 0, tried_ = 0;
  int left_ = 0;  // runs until the next round
  ParallelMode best_;
};

}  // namespace runhooks
