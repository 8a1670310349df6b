// Several heads on the same features (tf.estimator.MultiHead). The logits are concatenated; the
// loss is the weighted sum of the heads' losses.
#include <cmath>

#include "base/suggestions.h"
#include "estimators/heads/head.h"
#include "nn/metric.h"
#include "nn/summary_ops.h"

namespace runhooks {

namespace {

class MultiHead : public Head {
 public:
  explicit MultiHead(const Args& args) {
    for (const Value& spec : args.list("heads")) {
      const auto* head_args = spec.get_if<std::shared_ptr<Args>>();
      if (!head_args) invalid_argument("`heads` must be a list of heads.");
      heads_.push_back(make_head((*head_args)->text("type"), **head_args));
      if (heads_.back()->name().empty()) invalid_argument("All given heads must have a name.");
    }
    weights_.assign(heads_.size(), 1);
    if (args.has("head_weights")) weights_ = args.numbers("head_weights");
    if (weights_.size() != heads_.size()) {
      invalid_argument("There must be as many `head_weights` as heads; got ", weights_.size(),
                       " and ", heads_.size(), ".");
    }
    for (const double weight : weights_) {
      if (!std::isfinite(weight)) {
        invalid_argument("`head_weights` must be finite numbers, not ", weight, ".");
      }
    }
  }
  const std::string& name() const override { return name_; }
  LabelSpec labels() const override {
    LabelSpec labels;
    labels.is_by_head = true;
    return labels;
  }
  std::vector<FeatureRead> reads() const override {
    std::vector<FeatureRead> all;
    for (const auto& head : heads_) {
      for (const FeatureRead& read : head->reads()) all.push_back(read);
    }
    return all;
  }
  int64_t logits_dimension() const override {
    int64_t sum = 0;
    for (const auto& head : heads_) sum += head->logits_dimension();
    return sum;
  }

  HeadParts parts(Graph& graph, const ModelInput& input, Mode mode, Output logits) const override {
    HeadParts all;
    std::vector<Output> losses;
    int64_t first = 0;
    for (size_t i = 0; i < heads_.size(); ++i) {
      const std::string& name = heads_[i]->name();
      NameScope scope(graph, name);
      const Output head_logits = slice_logits(graph, logits, first, heads_[i]->logits_dimension());
      first += heads_[i]->logits_dimension();
      HeadParts head_parts =
          heads_[i]->parts(graph, head_input(input, name, mode), mode, head_logits);
      for (auto& prediction : head_parts.predictions) {
        all.predictions.emplace_back(name + "/" + prediction.first, prediction.second);
      }
      for (auto& signature : head_parts.export_outputs) {
        add_signature(i == 0, name, signature, &all.export_outputs);
      }
      for (auto& metric : head_parts.metrics) all.metrics.push_back(std::move(metric));
      if (mode == Mode::kPredict) continue;
      if (mode == Mode::kEval) {
        all.metrics.emplace_back("loss/" + name,
                                 mean_metric(graph, head_parts.loss, Output(), "loss"));
      } else {
        summarize_loss(graph, name, head_parts.loss);
      }
      losses.push_back(weighted(graph, head_parts.loss, weights_[i]));
    }
    if (mode == Mode::kPredict) {
      all.export_outputs.push_back({"predict", {ExportOutput::Kind::kPredict, all.predictions}});
    }
    if (!losses.empty()) all.loss = graph.op("AddN", losses).named("merged_loss");
    return all;
  }

  EstimatorSpec create_estimator_spec(Graph& graph,
                                      const ModelInput& input,
                                      Mode mode,
                                      Output logits,
                                      const TrainOpFn& train_op) const override {
    NameScope scope(graph, "multi_head");
    HeadParts merged = parts(graph, input, mode, logits);
    return finish_spec(graph, mode, std::move(merged), *this, train_op, heads_.size());
  }

 private:
  // Adds a signature of a head. The default signature of the model is that of the first head. The
  // default signatures of all heads are also exported under the names of the heads.
  static void add_signature(bool is_first,
                            const std::string& head,
                            const std::pair<std::string, ExportOutput>& signature,
                            Named<ExportOutput>* all) {
    const bool is_default = signature.first == kDefaultSignature;
    if (is_default && is_first) all->push_back(signature);
    all->emplace_back(is_default ? head : head + "/" + signature.first, signature.second);
  }
  static void summarize_loss(Graph& graph, const std::string& name, Output loss) {
    const NameScope root(graph, "");
    add_scalar_summary(graph, "loss/" + name, loss);
  }
  static Output slice_logits(Graph& graph, Output logits, int64_t first, int64_t width) {
    const Output begin = graph.int_vector({0, static_cast<int32_t>(first)}, "begin");
    const Output size = graph.int_vector({-1, static_cast<int32_t>(width)}, "size");
    return graph.op("Slice", {logits, begin, size}).named("logits");
  }
  static ModelInput head_input(const ModelInput& input, const std::string& name, Mode mode) {
    ModelInput selected;
    selected.features = input.features;
    if (mode == Mode::kPredict) return selected;
    const auto found = input.named_labels.find(name);
    if (found == input.named_labels.end()) {
      std::vector<std::string> names;
      for (const auto& labels : input.named_labels) names.push_back(labels.first);
      std::vector<std::string> hints = did_you_mean(name, names);
      hints.push_back(
          str_cat("The input function must return a list of labels named by head; it has: ",
                  names.empty() ? "none" : str_join(names, ", "), "."));
      throw Error(Code::kNotFound, str_cat("There are no labels for head '", name, "'."), hints);
    }
    selected.labels = found->second;
    return selected;
  }
  static Output weighted(Graph& graph, Output loss, double weight) {
    if (weight == 1) return loss;
    return graph.op("Mul", {loss, graph.scalar(loss.dtype(), weight, "head_weight")});
  }

  std::string name_;
  std::vector<std::shared_ptr<Head>> heads_;
  std::vector<double> weights_;
};

}  // namespace

RUNHOOKS_REGISTER_HEAD(
    "multi_head",
    MultiHead,
    "Several named heads, each with its own labels: the input function returns a list of labels "
    "named by head. The logits of the heads are concatenated.",
    "heads: heads; kept. A list of named heads.",
    "head_weights = NULL: vector; kept. The weight of each head's loss. `NULL`: equal weights.");

}  // namespace runhooks
