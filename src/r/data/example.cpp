// tf.Example in R: serialization, TFRecord files and parsing ops.
#include "r/data/example.h"

#include <cmath>
#include <limits>

#include "base/log.h"
#include "io/files/record.h"
#include "io/formats/example.h"
#include "nn/parse_functions.h"
#include "r/graph/handles_of_graph.h"
#include "r/values/classed.h"
#include "r/values/guarded_entry.h"
#include "r/values/named_values.h"
#include "r/values/values.h"

namespace runhooks {
namespace r {

namespace {

bool is_factor(SEXP x) { return Rf_inherits(x, "factor"); }

void check_class(SEXP x, const std::string& key) {
  if (is_factor(x)) return;
  const std::string name = holds_integer64(x) ? "integer64" : coded_number_class(x);
  if (name.empty()) return;
  throw Error(Code::kInvalidArgument,
              str_cat("Column '", key, "' is of class ", name, ", which examples cannot store."),
              {"Convert it to numbers or strings."});
}

// The values of a feature in one row, all of one type, and the number of missing values.
struct RowValues {
  std::vector<float> floats;
  std::vector<int64_t> ints;
  std::vector<std::string> texts;
  size_t missing = 0;
  size_t size() const { return floats.size() + ints.size() + texts.size(); }
  void clear() {
    floats.clear();
    ints.clear();
    texts.clear();
    missing = 0;
  }
};

// Converts a column of R data to a feature of examples.
class Column {
 public:
  Column(SEXP x, ExampleFeature feature) : x_(x), feature_(std::move(feature)) {
    check_class(x, feature_.key);
    SEXP dim = Rf_getAttrib(x, R_DimSymbol);
    const bool is_matrix = Rf_xlength(dim) == 2;
    rows_ = is_matrix ? INTEGER(dim)[0] : Rf_xlength(x);
    width_ = is_matrix ? INTEGER(dim)[1] : 1;
    const bool is_supported = TYPEOF(x) == VECSXP || TYPEOF(x) == REALSXP || TYPEOF(x) == INTSXP ||
                              TYPEOF(x) == LGLSXP || TYPEOF(x) == STRSXP;
    if (!is_supported || Rf_xlength(dim) > 2 || Rf_inherits(x, "data.frame")) {
      invalid_argument("Column '", feature_.key,
                       "' must be numbers, strings, logicals, a factor, a ",
                       "matrix or a list of these, not ", kind_in_words(x), ".");
    }
  }
  R_xlen_t rows() const { return rows_; }
  const ExampleFeature& feature() const { return feature_; }

  // Adds the feature to the example of a row, unless it has no values.
  void add(R_xlen_t row, ExampleWriter& writer) {
    values_.clear();
    if (TYPEOF(x_) == VECSXP) {
      append_cell(VECTOR_ELT(x_, row), row);
    } else {
      for (R_xlen_t k = 0; k < width_; ++k) append(x_, row + k * rows_, row);
    }
    check(row);
    if (values_.size() == 0) return;
    if (feature_.dtype == DType::kFloat32) writer.add_floats(feature_.key, values_.floats);
    if (feature_.dtype == DType::kInt64) writer.add_ints(feature_.key, values_.ints);
    if (feature_.dtype == DType::kString) {
      writer.add_bytes(feature_.key, {values_.texts.begin(), values_.texts.end()});
    }
  }

