// Saves summaries once when a loop ends normally (tf.contrib.training.SummaryAtEndHook).
#include "hooks/hook_registry.h"
#include "hooks/run_at_end.h"
#include "training/summary_writer.h"

namespace runhooks {

namespace {

class SummaryAtEndHook : public RunHook {
 public:
  explicit SummaryAtEndHook(const Args& args) : args_(args) {
    if (!args.has("log_dir")) {
      invalid_argument("One of log_dir or summary_writer should be used.");
    }
  }
  std::string name() const override { return "SummaryAtEndHook"; }
  bool is_for_chief() const override { return true; }

  void begin(Graph& graph) override {
    step_ = global_step(graph);
    writer_ = summary_writer(args_.text("log_dir"), graph);
  }
  void end(Session& session) override {
    std::string merged;  // concatenated protobuf messages are one merged message
    for (const Tensor& summary : run_at_end(session, name(), summary_fetches(session.graph()))) {
      for (int64_t k = 0; k < summary.num_elements(); ++k) merged += summary.string_at(k);
    }
    // Like TensorFlow's hook, works without a global step.
    const int64_t step = step_ ? *session.value(*step_).data<int64_t>() : 0;
    if (!merged.empty()) writer_->add_serialized_summary(merged, step);
    writer_.reset();
  }
  void on_error(Session*, const LoopFailure&) override { writer_.reset(); }

 private:
  std::vector<Fetch> summary_fetches(Graph& graph) const {
    std::vector<Fetch> fetches;
    for (const Value& op : values_of(args_.find("summary_op"))) {
      fetches.emplace_back(tensor_argument(graph, op));
    }
    if (args_.has("summary_op")) return fetches;
    for (const CollectionItem& item : graph.collection(collection_keys::kSummaries)) {
      if (const auto* summary = std::get_if<Output>(&item)) fetches.emplace_back(*summary);
    }
    return fetches;
  }

  Args args_;
  VariablePtr step_;
  std::shared_ptr<EventFileWriter> writer_;
};

}  // namespace

RUNHOOKS_REGISTER_HOOK(
    SummaryAtEndHook,
    "hook_summary_at_end, contrib.training.SummaryAtEndHook",
    {"log_dir = NULL: path. Directory of the event file.",
     "summary_writer = NULL: unsupported. Not supported: use `log_dir`.",
     "summary_op = NULL: summaries. The summaries to save: a tensor of `tf$summary`, the name of "
     "one, or a list of these. Default: all summaries of the graph.",
     "feed_dict = NULL: unsupported. Not supported."});

}  // namespace runhooks
