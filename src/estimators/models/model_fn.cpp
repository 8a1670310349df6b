#include "estimators/models/model_fn.h"

namespace runhooks {

const char* mode_name(Mode mode) {
  switch (mode) {
    case Mode::kTrain:
      return "train";
    case Mode::kEval:
      return "eval";
    default:
      return "infer";
  }
}

namespace {

void check_loss(const EstimatorSpec& spec) {
  if (!spec.loss) {
    if (spec.mode != Mode::kPredict) invalid_argument("Missing loss.");
    return;
  }
  const Shape& shape = spec.loss.shape();
  const bool is_scalar =
      !shape.has_rank() || shape.rank() == 0 || (shape.rank() == 1 && shape.dim(0) == 1);
  if (!is_scalar) {
    invalid_argument("Loss must be scalar, given: '", spec.loss.name(), "' of shape ", shape, ".");
  }
}

void check_metric_names(const EstimatorSpec& spec) {
  for (const auto& metric : spec.eval_metric_ops) {
    if (metric.first != "loss" && metric.first != "global_step") continue;
    invalid_argument(
        "Metric with name '", metric.first,
        "' is not allowed, because Estimator already defines a default metric with the same name.");
  }
}

void check_graph(const Operation* op, const std::string& field, const Graph& graph) {
  if (!op || &op->graph() == &graph) return;
  throw Error(Code::kInvalidArgument,
              str_cat(field, " '", op->name(), "' must be from the default graph."),
              {"It was created in another graph: outside of this call of the model function, or in "
               "`with(graph$as_default(), ...)` of a different graph."});
}

void check_graphs(const EstimatorSpec& spec, const Graph& graph) {
  check_graph(spec.train_op.op, "train_op", graph);
  check_graph(spec.loss.op, "loss", graph);
  for (const auto& [name, tensor] : spec.predictions) {
    check_graph(tensor.op, str_cat("predictions[", name, "]"), graph);
  }
  for (const auto& [name, metric] : spec.eval_metric_ops) {
    check_graph(metric.value.op, str_cat("eval_metric_ops[", name, "]"), graph);
    check_graph(metric.update, str_cat("eval_metric_ops[", name, "]"), graph);
  }
  for (const auto& [name, export_output] : spec.export_outputs) {
    for (const auto& output : export_output.outputs) {
      check_graph(output.second.op, str_cat("export_outputs[", name, "]"), graph);
    }
  }
}

}  // namespace

void check_spec(const EstimatorSpec& spec, const Graph& graph) {
  if (spec.mode == Mode::kTrain && !spec.train_op.op) {
    throw Error(Code::kInvalidArgument, "Missing train_op.",
                {"In training, pass the result of an optimizer's `minimize()` to "
                 "estimator_spec()."});
  }
  check_loss(spec);
  if (spec.mode == Mode::kPredict && spec.predictions.empty()) {
    invalid_argument("Missing predictions.");
  }
  check_metric_names(spec);
  check_graphs(spec, graph);
}

CannedModel make_canned_model(const std::string& estimator, const Args& args) {
  return *Factory<CannedModel>::instance().make("estimator", estimator, args);
}

}  // namespace runhooks
