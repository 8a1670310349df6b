// tf.summary: ops that create summaries, with TensorFlow's names, tags and collections.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "graph/graph.h"

namespace runhooks {

// The collection that holds the merged summary of tf.train.Scaffold.
constexpr const char* kSummaryOpCollection = "summary_op";

struct SummaryOptions {
  std::vector<std::string> collections = {collection_keys::kSummaries};
  std::string family;  // prefix of tags; TensorBoard groups by it; "" for none
};

// Derives the tag and the op name of a summary from `name`, as tf.summary does. Then calls
// `add_op`, which adds the summary. `tag_name` is the name of the constant with the tag.
using AddSummaryOp = std::function<Output(Graph&, Output tag, const std::string& name)>;
Output add_tagged_summary(Graph& graph,
                          const char* tag_name,
                          const std::string& name,
                          const SummaryOptions& options,
                          const AddSummaryOp& add_op);
// Adds a summary op called `name`; the tag is the same. Invalid characters in the name become "_".
Output add_scalar_summary(Graph& graph,
                          const std::string& name,
                          Output value,
                          const SummaryOptions& options = {});
Output add_histogram_summary(Graph& graph,
                             const std::string& name,
                             Output values,
                             const SummaryOptions& options = {});
// Sets the string output of a kernel.
void set_string_output(Tensor& out, std::string_view text);
// Merges all `inputs` into one Summary.
Output merge_summaries(Graph& graph,
                       const std::vector<Output>& inputs,
                       const std::string& name = "",
                       const std::vector<std::string>& collections = {});
// Merges the summaries in a collection; returns an invalid Output if it has none.
Output merge_all_summaries(Graph& graph,
                           const std::string& key = collection_keys::kSummaries,
                           const std::string& scope = "",
                           const std::string& name = "");

}  // namespace runhooks
