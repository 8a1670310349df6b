// The input and result of model functions (tf.estimator.EstimatorSpec).
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
const char* mode_name(Mode mode);

// The result of an input function. A model with several heads uses `named_labels`, by head name.
// Other models use `labels`, which may be empty.
struct ModelInput {
  Features features;
  Output labels;
  std::map<std::string, Output> named_labels;
  // Computes the mean loss of validated labels; empty if the head computes it.
  std::function<Output(Graph&, const Output& labels)> mean_loss;
  // What the R input function returned, for custom model functions; canned models ignore it.
  std::shared_ptr<const void> r_object;
  // True if this process reads only its shard of the rows.
  bool is_shard = false;
};

template <typename T>
using Named = std::vector<std::pair<std::string, T>>;

// The outputs of one signature of an exported model (tf.estimator.export's ClassificationOutput,
// RegressionOutput and PredictOutput).
struct ExportOutput {
  enum class Kind { kClassification, kRegression, kPredict };
  Kind kind = Kind::kPredict;
  // By the signature's keys: "scores" and "classes", "outputs", or the names of predictions.
  Named<Output> outputs;
};

struct EstimatorSpec {
  Mode mode = Mode::kTrain;
  Named<Output> predictions;
  Output loss;
  Fetch train_op;
  Named<Metric> eval_metric_ops;
  Named<ExportOutput> export_outputs;  // set only in prediction mode
  HookList training_hooks, training_chief_hooks, evaluation_hooks, prediction_hooks;
  std::shared_ptr<Scaffold> scaffold;
};

// Throws unless the specification is complete for its mode and its tensors belong to the graph.
void check_spec(const EstimatorSpec& spec, const Graph& graph);

// Builds a model in the graph. Canned model functions combine heads and columns; custom ones call
// the user's R function.
using ModelFn = std::function<EstimatorSpec(Graph&, const ModelInput&, Mode)>;

class Head;

// A canned model, created from the name of its estimator ("linear_regressor") and its arguments.
// Registered by RUNHOOKS_REGISTER_CANNED (estimators/heads/head.h).
struct CannedModel {
  ModelFn model_fn;
  std::shared_ptr<Head> head;
};
CannedModel make_canned_model(const std::string& estimator, const Args& args);

}  // namespace runhooks
