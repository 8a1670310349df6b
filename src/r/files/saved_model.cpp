#include <algorithm>

#include "estimators/export/export.h"
#include "estimators/export/export_folder.h"
#include "r/data/example.h"
#include "r/files/served_rows.h"
#include "r/graph/handles_of_graph.h"
#include "r/loop/loop.h"
#include "r/values/guarded_entry.h"
#include "r/values/named_values.h"

namespace runhooks {
namespace r {

namespace {

const HandleKind kLoadedModel("runhooks_loaded_model");

// The R function `build` returns list(input, receivers): features as from an input function, and
// the named list of tensors that a request feeds.
ReceiverFn receiver_fn_from_r(SEXP build) {
  auto function = std::make_shared<Preserved>(function_from_r(build, "the serving input receiver"));
  return [function](Graph& graph) -> ServingReceiver {
    DefaultGraph scope(graph.shared_from_this());
    Rcpp::Shield<SEXP> result(call_r_function(function->get()));
    const RList parts(result, "a serving input receiver");
    ServingReceiver receiver;
    receiver.input = model_input_from_r(parts.find("input"));
    const RList tensors(parts.find("receivers"), "the receiver tensors");
    for (R_xlen_t i = 0; i < tensors.size(); ++i) {
      receiver.receivers.emplace_back(tensors.name(i), feature_from_r(tensors[i]));
    }
    return receiver;
  };
}

SEXP tensor_info_to_r(const TensorInfo& info) {
  Rcpp::RObject shape = R_NilValue;
  if (info.shape && info.shape->has_rank()) {
    Rcpp::IntegerVector dims(info.shape->rank());
    for (int d = 0; d < info.shape->rank(); ++d) {
      const int64_t dim = info.shape->dim(d);
      dims[d] = dim < 0 ? NA_INTEGER : static_cast<int>(dim);
    }
    shape = dims;
  }
  return Rcpp::List::create(Rcpp::_["name"] = info.name, Rcpp::_["dtype"] = dtype_name(info.dtype),
                            Rcpp::_["shape"] = shape);
}

SEXP features_to_r(const std::vector<ExampleFeature>& features) {
  std::vector<std::pair<std::string, std::string>> dtypes;
  for (const ExampleFeature& feature : features)
    dtypes.emplace_back(feature.key, dtype_name(feature.dtype));
  return named_strings_to_r(dtypes);
}

SEXP signature_to_r(const LoadedModel& model, const std::string& name) {
  const SignatureDef& def = model.signatures().at(name);
  std::string problem;
  Rcpp::RObject features = R_NilValue;
  try {
    features = features_to_r(model.example_features(name));
  } catch (const Error& error) {
    problem = error.message();
  }
  Rcpp::Shield<SEXP> inputs(named_values_to_r(def.inputs, tensor_info_to_r));
  Rcpp::Shield<SEXP> outputs(named_values_to_r(def.outputs, tensor_info_to_r));
  return Rcpp::List::create(Rcpp::_["inputs"] = inputs, Rcpp::_["outputs"] = outputs,
                            Rcpp::_["method_name"] = def.method_name,
                            Rcpp::_["example_features"] = features, Rcpp::_["problem"] = problem);
}

Tensor feature_tensor_from_r(SEXP x, const std::string& name, DType dtype) {
  try {
    return rows_from_r(x, dtype);
  } catch (const Error& error) {
    throw Error(error.code(), str_cat("Input '", name, "': ", error.message()), error.hints());
  }
}

// Converts a data column to an input of a signature: shape [rows], or the rank of the input.
Tensor signature_input(SEXP x, const std::string& name, const TensorInfo& info) {
  const bool is_double = TYPEOF(x) == REALSXP;
  for (R_xlen_t i = 0; is_double && i < Rf_xlength(x); ++i) {
    if (!ISNAN(REAL(x)[i])) continue;
    invalid_argument("Input '", name, "' has NA or NaN (element ", static_cast<int64_t>(i + 1),
                     "); the model requires numbers.");
  }
  Tensor tensor = feature_tensor_from_r(x, name, info.dtype);
  if (!info.shape || !info.shape->has_rank()) return tensor;
  const int rank = info.shape->rank();
  Shape shape = tensor.shape();
  if (shape.rank() == 1 && rank == 0 && shape.dim(0) == 1) return tensor.reshaped(Shape());
  while (shape.rank() < rank) shape.append(1);
  if (!info.shape->is_compatible_with(shape)) {
    invalid_argument("Input '", name, "' must have shape ", *info.shape, "; the data have ",
                     tensor.shape(), ".");
  }
  return tensor.reshaped(shape);
}

std::vector<Tensor> inputs_from_r(const LoadedModel& model, const std::string& name, SEXP data) {
  const SignatureDef& signature = model.signature(name);
  const std::vector<ExampleFeature>& features = model.example_features(name);
  const bool has_names = Rf_getAttrib(data, R_NamesSymbol) != R_NilValue;
  const bool has_single_input = signature.inputs.size() == 1;
  if (has_single_input && !has_names && signature.inputs.begin()->second.dtype == DType::kString) {
    const std::vector<std::string> strings = bytes_from_r(data, "the examples");
    return {Tensor::strings(Shape{static_cast<int64_t>(strings.size())}, strings)};
  }
  const RList columns(data, "the data");
  if (!has_names) {
    invalid_argument("The data must be a data frame or a named list, since signature '", name,
                     "' takes inputs by name.");
  }
  const bool has_input_column =
      has_single_input && columns.find(signature.inputs.begin()->first.c_str()) != R_NilValue;
  if (!features.empty() && !has_input_column) {
    const std::vector<std::string> examples = examples_from_r(data, features);
    return {Tensor::strings(Shape{static_cast<int64_t>(examples.size())}, examples)};
  }
  std::vector<Tensor> inputs;
  std::vector<std::string> missing;
  for (const auto& [key, info] : signature.inputs) {
    SEXP x = columns.find(key.c_str());
    if (x == R_NilValue) {
      missing.push_back(key);
    } else {
      inputs.push_back(signature_input(x, key, info));
    }
  }
  if (missing.empty()) return inputs;
  std::vector<std::string> names;
  for (R_xlen_t i = 0; i < columns.size(); ++i) names.push_back(columns.name(i));
  throw Error(Code::kNotFound,
              str_cat("Inputs of signature '", name,
                      "' are missing from the data: ", str_join(missing, ", "), "."),
              {names.empty() ? "The data have no columns."
                             : str_cat("The data have: ", str_join(names, ", "), ".")});
}

// Whether the core can convert the column. R code first converts other columns, such as factors,
// dates and lists.
bool is_plain_column(SEXP x) {
  const int type = TYPEOF(x);
  return !Rf_isObject(x) && (type == REALSXP || type == INTSXP || type == LGLSXP || type == STRSXP);
}

bool has_plain_columns(SEXP data) {
  const bool is_frame = Rf_inherits(data, "data.frame") && !Rf_isS4(data);
  const bool is_list = TYPEOF(data) == VECSXP && (is_frame || !Rf_isObject(data));
  if (!is_list || Rf_getAttrib(data, R_NamesSymbol) == R_NilValue) return false;
  if (Rf_getAttrib(data, R_DimSymbol) != R_NilValue) return false;
  for (R_xlen_t i = 0; i < Rf_xlength(data); ++i) {
    if (!is_plain_column(VECTOR_ELT(data, i))) return false;
  }
  return true;
}

}  // namespace

}  // namespace r
}  // namespace runhooks

