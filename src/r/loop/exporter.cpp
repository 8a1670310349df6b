#include "estimators/export/exporter.h"

#include "r/values/guarded_entry.h"
#include "r/values/handles.h"
#include "r/values/values.h"

using namespace runhooks;
using namespace runhooks::r;

// [[Rcpp::export(rng = false)]]
SEXP cpp_exporter(Text type, SEXP args, Text owner) {
  return guarded_entry([&]() -> SEXP {
    const auto& factory = Factory<Exporter>::instance();
    std::shared_ptr<CoreObject> exporter;
    const NewFunctions functions = collect_new_closures(
        [&] { exporter = factory.make("exporter", type, *args_from_r(args, owner)); });
    Rcpp::Shield<SEXP> handle(make_handle(exporter, kCoreObject));
    transfer_to(handle, functions);
    return handle;
  });
}

// `earlier` is an R function of a file pattern. It returns the metrics of previous evaluations, a
// list of named lists.
// [[Rcpp::export(rng = false)]]
bool cpp_exporter_should_export(SEXP exporter, Text model_dir, SEXP metrics, bool is_final, SEXP earlier) {
  return guarded_entry([&] {
    const auto core_exporter =
        std::dynamic_pointer_cast<Exporter>(from_handle<CoreObject>(exporter, kCoreObject));
    if (!core_exporter) invalid_argument("An exporter is expected.");
    EvaluationResult evaluation;
    evaluation.model_dir = model_dir;
    evaluation.metrics = args_from_r(metrics, "the metrics");
    evaluation.is_final = is_final;
    RCallable read_metrics(earlier);
    evaluation.previous_metrics = [&read_metrics](const std::string& pattern) {
      const Value result = read_metrics.call({Value::of(pattern)});
      std::vector<std::shared_ptr<Args>> metrics_list;
      const auto* list = result.get_if<std::shared_ptr<ValueList>>();
      for (const Value& element : list ? **list : ValueList()) {
        metrics_list.push_back(*element.get_if<std::shared_ptr<Args>>());
      }
      return metrics_list;
    };
    return core_exporter->should_export(evaluation);
  });
}
