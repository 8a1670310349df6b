// QuantileStreams: the quantile streams and bucket boundaries of a session, and their saveables.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "graph/graph.h"
#include "graph/saveable.h"
#include "trees/quantiles.h"

namespace runhooks {

// Converts a summary to TensorFlow's format: rows of value, weight, min rank and max rank.
Tensor rows_from_entries(const std::vector<QuantileEntry>& entries);
// Converts such rows to a summary. Throws `code` if they are invalid; the message begins with
// `name`.
QuantileSummary summary_from_rows(const Tensor& rows, Code code, const std::string& name);

// save_state() saves the boundaries, and save_streams() an unfinished first pass over the data.
class QuantileStreams : public StatefulResource {
 public:
  static std::unique_ptr<StatefulResource> make(const Operation&);
  const char* kind() const override { return "quantile streams"; }
  NamedTensors save_state() const override;
  void restore_state(const NamedTensors& state) override;
  NamedTensors save_streams();
  static std::vector<std::vector<QuantileSummary>> read_streams(const NamedTensors& state,
                                                                size_t num_streams);
  void set_streams(std::vector<std::vector<QuantileSummary>> streams);

  // Does nothing if the streams exist.
  void create(double epsilon, int64_t num_streams, int64_t max_elements);
  bool is_initialized() const { return is_initialized_; }
  // Throws unless there is a stream for each feature.
  void check(int64_t num_features) const;
  void add(size_t stream, const QuantileSummary& summary) { streams_[stream].add(summary); }
  void flush(int64_t num_buckets, bool generate_quantiles);
  const std::vector<float>& boundaries(size_t stream) const { return boundaries_[stream]; }
  void set_boundaries(std::vector<std::vector<float>> boundaries);

 private:
  double epsilon_ = 0.01;
  int64_t max_elements_ = int64_t{1} << 40;
  std::vector<QuantileStream> streams_;
  std::vector<std::vector<float>> boundaries_;
  bool is_initialized_ = false;
};

struct QuantilesHandle {
  Output handle;
  Operation* create = nullptr;
};
// Adds streams and their saveables; boundaries have TensorFlow's checkpoint keys.
QuantilesHandle add_quantiles(Graph& graph,
                              const std::string& name,
                              double epsilon,
                              int64_t num_streams);

}  // namespace runhooks
