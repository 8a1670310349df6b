// What the core's factories know: what can be made, how scripts call it, and with which arguments.
#include "data/dataset.h"
#include "hooks/hook_registry.h"
#include "r/values/border.h"
#include "r/values/values.h"
#include "training/optimizer.h"

using namespace runhooks;
using namespace runhooks::r;

namespace {

template <typename T>
SEXP specs_to_r() {
  std::vector<std::string> endpoints, types, summaries, names, defaults, kinds, ranges, docs;
  for (const auto& entry : Factory<T>::instance().entries()) {
    for (const ArgSpec& spec : entry.arguments) {
      endpoints.push_back(entry.endpoint);
      types.push_back(entry.type);
      summaries.push_back(entry.summary);
      names.push_back(spec.name);
      defaults.push_back(spec.fallback);
      kinds.push_back(spec.kind);
      ranges.push_back(spec.range);
      docs.push_back(spec.doc);
    }
  }
  return Rcpp::DataFrame::create(
      Rcpp::_["endpoint"] = endpoints, Rcpp::_["type"] = types, Rcpp::_["summary"] = summaries,
      Rcpp::_["name"] = names, Rcpp::_["default"] = defaults, Rcpp::_["kind"] = kinds,
      Rcpp::_["range"] = ranges, Rcpp::_["doc"] = docs, Rcpp::_["stringsAsFactors"] = false);
}

}  // namespace

// One row an argument.
// [[Rcpp::export(rng = false)]]
SEXP cpp_specs(Text what) {
  return border([&]() -> SEXP {
    if (what == "optimizer") return specs_to_r<Optimizer>();
    if (what == "dataset") return specs_to_r<Dataset>();
    if (what == "hook") return specs_to_r<RunHook>();
    invalid_argument("There are no specifications of '", what, "'.");
  });
}
