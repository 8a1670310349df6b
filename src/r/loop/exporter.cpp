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
    std::shared_ptr<CoreObject> made;
    const NewFunctions functions = collect_new_closures(
        [&] { made = factory.make("exporter", type, *args_from_r(args, owner)); });
    Rcpp::Shield<SEXP> handle(make_handle(made, kCoreObject));
    transfer_to(handle, functions);
    return handle;
  });
}

// `earlier` is an R function that maps a file pattern to a list of named lists.
// [[Rcpp::export(rng = false)]]
bool cpp_exporter_wants(SEXP exporter, Text model_dir, SEXP metrics, bool is_final, SEXP earlier) {
  return guarded_entry([&] {
    const auto made =
        std::dynamic_pointer_cast<Exporter>(from_handle<CoreObject>(exporter, kCoreObject));
    if (!made) invalid_argument("An exporter is expected.");
    EvaluationResult evaluation;
    evaluation.model_dir = model_dir;
    evaluation.metrics = args_from_r(metrics, "the metrics");
    evaluation.is_final = is_final;
    RCallable read(earlier);
    evaluation.previous_metrics = [&read](const std::string& pattern) {
      const Value found = read.call({Value::of(pattern)});
      std::vector<std::shared_ptr<Args>> all;
      const auto* list = found.get_if<std::shared_ptr<ValueList>>();
      for (const Value& one : list ? **list : ValueList()) {
        all.push_back(*one.get_if<std::shared_ptr<Args>>());
      }
      return all;
    };
    return made->should_export(evaluation);
  });
}
