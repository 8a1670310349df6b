// The metrics of a folder's evaluations, read from its event files.
#pragma once

#include <cstdint>
#include <map>
#include <string>

namespace runhooks {

// By global step, then by name; float32 values as they are in the files. None where there is no
// such folder.
using EvalMetrics = std::map<int64_t, std::map<std::string, double>>;

// tf.estimator.experimental.read_eval_metrics: of one metric at one step the last value counts. The
// rest of a damaged file is left out, with a warning.
EvalMetrics read_eval_metrics(const std::string& eval_dir);

// The same for whoever asks again and again: of a file that has grown only what is new is read.
class EvalMetricsReader {
 public:
  explicit EvalMetricsReader(std::string eval_dir) : eval_dir_(std::move(eval_dir)) {}
  const EvalMetrics& read();
  // What is there by now is left out from here on.
  void skip_existing();
  // How many bytes of records were read since it was made.
  // lint: allow caller (tests look at it)
  uint64_t bytes_read() const { return bytes_read_; }

 private:
  struct File {
    uint64_t size = 0, offset = 0;  // when it was read, and where its next record begins
    double time = 0;
    bool is_damaged = false;
    EvalMetrics metrics;
  };
  // TRUE where there is something new.
  bool update(const std::string& path, File& file);
  void read_new(const std::string& path, File& file);

  std::string eval_dir_;
  std::map<std::string, File> files_;
  EvalMetrics metrics_;
  uint64_t bytes_read_ = 0;
};

// How many evaluations this process has written: who waits for new ones need not look at files.
void note_evaluation();
uint64_t noted_evaluations();

}  // namespace runhooks
