// Reads the metrics of earlier evaluations from the event files of a directory.
#pragma once

#include <cstdint>
#include <map>
#include <string>

namespace runhooks {

// float32 metrics by global step and name; empty if the directory does not exist.
using EvalMetrics = std::map<int64_t, std::map<std::string, double>>;

// tf.estimator.experimental.read_eval_metrics. The last value of a metric at a step wins. Skips the
// rest of a damaged file, with a warning.
EvalMetrics read_eval_metrics(const std::string& eval_dir);

// Incremental variant: each read() reads only bytes that were appended since the last one.
class EvalMetricsReader {
 public:
  explicit EvalMetricsReader(std::string eval_dir) : eval_dir_(std::move(eval_dir)) {}
  const EvalMetrics& read();
  // Makes read() return only metrics that are appended from now on.
  void skip_existing();
  // lint: allow caller (for tests)
  uint64_t bytes_read() const { return bytes_read_; }

 private:
  struct File {
    uint64_t size = 0;    // at the last read
    double time = 0;      // modification time at the last read
    uint64_t offset = 0;  // where the next record begins
    bool is_damaged = false;
    EvalMetrics metrics;
  };
  bool update(const std::string& path, File& file);
  void read_new(const std::string& path, File& file);

  std::string eval_dir_;
  std::map<std::string, File> files_;
  EvalMetrics metrics_;
  uint64_t bytes_read_ = 0;
};

// Count the evaluations that this process has written. Code that waits for evaluations reads the
// files only if the count has changed.
void count_evaluation();
uint64_t evaluation_count();

}  // namespace runhooks
