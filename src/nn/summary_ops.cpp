// Ops that return a serialized Summary message.
#include "nn/summary_ops.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "base/ascii.h"
#include "base/log.h"
#include "io/events/summary.h"

namespace runhooks {

namespace {

class ScalarSummaryKernel : public Kernel {
 public:
  void compute(KernelContext& c) override {
    const Tensor &tags = c.input(0), &values = c.input(1);
    if (tags.shape() != values.shape()) {
      invalid_argument("tags and values not the same shape: ", tags.shape(), " != ", values.shape(),
                       tags.num_elements() == 1 ? str_cat(" (tag '", tags.string_at(0), "')") : "");
    }
    Summary summary;
    for (int64_t i = 0; i < values.num_elements(); ++i) {
      summary.push_back(scalar_summary(tags.string_at(i), values.number_at(i)));
    }
    set_string_output(c.output(0), write_summary(summary));
  }
};

class HistogramSummaryKernel : public Kernel {
 public:
  void compute(KernelContext& c) override {
    const Tensor &tag = c.input(0), &values = c.input(1);
    if (tag.num_elements() != 1 || tag.shape().rank() != 0) {
      invalid_argument("tags must be scalar");
    }
    for (int64_t i = 0; i < values.num_elements(); ++i) {
      const double value = values.number_at(i);
      if (std::isnan(value)) invalid_argument("Nan in summary histogram for: ", c.op().name());
      if (std::isinf(value)) {
        invalid_argument("Infinity in summary histogram for: ", c.op().name());
      }
    }
    set_string_output(c.output(0), write_summary({histogram_summary(tag.string_at(0), values)}));
  }
};

class MergeSummaryKernel : public Kernel {
 public:
  void compute(KernelContext& c) override {
    std::set<std::string> tags;
    std::string merged;
    for (int i = 0; i < c.num_inputs(); ++i) {
      const Tensor& input = c.input(i);
      for (int64_t k = 0; k < input.num_elements(); ++k) {
        const std::string& bytes = input.string_at(k);
        for (const SummaryValue& value : read_summary(bytes, "an input of " + c.op().name())) {
          if (value.tag.empty() || tags.insert(value.tag).second) continue;
          invalid_argument("Duplicate tag ", value.tag, " found in summary inputs");
        }
        merged += bytes;  // concatenation merges Summary messages
      }
    }
    set_string_output(c.output(0), merged);
  }
};

bool is_valid_in_name(char c) {
  return is_ascii_alnum(c) || c == '_' || c == '-' || c == '/' || c == '.';
}

std::string clean_name(const std::string& name) {
  std::string cleaned = name;
  std::replace_if(
      cleaned.begin(), cleaned.end(), [](char c) { return !is_valid_in_name(c); }, '_');
  cleaned.erase(0, cleaned.find_first_not_of('/'));
  if (cleaned != name) {
    log(LogLevel::kInfo,
        str_cat("Summary name ", name, " is illegal; using ", cleaned, " instead."));
  }
  return cleaned;
}

}  // namespace

RUNHOOKS_REGISTER_OP("ScalarSummary")
    .input("tags: string")
    .input("values: T")
    .output("summary: string")
    .attr("T: numbertype")
    .shape(scalar_shape)
    .kernel(kernel_of<ScalarSummaryKernel>())
    .not_differentiable()
    .endpoint("raw_ops.ScalarSummary")
    .summary("A serialized Summary of scalars with their tags.")
    .example("s:loss f[]")
    .example("s{a,b} f[2]");

RUNHOOKS_REGISTER_OP("HistogramSummary")
    .input("tag: string")
    .input("values: T")
    .output("summary: string")
    .attr("T: numbertype = DT_FLOAT")
    .shape(scalar_shape)
    .kernel(kernel_of<HistogramSummaryKernel>())
    .not_differentiable()
    .endpoint("raw_ops.HistogramSummary")
    .summary("A serialized Summary with a histogram.")
    .example("s:weights f[3,4]");

RUNHOOKS_REGISTER_OP("MergeSummary")
    .input("inputs: N * string")
    .output("summary: string")
    .attr("N: int >= 1")
    .shape(scalar_shape)
    .kernel(kernel_of<MergeSummaryKernel>())
    .not_differentiable()
    .endpoint("raw_ops.MergeSummary")
    .summary("Merges serialized Summaries into one.")
    .example("s: s:");

// Creates a new dictionary for each string, because one dictionary would accumulate the strings of
// all steps.
void set_string_output(Tensor& out, std::string_view text) {
  auto dictionary = std::make_shared<StringDictionary>();
  *out.data<int32_t>() = dictionary->code(text);
  out.set_dictionary(std::move(dictionary));
}

Output add_tagged_summary(Graph& graph,
                          const char* tag_name,
                          const std::string& name,
                          const SummaryOptions& options,
                          const AddSummaryOp& add_op) {
  const std::string family = options.family.empty() ? "" : clean_name(options.family) + "/";
  // scope.name() ends with "/", which gives the op exactly this name.
  const NameScope scope(graph, family + clean_name(name));
  const std::string tag = family + scope.name().substr(0, scope.name().size() - 1);
  const Output summary =
      add_op(graph, graph.constant(Tensor::string_scalar(tag), tag_name), scope.name());
  for (const std::string& key : options.collections) graph.add_to_collection(key, summary);
  return summary;
}

Output add_scalar_summary(Graph& graph,
                          const std::string& name,
                          Output value,
                          const SummaryOptions& options) {
  return add_tagged_summary(graph, "tags", name, options,
                            [value](Graph& g, Output tag, const std::string& op_name) -> Output {
                              return g.op("ScalarSummary", {tag, value}).named(op_name);
                            });
}

Output add_histogram_summary(Graph& graph,
                             const std::string& name,
                             Output values,
                             const SummaryOptions& options) {
  return add_tagged_summary(graph, "tag", name, options,
                            [values](Graph& g, Output tag, const std::string& op_name) -> Output {
                              return g.op("HistogramSummary", {tag, values}).named(op_name);
                            });
}

Output merge_summaries(Graph& graph,
                       const std::vector<Output>& inputs,
                       const std::string& name,
                       const std::vector<std::string>& collections) {
  const NameScope scope(graph, name.empty() ? "Merge" : name);
  const Output merged =
      graph.op("MergeSummary", inputs).named(name.empty() ? "MergeSummary" : name);
  for (const std::string& key : collections) graph.add_to_collection(key, merged);
  return merged;
}

Output merge_all_summaries(Graph& graph,
                           const std::string& key,
                           const std::string& scope,
                           const std::string& name) {
  std::vector<Output> summaries;
  for (const CollectionItem& item : graph.collection(key, scope)) {
    if (const auto* summary = std::get_if<Output>(&item)) summaries.push_back(*summary);
  }
  return summaries.empty() ? Output() : merge_summaries(graph, summaries, name);
}

}  // namespace runhooks