 private:
  void check(R_xlen_t row) const {
    if (!feature_.is_dense) return;
    const auto required = static_cast<size_t>(feature_.row_size);
    if (values_.size() == required) return;
    if (values_.size() == 0 && !feature_.is_required) return;
    if (values_.missing > 0) {
      invalid_argument("Row ", row + 1, " has NA in '", feature_.key, "', which is required.");
    }
    invalid_argument("Row ", row + 1, " has ", values_.size(), " values in '", feature_.key,
                     "', but the model requires ", feature_.row_size, ".");
  }
  void append_cell(SEXP cell, R_xlen_t row) {
    if (TYPEOF(cell) == RAWSXP) {
      if (feature_.dtype != DType::kString) throw_type_error(cell, row);
      values_.texts.emplace_back(raw_bytes(cell));
      return;
    }
    check_class(cell, feature_.key);
    for (R_xlen_t i = 0; i < Rf_xlength(cell); ++i) append(cell, i, row);
  }
  [[noreturn]] void throw_type_error(SEXP x, R_xlen_t row) const {
    throw Error(
        Code::kInvalidArgument,
        str_cat("Column '", feature_.key, "' must be ", dtype_name(feature_.dtype), "; row ",
                row + 1, " is of type ", is_factor(x) ? "factor" : Rf_type2char(TYPEOF(x)), "."));
  }
  void append(SEXP x, R_xlen_t i, R_xlen_t row) {
    if (TYPEOF(x) == STRSXP || is_factor(x)) {
      if (feature_.dtype != DType::kString) throw_type_error(x, row);
      append_text(x, i);
      return;
    }
    if (feature_.dtype == DType::kString) throw_type_error(x, row);
    if (TYPEOF(x) == REALSXP) {
      append_number(REAL(x)[i], ISNAN(REAL(x)[i]), row);
    } else if (TYPEOF(x) == INTSXP || TYPEOF(x) == LGLSXP) {
      const int value = TYPEOF(x) == INTSXP ? INTEGER(x)[i] : LOGICAL(x)[i];
      append_number(value, value == NA_INTEGER, row);
    } else {
      throw_type_error(x, row);
    }
  }
  void append_text(SEXP x, R_xlen_t i) {
    SEXP element = NA_STRING;
    if (TYPEOF(x) == STRSXP) {
      element = STRING_ELT(x, i);
    } else {
      SEXP levels = Rf_getAttrib(x, R_LevelsSymbol);
      const int level = INTEGER(x)[i];
      const bool is_valid_level = level != NA_INTEGER && level >= 1 && level <= Rf_xlength(levels);
      if (is_valid_level && TYPEOF(levels) == STRSXP) element = STRING_ELT(levels, level - 1);
    }
    if (element == NA_STRING) {
      ++values_.missing;
      return;
    }
    const std::string_view text = utf8_or_bytes_of(element);
    if (drops_missing() && text.empty()) return;
    values_.texts.emplace_back(text);
  }
  void append_number(double x, bool is_missing, R_xlen_t row) {
    if (is_missing) {
      ++values_.missing;
      return;
    }
    if (feature_.dtype == DType::kFloat32) {
      const auto value = static_cast<float>(x);
      if (std::isinf(value) && !std::isinf(x)) {
        invalid_argument("Column '", feature_.key, "', row ", row + 1, ": ", x,
                         " is too large for float32.");
      }
      values_.floats.push_back(value);
      return;
    }
    const bool is_whole = std::floor(x) == x && std::fabs(x) <= 9007199254740992.0;
    if (!is_whole) {
      invalid_argument("Column '", feature_.key, "' must be int64; row ", row + 1, " is ", x, ".");
    }
    const auto value = static_cast<int64_t>(x);
    if (drops_missing() && value == -1) return;
    values_.ints.push_back(value);
  }
  // Whether to omit missing values, also "" and -1. Dense features and data files keep them.
  bool drops_missing() const { return !feature_.is_dense && !feature_.is_data; }