using namespace runhooks;
using namespace runhooks::r;

// [[Rcpp::export(rng = false)]]
void cpp_estimator_export(SEXP spec,
                          SEXP config,
                          SEXP receiver_fn,
                          Text folder,
                          Text checkpoint_path,
                          bool as_text,
                          bool strip_default_attrs,
                          SEXP assets_extra) {
  guarded_entry([&] {
    const Estimator estimator = estimator_from_r(spec, config);
    ExportOptions options;
    options.checkpoint_path = checkpoint_path;
    options.as_text = as_text;
    options.strip_default_attrs = strip_default_attrs;
    const RList extra(assets_extra, "`assets_extra`");
    for (R_xlen_t i = 0; i < extra.size(); ++i) {
      options.assets_extra.emplace_back(extra.name(i), string_from_r(extra[i]));
    }
    estimator.export_saved_model(receiver_fn_from_r(receiver_fn), options, folder);
  });
}

// Returns the temporary directory of an export to `folder`, or to a version in it.
// [[Rcpp::export(rng = false)]]
std::string cpp_unfinished_export(Text folder, bool versioned) {
  return guarded_entry(
      [&] { return versioned ? unfinished_version(folder) : unfinished_export(folder); });
}

// Moves a finished export to its final path and returns it.
// [[Rcpp::export(rng = false)]]
std::string cpp_publish_export(Text from, Text folder, bool versioned) {
  return guarded_entry([&]() -> std::string {
    if (versioned) return publish_version(from, folder);
    publish_export(from, folder);
    return folder;
  });
}

// [[Rcpp::export(rng = false)]]
void cpp_remove_old_exports(Text folder, double keep) {
  guarded_entry([&] { remove_old_versions(folder, static_cast<size_t>(std::min(keep, 1e9))); });
}

// [[Rcpp::export(rng = false)]]
SEXP cpp_load_savedmodel(Text folder, Texts tags) {
  return guarded_entry([&]() -> SEXP {
    return make_handle(std::make_shared<LoadedModel>(folder, tags), kLoadedModel);
  });
}

// [[Rcpp::export(rng = false)]]
SEXP cpp_loaded_signatures(SEXP model) {
  return guarded_entry([&]() -> SEXP {
    const auto& loaded = from_handle<LoadedModel>(model, kLoadedModel);
    Rcpp::List all;
    for (const auto& entry : loaded->signatures()) {
      // Skips signatures that initialize the model, because users do not call them.
      if (entry.first.rfind("__saved_model_", 0) == 0) continue;
      Rcpp::Shield<SEXP> signature(signature_to_r(*loaded, entry.first));
      all.push_back(SEXP(signature), entry.first);
    }
    return all;
  });
}

// Runs a signature on `data`. Returns the outputs as a table or as a list per row; NULL if R code
// must convert the data first.
// [[Rcpp::export(rng = false)]]
SEXP cpp_loaded_predict(SEXP model, Text signature, SEXP data, bool as_table, bool is_prepared) {
  return guarded_entry([&]() -> SEXP {
    const auto& loaded = from_handle<LoadedModel>(model, kLoadedModel);
    if (!is_prepared && !has_plain_columns(data)) return R_NilValue;
    const std::vector<Tensor> values =
        loaded->run(signature, inputs_from_r(*loaded, signature, data));
    const auto& outputs = loaded->signatures().at(signature).outputs;
    size_t next = 0;
    Rcpp::Shield<SEXP> list(
        named_values_to_r(outputs, [&](const TensorInfo&) { return tensor_to_r(values[next++]); }));
    return as_table ? served_table(list) : served_lists(list);
  });
}
