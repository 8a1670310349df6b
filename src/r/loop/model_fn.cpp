#include "r/files/saver.h"
#include "r/graph/handles_of_graph.h"
#include "r/loop/loop.h"
#include "r/values/guarded_entry.h"
#include "r/values/handles.h"
#include "r/values/values.h"

namespace runhooks {
namespace r {

namespace {

Mode mode_from_r(const std::string& name) {
  for (const Mode mode : {Mode::kTrain, Mode::kEval, Mode::kPredict}) {
    if (name == mode_name(mode)) return mode;
  }
  invalid_argument("`mode` must be one of mode_keys(), not '", name, "'.");
}

Named<Output> named_tensors(SEXP list, const char* what) {
  Named<Output> tensors;
  const RList given(list, what);
  for (R_xlen_t i = 0; i < given.size(); ++i) {
    tensors.emplace_back(given.name(i), tensor_of(given[i]));
  }
  return tensors;
}

Operation* any_operation(SEXP x) { return is_operation(x) ? operation_of(x) : tensor_of(x).op; }

Named<Metric> metrics_from_r(SEXP list) {
  Named<Metric> metrics;
  const RList given(list, "`eval_metric_ops`");
  for (R_xlen_t i = 0; i < given.size(); ++i) {
    const RList pair(given[i], "a metric");
    Metric metric;
    metric.value = tensor_of(pair[0]);
    metric.update = any_operation(pair[1]);
    metrics.emplace_back(given.name(i), metric);
  }
  return metrics;
}

Named<ExportOutput> export_outputs_from_r(SEXP list) {
  Named<ExportOutput> all;
  const RList given(list, "`export_outputs`");
  for (R_xlen_t i = 0; i < given.size(); ++i) {
    const RList answer(given[i], "an export output");
    const std::string kind = string_from_r(answer.find("kind"));
    ExportOutput output;
    if (kind == "ClassificationOutput") output.kind = ExportOutput::Kind::kClassification;
    if (kind == "RegressionOutput") output.kind = ExportOutput::Kind::kRegression;
    output.outputs = named_tensors(answer.find("outputs"), "an export output");
    all.emplace_back(given.name(i), std::move(output));
  }
  return all;
}

EstimatorSpec estimator_spec_from_r(SEXP fields) {
  const RList given(fields, "a specification");
  EstimatorSpec spec;
  spec.mode = mode_from_r(string_from_r(given.find("mode")));
  spec.predictions = named_tensors(given.find("predictions"), "`predictions`");
  SEXP loss = given.find("loss"), train_op = given.find("train_op");
  if (loss != R_NilValue) spec.loss = tensor_of(loss);
  if (is_operation(train_op)) {
    spec.train_op = Fetch(operation_of(train_op));
  } else if (train_op != R_NilValue) {
    spec.train_op = Fetch(tensor_of(train_op));
  }
  spec.eval_metric_ops = metrics_from_r(given.find("eval_metric_ops"));
  spec.export_outputs = export_outputs_from_r(given.find("export_outputs"));
  spec.training_hooks = hooks_from_r(given.find("training_hooks"));
  spec.training_chief_hooks = hooks_from_r(given.find("training_chief_hooks"));
  spec.evaluation_hooks = hooks_from_r(given.find("evaluation_hooks"));
  spec.prediction_hooks = hooks_from_r(given.find("prediction_hooks"));
  spec.scaffold = scaffold_of(given.find("scaffold"));
  return spec;
}

}  // namespace

ModelFn custom_model_from_r(const RFunctionPtr& function) {
  return [function](Graph& graph, const ModelInput& input, Mode mode) {
    DefaultGraph scope(graph.shared_from_this());
    const auto given = std::static_pointer_cast<const Preserved>(input.r_object);
    Rcpp::Shield<SEXP> name(text_to_r(mode_name(mode)));
    Rcpp::Shield<SEXP> call(Rf_lang3(function->get(), given->get(), name));
    Rcpp::Shield<SEXP> result(eval_r(call, R_GlobalEnv));
    return estimator_spec_from_r(result);
  };
}

}  // namespace r
}  // namespace runhooks

using namespace runhooks;
using namespace runhooks::r;

// [[Rcpp::export(rng = false)]]
void cpp_estimator_spec_check(SEXP fields) {
  guarded_entry([&] { check_spec(estimator_spec_from_r(fields), *default_graph()); });
}
