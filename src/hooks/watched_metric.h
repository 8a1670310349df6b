// What lives here: WatchedMetric, one metric of the evaluations that a folder gets while a loop runs.
// Who may use it: hooks that steer by evaluations.
// What it must not know: what follows from the metric, R.
#pragma once

#include <string>
#include <vector>

#include "io/events/recorded_evaluations.h"

namespace runhooks {

class WatchedMetric {
 public:
  WatchedMetric(std::string name, std::string eval_dir)
      : name_(std::move(name)), eval_dir_(std::move(eval_dir)), metrics_(eval_dir_) {}

  // Of a loop; what there is before counts unless `of_this_loop`.
  void begin(bool of_this_loop);
  const std::string& name() const { return name_; }
  const std::string& eval_dir() const { return eval_dir_; }
  // Whether this process has evaluated something since it was asked last.
  bool has_news();
  struct Seen {
    int64_t step;
    double value;
  };
  // Of the evaluations from this step on. Throws where one lacks the metric.
  std::vector<Seen> read(double from_step);
  // Whether any evaluation of the folder had it.
  bool was_seen() const { return was_seen_; }

 private:
  double value_in(const std::map<std::string, double>& metrics, int64_t step) const;

  std::string name_, eval_dir_;
  EvalMetricsReader metrics_;
  uint64_t news_ = 0;
  bool was_seen_ = false;
};

// "higher is better" or the other way round. What is no number is worse than any.
bool is_better_metric(double value, double than, bool higher);

}  // namespace runhooks
