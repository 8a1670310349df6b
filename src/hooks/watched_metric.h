// WatchedMetric: reads one metric of the evaluations that are made while a training loop runs.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "io/events/recorded_evaluations.h"

namespace runhooks {

class WatchedMetric {
 public:
  // Watches `fallback` instead if the evaluations lack the metric; "" means no fallback.
  WatchedMetric(std::string name, std::string fallback, std::string eval_dir)
      : name_(std::move(name)),
        fallback_(std::move(fallback)),
        eval_dir_(std::move(eval_dir)),
        metrics_(eval_dir_) {}

  // Starts watching. Skips existing evaluations if `skip_existing` is true.
  void begin(bool skip_existing);
  const std::string& name() const { return name_; }
  const std::string& fallback() const { return fallback_; }
  void use_fallback() { name_ = fallback_; }
  const std::string& eval_dir() const { return eval_dir_; }
  // Returns true if this process has made an evaluation since begin() or the last call.
  bool has_new_evaluations();
  struct Evaluation {
    int64_t step;
    double value;
  };
  // Returns the evaluations from `from_step` on. Throws if one lacks the metric.
  std::vector<Evaluation> read(double from_step);
  // Returns true if an evaluation had the metric.
  bool was_found() const { return was_found_; }
  // Looks for evaluations elsewhere if `eval_dir` has none. Returns the folders next to it, named
  // "eval...", that have got evaluations since begin().
  std::vector<std::string> folders_with_new_evaluations();

 private:
  using FileSizes = std::map<std::string, uint64_t>;
  FileSizes sizes_in_other_folders() const;
  double value_in(const std::map<std::string, double>& metrics, int64_t step) const;

  std::string name_, fallback_, eval_dir_;
  EvalMetricsReader metrics_;
  FileSizes initial_sizes_;       // sizes at begin()
  uint64_t num_evaluations_ = 0;  // of this process, at the last has_new_evaluations()
  bool was_found_ = false;
};

// Whether `value` is better than `reference`. NaN is worse than any number.
bool is_better_metric(double value, double reference, bool higher_is_better);

}  // namespace runhooks
