// Tables of the objects that the core's factories can construct, with endpoints and arguments.
#include "columns/feature_column.h"
#include "data/dataset.h"
#include "estimators/export/exporter.h"
#include "estimators/heads/head.h"
#include "estimators/models/model_traits.h"
#include "hooks/hook_registry.h"
#include "r/values/guarded_entry.h"
#include "r/values/named_values.h"
#include "r/values/values.h"
#include "training/optimizer.h"

using namespace runhooks;
using namespace runhooks::r;

namespace {

template <typename Visit>
auto with_factory(const std::string& kind, Visit visit) {
  if (kind == "optimizer") return visit(Factory<Optimizer>::instance());
  if (kind == "dataset") return visit(Factory<Dataset>::instance());
  if (kind == "hook") return visit(Factory<RunHook>::instance());
  if (kind == "column") return visit(Factory<FeatureColumn>::instance());
  if (kind == "head") return visit(Factory<Head>::instance());
  if (kind == "exporter") return visit(Factory<Exporter>::instance());
  if (kind == "estimator") return visit(Factory<CannedModel>::instance());
  invalid_argument("'", kind, "' is not a kind of specification.");
}

class Table {
 public:
  template <typename T>
  void add(const char* name, const std::vector<T>& column) {
    columns_.push_back(Rcpp::wrap(column));
    names_.push_back(name);
  }
  SEXP frame(R_xlen_t rows) {
    columns_.names() = names_;
    columns_.attr("row.names") = Rcpp::IntegerVector::create(NA_INTEGER, -static_cast<int>(rows));
    columns_.attr("class") = "data.frame";
    return columns_;
  }

 private:
  Rcpp::List columns_;
  Rcpp::CharacterVector names_;
};

// An argument of a constructor: a row of the tables.
struct Row {
  std::string endpoint, type, summary, family, mode;
  const ArgSpec* spec;
};

SEXP rows_to_r(const std::vector<Row>& rows) {
  const auto strings = [&rows](auto get) {
    std::vector<std::string> values;
    for (const Row& row : rows) values.push_back(get(row));
    return values;
  };
  const auto flags = [&rows](auto get) {
    std::vector<bool> values;
    for (const Row& row : rows) values.push_back(get(row));
    return values;
  };
  Table table;
  table.add("endpoint", strings([](const Row& row) { return row.endpoint; }));
  table.add("type", strings([](const Row& row) { return row.type; }));
  table.add("summary", strings([](const Row& row) { return row.summary; }));
  table.add("family", strings([](const Row& row) { return row.family; }));
  table.add("mode", strings([](const Row& row) { return row.mode; }));
  table.add("name", strings([](const Row& row) { return row.spec->name; }));
  table.add("target", strings([](const Row& row) { return row.spec->target; }));
  table.add("default", strings([](const Row& row) { return row.spec->fallback; }));
  table.add("kind", strings([](const Row& row) { return row.spec->kind; }));
  table.add("wanted", strings([](const Row& row) { return describe_expected(*row.spec); }));
  table.add("range", strings([](const Row& row) { return row.spec->range; }));
  table.add("null_is_good", flags([](const Row& row) { return row.spec->allows_null; }));
  table.add("affects_checkpoints",
            flags([](const Row& row) { return row.spec->affects_checkpoints; }));
  table.add("binding_only", flags([](const Row& row) { return row.spec->is_binding_only; }));
  table.add("doc", strings([](const Row& row) { return row.spec->doc; }));
  return table.frame(static_cast<R_xlen_t>(rows.size()));
}

SEXP part_to_r(const ModelPart& part) {
  const PartOptimizer& optimizer = part.optimizer;
  return Rcpp::List::create(
      Rcpp::_["columns"] = part.has_columns ? part.columns_argument() : "",
      Rcpp::_["optimizer"] = part.has_optimizer() ? part.optimizer_argument() : "",
      Rcpp::_["is_deep"] = part.is_deep, Rcpp::_["missing"] = optimizer.default_name,
      Rcpp::_["rate"] = optimizer.rate,
      Rcpp::_["rate_falls"] = optimizer.rate_scaling == PartOptimizer::RateScaling::kAlways,
      Rcpp::_["of_formula"] = optimizer.formula_name,
      Rcpp::_["rate_of_formula"] = optimizer.formula_rate);
}

}  // namespace

// Returns a table with one row per constructor argument, of all types or of `type`. `what` is the
// kind of object, such as "hook". Arguments of estimators have a family
// ("linear", "deep", ...) and a mode ("regression", "classification"; empty if the head decides).
// "affects_checkpoints" marks arguments that must agree with the model directory.
// [[Rcpp::export(rng = false)]]
SEXP cpp_specs(Text what, Text type) {
  return guarded_entry([&]() -> SEXP {
    std::vector<Row> rows;
    with_factory(what, [&](const auto& factory) {
      for (const auto& entry : factory.entries()) {
        if (!type.empty() && entry.type != type) continue;
        Row row{entry.endpoint, entry.type, entry.summary, "", "", nullptr};
        if (what == "estimator") {
          const RegisteredModel& model = registered_model(entry.type);
          row.family = model.traits->family;
          row.mode = mode_of(model.task);
          row.summary = str_cat("A ", model.traits->description, " model.");
        }
        for (const ArgSpec& spec : entry.arguments()) {
          row.spec = &spec;
          rows.push_back(row);
        }
      }
    });
    return rows_to_r(rows);
  });
}

// Returns the public names of the constructors of a kind ("hook_x, train.XHook"), named by type.
// [[Rcpp::export(rng = false)]]
SEXP cpp_endpoints(Text what) {
  return guarded_entry([&]() -> SEXP {
    std::vector<std::pair<std::string, std::string>> endpoints;
    with_factory(what, [&](const auto& factory) {
      for (const auto& entry : factory.entries())
        endpoints.emplace_back(entry.type, entry.endpoint);
    });
    return named_strings_to_r(endpoints);
  });
}

namespace {

Rcpp::List formula_defaults_to_r(const ModelTraits& traits) {
  Rcpp::List list;
  for (const FormulaDefault& entry : traits.formula_defaults) {
    list.push_back(Rcpp::List::create(Rcpp::_["argument"] = entry.argument,
                                      Rcpp::_["value"] = entry.value,
                                      Rcpp::_["is_by_row"] = entry.is_per_row));
  }
  return list;
}

}  // namespace

// [[Rcpp::export(rng = false)]]
SEXP cpp_model_traits(Text estimator) {
  return guarded_entry([&]() -> SEXP {
    const RegisteredModel& model = registered_model(estimator);
    const ModelTraits& traits = *model.traits;
    Rcpp::List parts;
    for (const ModelPart& part : traits.parts) parts.push_back(part_to_r(part));
    return Rcpp::List::create(Rcpp::_["family"] = traits.family,
                              Rcpp::_["words"] = traits.description,
                              Rcpp::_["class"] = str_cat(traits.name, class_of(model.task)),
                              Rcpp::_["mode"] = mode_of(model.task), Rcpp::_["parts"] = parts,
                              Rcpp::_["batch_size"] = static_cast<double>(traits.batch_size),
                              Rcpp::_["steps"] = static_cast<double>(traits.steps),
                              Rcpp::_["needs_all_rows"] = traits.needs_all_rows,
                              Rcpp::_["has_coefficients"] = static_cast<bool>(traits.coefficients),
                              Rcpp::_["has_trees"] = static_cast<bool>(traits.trees),
                              Rcpp::_["formula_defaults"] = formula_defaults_to_r(traits),
                              Rcpp::_["ends_itself"] = static_cast<bool>(traits.planned_steps));
  });
}
