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

Named<Output> named_tensors(SEXP list, const char* label) {
  Named<Output> tensors;
  const RList elements(list, label);
  for (R_xlen_t i = 0; i < elements.size(); ++i) {
    tensors.emplace_back(elements.name(i), tensor_of(elements[i]));
  }
  return tensors;
}

Operation* any_operation(SEXP x) { return is_operation(x) ? operation_of(x) : tensor_of(x).op; }

Named<Metric> metrics_from_r(SEXP list) {
  Named<Metric> metrics;
  const RList elements(list, "`eval_metric_ops`");
  for (R_xlen_t i = 0; i < elements.size(); ++i) {
    const RList pair(elements[i], "a metric");
    Metric metric;
    metric.value = tensor_of(pair[0]);
    metric.update = any_operation(pair[1]);
    metrics.emplace_back(elements.name(i), metric);
  }
  return metrics;
}

Named<ExportOutput> export_outputs_from_r(SEXP list) {
  Named<ExportOutput> list_of_outputs;
  const RList elements(list, "`export_outputs`");
  for (R_xlen_t i = 0; i < elements.size(); ++i) {
    const RList element(elements[i], "an export output");
    const std::string kind = string_from_r(element.find("kind"));
    ExportOutput output;
    if (kind == "ClassificationOutput") output.kind = ExportOutput::Kind::kClassification;
    if (kind == "RegressionOutput") output.kind = ExportOutput::Kind::kRegression;
    output.outputs = named_tensors(element.find("outputs"), "an export output");
    list_of_outputs.emplace_back(elements.name(i), std::move(output));
  }
  return list_of_outputs;
}

EstimatorSpec estimator_spec_from_r(SEXP fields) {
  const RList field_list(fields, "a specification");
  EstimatorSpec spec;
  spec.mode = mode_from_r(string_from_r(field_list.find("mode")));
  spec.predictions = named_tensors(field_list.find("predictions"), "`predictions`");
  SEXP loss = field_list.find("loss"), train_op = field_list.find("train_op");
  if (loss != R_NilValue) spec.loss = tensor_of(loss);
  if (is_operation(train_op)) {
    spec.train_op = Fetch(operation_of(train_op));
  } else if (train_op != R_NilValue) {
    spec.train_op = Fetch(tensor_of(train_op));
  }
  spec.eval_metric_ops = metrics_from_r(field_list.find("eval_metric_ops"));
  spec.export_outputs = export_outputs_from_r(field_list.find("export_outputs"));
  spec.training_hooks = hooks_from_r(field_list.find("training_hooks"));
  spec.training_chief_hooks = hooks_from_r(field_list.find("training_chief_hooks"));
  spec.evaluation_hooks = hooks_from_r(field_list.find("evaluation_hooks"));
  spec.prediction_hooks = hooks_from_r(field_list.find("prediction_hooks"));
  spec.scaffold = scaffold_of(field_list.find("scaffold"));
  return spec;
}

}  // namespace

ModelFn custom_model_from_r(const RFunctionPtr& function) {
  return [function](Graph& graph, const ModelInput& input, Mode mode) {
    DefaultGraph scope(graph.shared_from_this());
    const auto r_input = std::static_pointer_cast<const Preserved>(input.r_object);
    Rcpp::Shield<SEXP> name(text_to_r(mode_name(mode)));
    Rcpp::Shield<SEXP> result(call_r_function(function->get(), {r_input->get(), name}));
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