  SEXP x_;
  ExampleFeature feature_;
  R_xlen_t rows_ = 0, width_ = 1;
  RowValues values_;
};

std::vector<std::string> missing_names(const RList& data,
                                       const std::vector<ExampleFeature>& features) {
  std::vector<std::string> missing;
  for (const ExampleFeature& feature : features) {
    if (data.find(feature.key.c_str()) == R_NilValue) missing.push_back(feature.key);
  }
  return missing;
}

DType example_type(SEXP x, const std::string& key) {
  if (is_factor(x) || TYPEOF(x) == STRSXP || TYPEOF(x) == RAWSXP) return DType::kString;
  if (TYPEOF(x) == REALSXP) return DType::kFloat32;
  if (TYPEOF(x) == INTSXP || TYPEOF(x) == LGLSXP) return DType::kInt64;
  DType dtype = DType::kInt64;
  for (R_xlen_t i = 0; TYPEOF(x) == VECSXP && i < Rf_xlength(x); ++i) {
    SEXP cell = VECTOR_ELT(x, i);
    if (Rf_xlength(cell) == 0 && TYPEOF(cell) != RAWSXP) continue;
    const DType cell_dtype = TYPEOF(cell) == VECSXP ? DType::kInvalid : example_type(cell, key);
    if (cell_dtype != DType::kInt64) return cell_dtype;
  }
  return dtype;
}

// Warns if a column has large whole numbers that float32 rounds, such as keys.
void warn_about_rounding(SEXP x, const std::string& key) {
  constexpr double kMaxExactFloat = 16777216, kMaxExactDouble = 9007199254740992;
  for (R_xlen_t i = 0; TYPEOF(x) == REALSXP && i < Rf_xlength(x); ++i) {
    const double value = REAL(x)[i];
    const bool is_lost = std::fabs(value) > kMaxExactFloat && std::fabs(value) <= kMaxExactDouble &&
                         std::floor(value) == value &&
                         static_cast<double>(static_cast<float>(value)) != value;
    if (!is_lost) continue;
    warn("precision", str_cat("Column '", key,
                              "' has whole numbers that float32, the type of examples, "
                              "rounds. Convert them to integers or strings."));
    return;
  }
}

}  // namespace

std::vector<std::string> examples_from_r(SEXP data, const std::vector<ExampleFeature>& features) {
  const RList columns_by_name(data, "the data");
  const std::vector<std::string> missing = missing_names(columns_by_name, features);
  if (!missing.empty()) {
    std::vector<std::string> names;
    for (R_xlen_t i = 0; i < columns_by_name.size(); ++i) names.push_back(columns_by_name.name(i));
    throw Error(Code::kNotFound,
                str_cat("Features are missing from the data: ", str_join(missing, ", "), "."),
                {str_cat("The data have: ", str_join(names, ", "), ".")});
  }
  std::vector<Column> columns;
  for (const ExampleFeature& feature : features) {
    columns.emplace_back(columns_by_name.find(feature.key.c_str()), feature);
    if (columns.back().rows() == columns[0].rows()) continue;
    invalid_argument("Column '", feature.key, "' has ", columns.back().rows(), " rows, but '",
                     columns[0].feature().key, "' has ", columns[0].rows(), ".");
  }
  std::vector<std::string> examples;
  ExampleWriter writer;
  const R_xlen_t n = columns.empty() ? 0 : columns[0].rows();
  for (R_xlen_t row = 0; row < n; ++row) {
    for (Column& column : columns) column.add(row, writer);
    examples.push_back(writer.take());
  }
  return examples;
}

std::vector<std::string> bytes_from_r(SEXP x, const char* name) {
  std::vector<std::string> bytes;
  const auto add = [&](SEXP raw) {
    if (TYPEOF(raw) != RAWSXP) {
      invalid_argument("Raw vectors are expected for ", name, ", not ", kind_in_words(raw), ".");
    }
    bytes.emplace_back(raw_bytes(raw));
  };
  if (TYPEOF(x) == STRSXP) {
    for (R_xlen_t i = 0; i < Rf_xlength(x); ++i)
      bytes.emplace_back(utf8_or_bytes_of(STRING_ELT(x, i)));
  } else if (TYPEOF(x) == VECSXP) {
    for (R_xlen_t i = 0; i < Rf_xlength(x); ++i) add(VECTOR_ELT(x, i));
  } else {
    add(x);
  }
  return bytes;
}

namespace {

FeatureSpec feature_spec_from_r(const std::string& key, SEXP x) {
  const RList fields(x, "the specification of a feature");
  FeatureSpec spec;
  spec.key = key;
  const std::string kind = string_from_r(fields.find("kind"));
  if (kind == "FixedLenSequenceFeature") spec.kind = FeatureSpec::Kind::kFixedLenSequence;
  if (kind == "VarLenFeature") spec.kind = FeatureSpec::Kind::kVarLen;
  if (kind == "SparseFeature") spec.kind = FeatureSpec::Kind::kSparse;
  spec.dtype = dtype_from_r(fields.find("dtype"));
  if (spec.kind == FeatureSpec::Kind::kSparse) {
    spec.index_key = string_from_r(fields.find("index_key"));
    spec.value_key = string_from_r(fields.find("value_key"));
    spec.size = whole_from_r(fields.find("size"), "`size`");
    spec.already_sorted = is_true(fields.find("already_sorted"));
  }
  SEXP shape = fields.find("shape"), default_value = fields.find("default_value");
  if (shape != R_NilValue) spec.shape = shape_from_r(shape);
  if (default_value != R_NilValue) spec.default_value = tensor_from_r(default_value, spec.dtype);
  return spec;
}

}  // namespace

}  // namespace r
}  // namespace runhooks

