// Reads the first records of CSV files and infers column types.
#include <cmath>
#include <limits>

#include "base/interrupt.h"
#include "io/formats/csv_reader.h"
#include "r/values/guarded_entry.h"
#include "r/values/handles.h"
#include "r/values/values.h"

using namespace runhooks;
using namespace runhooks::r;

namespace {

// Converts texts to R strings. Marks those that are not valid UTF-8 as Latin-1.
SEXP texts_to_r(const std::vector<std::string>& texts) {
  Rcpp::Shield<SEXP> vector(allocate_vector(STRSXP, static_cast<R_xlen_t>(texts.size())));
  for (size_t i = 0; i < texts.size(); ++i) {
    Rcpp::Shield<SEXP> text(text_element(texts[i]));
    const bool is_bytes = Rf_getCharCE(text) == CE_BYTES;
    // lint: allow text
    SEXP shown = is_bytes ? Rf_mkCharCE(CHAR(text), CE_LATIN1) : static_cast<SEXP>(text);
    SET_STRING_ELT(vector, static_cast<R_xlen_t>(i), shown);
  }
  return vector;
}

// Types from the most special to the most general. A column gets the most general type of its
// fields.
const std::vector<const char*> kTypes = {"int32", "int64", "float32", "float64", "string"};

size_t type_index(const std::string& field) {
  int32_t i32;
  int64_t i64;
  double f64;
  if (parse_field(field, &i32)) return 0;
  if (parse_field(field, &i64)) return 1;
  if (!parse_field(field, &f64)) return 4;
  const bool is_large = std::isfinite(f64) && std::fabs(f64) > std::numeric_limits<float>::max();
  return is_large ? 3 : 2;
}

}  // namespace

// [[Rcpp::export(rng = false)]]
SEXP cpp_csv_peek(
    Text path, Text compression_type, Text delim, bool use_quotes, double skip, double n) {
  return guarded_entry([&]() -> SEXP {
    CsvFormat format;
    if (delim.size() != 1) invalid_argument("`delim` must be one character, not \"", delim, "\".");
    format.delim = delim[0];
    format.has_quotes = use_quotes;
    CsvReader reader(path, compression_from_name(compression_type), format);
    reader.skip_lines(whole_from_r(skip, "`skip`"));
    std::vector<Preserved> records;
    while (static_cast<double>(records.size()) < n && reader.next()) {
      check_interrupt();
      const auto& fields = reader.fields();
      records.emplace_back(texts_to_r(std::vector<std::string>(fields.begin(), fields.end())));
    }
    return preserved_to_r(records);
  });
}

// Returns the type of a column with these fields. Ignores empty fields and `na_value`.
// [[Rcpp::export(rng = false)]]
std::string cpp_csv_type(Texts fields, Text na_value) {
  return guarded_entry([&] {
    size_t most_general = 0;
    bool has_value = false;
    for (const std::string& field : fields) {
      if (field.empty() || field == na_value) continue;
      has_value = true;
      most_general = std::max(most_general, type_index(field));
    }
    return std::string(kTypes[has_value ? most_general : kTypes.size() - 1]);
  });
}
