#include "io/events/event_file.h"
#include "nn/summary_ops.h"
#include "r/graph/handles_of_graph.h"
#include "r/values/guarded_entry.h"
#include "r/values/values.h"

namespace runhooks {
namespace r {

namespace {

// Reads a scalar, or a tensor with one number, which TensorFlow 2 writes for scalars.
bool read_number(const SummaryValue& value, double* number) {
  if (const float* scalar = value.scalar()) {
    *number = *scalar;
    return true;
  }
  const Tensor* tensor = value.tensor();
  if (!tensor || tensor->num_elements() != 1 || !is_numeric(tensor->dtype())) return false;
  *number = tensor->number_at(0);
  return true;
}

SummaryOptions summary_options(const std::vector<std::string>& collections,
                               const std::string& family) {
  SummaryOptions options;
  options.collections = collections;
  options.family = family;
  return options;
}

// Visits the summaries of event files in order; ignores a truncated last record.
template <typename Use>
void for_each_summary(const Texts& paths, const Use& use) {
  for (const std::string& path : paths) {
    bool truncated = false;
    for (const Event& event : read_events(path, &truncated)) {
      for (const SummaryValue& value : event.summary) use(event, value);
    }
  }
}

struct Numbers {
  std::vector<double> steps, times, values;
  std::vector<std::string> tags;

  void add(const Event& event, const SummaryValue& value) {
    double number = 0;
    if (!read_number(value, &number)) return;
    steps.push_back(static_cast<double>(event.step));
    times.push_back(event.wall_time);
    tags.push_back(value.tag);
    values.push_back(number);
  }
  Rcpp::List table() const {
    return Rcpp::List::create(Rcpp::_["step"] = steps, Rcpp::_["wall_time"] = times,
                              Rcpp::_["tag"] = tags, Rcpp::_["value"] = values);
  }
};

// The step, tag, range, bucket limits and bucket counts of each histogram.
struct Histograms {
  std::vector<double> steps, lowest, highest;
  std::vector<std::string> tags;
  std::vector<std::vector<double>> limits, counts;

  void add(const Event& event, const SummaryValue& value) {
    const Histogram* histogram = value.histogram();
    if (!histogram) return;
    steps.push_back(static_cast<double>(event.step));
    tags.push_back(value.tag);
    lowest.push_back(histogram->min);
    highest.push_back(histogram->max);
    limits.push_back(histogram->bucket_limit);
    counts.push_back(histogram->bucket);
  }
  Rcpp::List table() const {
    return Rcpp::List::create(Rcpp::_["step"] = steps, Rcpp::_["tag"] = tags,
                              Rcpp::_["min"] = lowest, Rcpp::_["max"] = highest,
                              Rcpp::_["limits"] = Rcpp::wrap(limits),
                              Rcpp::_["counts"] = Rcpp::wrap(counts));
  }
};

Output summary_value(SEXP x) { return is_variable(x) ? variable_of(x)->snapshot : tensor_of(x); }

}  // namespace

}  // namespace r
}  // namespace runhooks

using namespace runhooks;
using namespace runhooks::r;

// [[Rcpp::export(rng = false)]]
SEXP cpp_read_events(Texts paths, bool with_histograms) {
  return guarded_entry([&]() -> SEXP {
    Numbers numbers;
    Histograms histograms;
    for_each_summary(paths, [&](const Event& event, const SummaryValue& value) {
      numbers.add(event, value);
      if (with_histograms) histograms.add(event, value);
    });
    return Rcpp::List::create(
        Rcpp::_["numbers"] = numbers.table(),
        Rcpp::_["histograms"] = with_histograms ? SEXP(histograms.table()) : R_NilValue);
  });
}

// [[Rcpp::export(rng = false)]]
SEXP cpp_summary_op(bool is_histogram, Text name, SEXP values, Texts collections, Text family) {
  return guarded_entry([&]() -> SEXP {
    const Output value = summary_value(values);
    const SummaryOptions options = summary_options(collections, family);
    return tensor_handle(
        is_histogram ? add_histogram_summary(*graph_for(value.graph()), name, value, options)
                     : add_scalar_summary(*graph_for(value.graph()), name, value, options));
  });
}

// [[Rcpp::export(rng = false)]]
SEXP cpp_summary_merge(SEXP inputs, Texts collections, Text name) {
  return guarded_entry([&]() -> SEXP {
    const std::vector<Output> summaries = tensors_from_r(inputs, "`inputs`");
    if (summaries.empty()) invalid_argument("`inputs` must have at least one summary.");
    return tensor_handle(
        merge_summaries(*graph_for(summaries[0].graph()), summaries, name, collections));
  });
}

// [[Rcpp::export(rng = false)]]
SEXP cpp_summary_merge_all(Text key, Text scope, Text name) {
  return guarded_entry([&]() -> SEXP {
    const Output merged = merge_all_summaries(*default_graph(), key, scope, name);
    return merged ? tensor_handle(merged) : R_NilValue;
  });
}