using namespace runhooks;
using namespace runhooks::r;

// [[Rcpp::export(rng = false)]]
SEXP cpp_parse_example(SEXP serialized, SEXP names, SEXP features, bool is_single, Text name) {
  return guarded_entry([&]() -> SEXP {
    const RList feature_list(features, "the features");
    std::vector<FeatureSpec> specs;
    for (R_xlen_t i = 0; i < feature_list.size(); ++i) {
      specs.push_back(feature_spec_from_r(feature_list.name(i), feature_list[i]));
    }
    const Output input = tensor_of(serialized);
    const auto parsed =
        parse_example(input.graph(), input, names == R_NilValue ? Output() : tensor_of(names),
                      specs, is_single, name);
    return named_values_to_r(parsed, [](const ParsedTensor& tensor) {
      return feature_to_r(Feature(tensor.indices, tensor.values, tensor.dense_shape));
    });
  });
}

// Writes a TFRecord file. `data` is a named list of columns, or a list of raw vectors. Returns the
// number of records.
// [[Rcpp::export(rng = false)]]
double cpp_write_tfrecord(SEXP data, Text path, Text compression_type) {
  return guarded_entry([&] {
    std::vector<std::string> records;
    if (Rf_getAttrib(data, R_NamesSymbol) == R_NilValue) {
      records = bytes_from_r(data, "`data`");
    } else {
      const RList columns(data, "`data`");
      std::vector<ExampleFeature> features;
      for (R_xlen_t i = 0; i < columns.size(); ++i) {
        ExampleFeature feature;
        feature.key = columns.name(i);
        feature.dtype = example_type(columns[i], feature.key);
        feature.is_data = true;
        warn_about_rounding(columns[i], feature.key);
        features.push_back(feature);
      }
      records = examples_from_r(data, features);
    }
    RecordWriter writer(path, compression_from_name(compression_type));
    for (const std::string& record : records) writer.write(record);
    writer.close();
    return static_cast<double>(records.size());
  });
}

// Returns the records of a file as raw vectors.
// [[Rcpp::export(rng = false)]]
SEXP cpp_read_records(Text path, Text compression_type) {
  return guarded_entry([&]() -> SEXP {
    RecordReader reader(ByteSource(path), compression_from_name(compression_type));
    std::vector<Preserved> records;
    std::string record;
    while (reader.next(record)) {
      records.emplace_back(raw_to_r(record));
    }
    return preserved_to_r(records);
  });
}
