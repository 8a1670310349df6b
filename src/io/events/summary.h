// Summary: values by tag in an event file, including histograms.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "tensor/tensor.h"

namespace runhooks {

// A histogram, in which bucket[i] counts the values in [bucket_limit[i - 1], bucket_limit[i]).
struct Histogram {
  double min = 0, max = 0, num = 0, sum = 0, sum_squares = 0;
  std::vector<double> bucket_limit, bucket;
};

// Makes TensorFlow's histogram: 1551 fixed limits, with consecutive empty buckets joined. Counts
// NaN in the last bucket. TensorFlow rejects NaN; a caller that must, too, has to check first.
Histogram make_histogram(const double* values, size_t count);
Histogram make_histogram(const Tensor& values);

struct SummaryMetadata {
  std::string plugin_name, plugin_content, display_name, description;
  int data_class = 0;
};

// A serialized value of a kind that runhooks does not decode, such as an image.
struct RawSummary {
  int field = 0;
  std::string bytes;
};

struct SummaryValue {
  std::string tag, node_name;
  std::optional<SummaryMetadata> metadata;
  std::variant<std::monostate, float, Histogram, Tensor, RawSummary> value;

  const float* scalar() const { return std::get_if<float>(&value); }
  const Histogram* histogram() const { return std::get_if<Histogram>(&value); }
  const Tensor* tensor() const { return std::get_if<Tensor>(&value); }
};

using Summary = std::vector<SummaryValue>;

SummaryValue scalar_summary(const std::string& tag, double value);
SummaryValue histogram_summary(const std::string& tag, const Tensor& values);
SummaryValue text_summary(const std::string& tag, const Tensor& strings);

// Serializes a summary. Concatenated summaries form one summary.
std::string write_summary(const Summary& summary);
Summary read_summary(std::string_view bytes, std::string_view where);

}  // namespace runhooks
