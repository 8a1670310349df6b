// What lives here: tf.summary: operations that make summaries, named, tagged and collected as TensorFlow does it.
// Who may use it: hooks, model functions, scaffolds, the bindings.
// What it must not know: when summaries are computed and where they are written, R.
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

// A summary's tag and name as tf.summary makes them of what a script calls it: `make` adds the
// operation of this name to the graph. The tag is a constant called `tag_input`.
using MakeSummary = std::function<Output(Graph&, Output tag, const std::string& name)>;
Output add_tagged_summary(Graph& graph,
                          const char* tag_input,
                          const std::string& name,
                          const SummaryOptions& options,
                          const MakeSummary& make);
// An operation "<name>" whose value is a serialized Summary; its tag is its name. What a name of an
// operation may not have becomes "_".
Output add_scalar_summary(Graph& graph,
                          const std::string& name,
                          Output value,
                          const SummaryOptions& options = {});
Output add_histogram_summary(Graph& graph,
                             const std::string& name,
                             Output values,
                             const SummaryOptions& options = {});
// Text as the value of a kernel's output.
void set_text(Tensor& out, std::string_view text);
// All of `inputs` in one Summary.
Output merge_summaries(Graph& graph,
                       const std::vector<Output>& inputs,
                       const std::string& name = "",
                       const std::vector<std::string>& collections = {});
// All of a collection; invalid where that is empty.
Output merge_all_summaries(Graph& graph,
                           const std::string& key = collection_keys::kSummaries,
                           const std::string& scope = "",
                           const std::string& name = "");

}  // namespace runhooks
