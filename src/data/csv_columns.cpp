#include "data/csv_columns.h"

#include <algorithm>
#include <limits>

namespace runhooks {

bool parse_number(DType dtype, std::string_view field, void* out) {
  switch (dtype) {
    case DType::kInt32:
      return parse_field(field, static_cast<int32_t*>(out));
    case DType::kInt64:
      return parse_field(field, static_cast<int64_t*>(out));
    case DType::kFloat32:
      return parse_field(field, static_cast<float*>(out));
    default:
      return parse_field(field, static_cast<double*>(out));
  }
}

CsvColumns::CsvColumns(const Args& args) : decoder_(args), na_value_(args.text("na_value", "")) {
  const std::string delim = args.text("delim", ",");
  if (delim.size() != 1 || delim == "\"" || delim == "\n" || delim == "\r") {
    invalid_argument("The delimiter of ", args.owner(), " must be one character, not \"", delim,
                     "\".");
  }
  format_.delim = delim[0];
  format_.has_quotes = args.flag("use_quotes", true);
  const std::vector<std::string> names = args.texts("names"), dtypes = args.texts("dtypes"),
                                 defaults = args.texts("defaults"),
                                 required = args.texts("required");
  const std::vector<int64_t> fields = args.integers("fields");
  if (names.empty() || dtypes.size() != names.size() || defaults.size() != names.size() ||
      fields.size() != names.size()) {
    invalid_argument("The columns of ", args.owner(),
                     " need a name, a type and a default for each column.");
  }
  min_fields_ = max_fields_ = static_cast<size_t>(args.integer("num_fields", 0));
  if (max_fields_ == 0) {
    min_fields_ = static_cast<size_t>(*std::max_element(fields.begin(), fields.end()) + 1);
    max_fields_ = std::numeric_limits<size_t>::max();
  }
  for (size_t k = 0; k < names.size(); ++k) {
    CsvColumn column;
    column.name = names[k];
    column.dtype = dtype_from_name(dtypes[k]);
    column.default_text = defaults[k];
    column.is_required = std::count(required.begin(), required.end(), names[k]) > 0;
    if (fields[k] < 0 || fields[k] >= static_cast<int64_t>(min_fields_)) {
      invalid_argument("Column '", names[k], "' cannot be field ", fields[k] + 1, " of ",
                       static_cast<unsigned long>(min_fields_), ".");
    }
    column.field = static_cast<size_t>(fields[k]);
    columns_.push_back(std::move(column));
  }
  check_defaults(args);
}

void CsvColumns::check_defaults(const Args& args) const {
  for (const CsvColumn& column : columns_) {
    const bool is_known = column.dtype == DType::kInt32 || column.dtype == DType::kInt64 ||
                          column.dtype == DType::kFloat32 || column.dtype == DType::kFloat64 ||
                          column.dtype == DType::kString;
    if (!is_known) {
      invalid_argument("Column '", column.name, "' of ", args.owner(),
                       " must be int32, int64, float32, float64 or string.");
    }
    double out;
    StringDictionary dictionary;
    if (!column.is_required && read(column, "", &out, &dictionary) != Problem::kNone) {
      invalid_argument("The default of column '", column.name, "', '", column.default_text,
                       "', is not a valid ", dtype_name(column.dtype), ".");
    }
  }
}

std::vector<DType> CsvColumns::dtypes() const {
  std::vector<DType> result;
  for (const CsvColumn& column : columns_) result.push_back(column.dtype);
  return result;
}

bool CsvColumns::try_string(size_t k, std::string_view* field) const {
  if (!field->empty() && *field != na_value_) return true;
  *field = columns_[k].default_text;
  return !columns_[k].is_required;
}

CsvColumns::Problem CsvColumns::read(const CsvColumn& column,
                                     std::string_view field,
                                     void* out,
                                     StringDictionary* dictionary) const {
  std::string decoded;
  if (column.dtype == DType::kString && !decoder_.decode(&field, &decoded)) {
    return Problem::kNotDecoded;
  }
  if (field.empty() || field == na_value_) {
    if (column.is_required) return Problem::kEmpty;
    field = column.default_text;
  }
  if (column.dtype != DType::kString) {
    return parse_number(column.dtype, field, out) ? Problem::kNone : Problem::kWrongType;
  }
  *static_cast<int32_t*>(out) = dictionary->code(field);
  return Problem::kNone;
}

void CsvColumns::throw_field_count(size_t count, const std::string& location) const {
  invalid_argument(location, " has ", static_cast<unsigned long>(count), " fields; expected ",
                   max_fields_ > min_fields_ ? "at least " : "",
                   static_cast<unsigned long>(min_fields_), ".");
}

void CsvColumns::throw_field_error(const CsvColumn& column,
                                   std::string_view field,
                                   Problem problem,
                                   const std::string& location) const {
  if (problem == Problem::kEmpty) {
    invalid_argument(location, ", column '", column.name,
                     "': the field is empty, and the column has no default.");
  }
  if (problem == Problem::kNotDecoded) {
    decoder_.throw_invalid(str_cat(location, ", column '", column.name, "'"), field);
  }
  constexpr size_t kShown = 60;
  invalid_argument(location, ", column '", column.name, "': '",
                   std::string(field.substr(0, kShown)), field.size() > kShown ? "..." : "",
                   "' is not a valid ", dtype_name(column.dtype), ".");
}

}  // namespace runhooks
