// tf.summary: ops that create summaries, with TensorFlow's names, tags and collections.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "graph/graph.h"

namespace runhooks {

// The collection of the summary that a scaffold computes.
constexpr const char* kSummaryOpCollection = "summary_op";

struct SummaryOptions {
  std::vector<std::string> collections = {collection_keys::kSummaries};
  std::string family;  // groups tags in TensorBoard; "": none
};

// Derives a summary's tag and op name from the name in the script, as tf.summary does. `make` adds
// the op; `tag_input` names the tag constant.
using MakeSummary = std::function<Output(Graph&, Output tag, const std::string& name)>;
Output add_tagged_summary(Graph& graph,
                          const char* tag_input,
                          const std::string& name,
                          const SummaryOptions& options,
                          const MakeSummary& make);
// Adds op "<name>", whose value is a serialized Summary tagged with its name. Invalid characters in
// the name become "_".
Output add_scalar_summary(Graph& graph,
                          const std::string& name,
                          Output value,
                          const SummaryOptions& options = {});
Output add_histogram_summary(Graph& graph,
                             const std::string& name,
                             Output values,
                             const SummaryOptions& options = {});
// Stores text as a kernel's output.
void set_text(Tensor& out, std::string_view text);
// Merges all `inputs` into one Summary.
Output merge_summaries(Graph& graph,
                       const std::vector<Output>& inputs,
                       const std::string& name = "",
                       const std::vector<std::string>& collections = {});
// Merges a collection; invalid if it is empty.
Output merge_all_summaries(Graph& graph,
                           const std::string& key = collection_keys::kSummaries,
                           const std::string& scope = "",
                           const std::string& name = "");

}  // namespace runhooks
