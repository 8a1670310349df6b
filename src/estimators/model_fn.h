// What lives here: what a model function is given and what it returns (tf.estimator.EstimatorSpec).
// Who may use it: estimators, the bindings.
// What it must not know: sessions, the training loop, R.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "columns/feature_column.h"
#include "graph/factory.h"
#include "nn/metric.h"
#include "session/run_hook.h"
#include "training/scaffold.h"

namespace runhooks {

enum class Mode { kTrain, kEval, kPredict };
// "train", "eval", "infer".
const char* mode_name(Mode mode);

// What an input function returns. Canned models take features by name; `labels` may be missing.
// Models with several heads take labels by the heads' names.
struct ModelInput {
  Features features;
  Output labels;
  std::map<std::string, Output> named_labels;
  // Of a model that finds the mean loss of a head's checked labels in a way of its own; heads find it
  // themselves where there is none.
  std::function<Output(Graph&, const Output& labels)> mean_loss;
  // The same as the bindings have it, for model functions of the user; canned ones do not look.
  std::shared_ptr<const void> given;
  // Other processes have other rows.
  bool is_part = false;
};

template <typename T>
using Named = std::vector<std::pair<std::string, T>>;

// What a served model answers by one of its signatures (tf.estimator.export's ClassificationOutput,
// RegressionOutput and PredictOutput).
struct ExportOutput {
  enum class Kind { kClassification, kRegression, kPredict };
  Kind kind = Kind::kPredict;
  // By the keys of the signature: "scores" and "classes", "outputs", or those of predictions.
  Named<Output> outputs;
};

struct EstimatorSpec {
  Mode mode = Mode::kTrain;
  Named<Output> predictions;
  Output loss;
  Fetch train_op;
  Named<Metric> eval_metric_ops;
  Named<ExportOutput> export_outputs;  // in prediction
  HookList training_hooks, training_chief_hooks, evaluation_hooks, prediction_hooks;
  std::shared_ptr<Scaffold> scaffold;
};

// Throws where the mode misses a field or a field is not what it must be, or of another graph.
void check_spec(const EstimatorSpec& spec, const Graph& graph);

// Builds a model in the graph; canned ones are made of heads and columns, custom ones are functions
// of the user.
using ModelFn = std::function<EstimatorSpec(Graph&, const ModelInput&, Mode)>;

class Head;

// A canned model, made by the name of its estimator ("linear_regressor") from its arguments; its
// file registers it by RUNHOOKS_REGISTER_CANNED (estimators/head.h).
struct CannedModel {
  ModelFn model_fn;
  std::shared_ptr<Head> head;
};
CannedModel make_canned_model(const std::string& estimator, const Args& args);

}  // namespace runhooks
