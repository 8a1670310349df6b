// CsvColumns: the columns of delimited text with their field numbers, types and defaults.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/unicode.h"
#include "data/file_source.h"
#include "data/one_input_dataset.h"
#include "data/text_decoder.h"
#include "io/formats/csv_reader.h"

namespace runhooks {

// Parses a field to a number: int32, int64, float32 or float64. Returns false if it is not valid.
bool parse_number(DType dtype, std::string_view field, void* out);

struct CsvColumn {
  std::string name;
  size_t field = 0;  // field number within a record
  DType dtype = DType::kInvalid;
  bool is_required = false;
  std::string default_text;  // replaces an empty field
};

// Arguments shared by datasets of delimited text, as lines of a registration.
#define RUNHOOKS_CSV_ARGUMENTS                                                          \
  "delim = \",\": string. Field separator.",                                            \
      "use_quotes = TRUE: flag. Whether fields may be quoted.",                         \
      "na_value = \"\": string. Additional string to treat as missing.",                \
      "num_fields = NULL: number in [1, Inf). Number of fields per record.",            \
      "names: any. Column names.", "fields: any. Field number of each column, from 0.", \
      "dtypes: any. Column types.", "defaults: any. Values for empty fields, as text.", \
      "required: any. Names of columns without a default."

class CsvColumns {
 public:
  explicit CsvColumns(const Args& args);

  const CsvFormat& format() const { return format_; }
  const TextDecoder& decoder() const { return decoder_; }
  const std::vector<CsvColumn>& columns() const { return columns_; }
  std::vector<DType> dtypes() const;
  // Throws if a record has a wrong number of fields. `location()` returns its position for the
  // message, such as "Line 3 of 'a.csv'".
  template <typename Location>
  void check_field_count(size_t count, Location location) const {
    if (!has_valid_field_count(count)) throw_field_count(count, location());
  }
  // Parses the field of column `k` into the element at `out`. Strings become dictionary codes.
  template <typename Location>
  void read(size_t k,
            std::string_view field,
            void* out,
            StringDictionary* dictionary,
            Location location) const {
    const Problem problem = read(columns_[k], field, out, dictionary);
    if (problem != Problem::kNone) throw_field_error(columns_[k], field, problem, location());
  }
  // Non-throwing variants for bulk readers, which return false if check_field_count() or read()
  // would throw. try_string() replaces an empty field by the column's default.
  bool has_valid_field_count(size_t count) const {
    return count >= min_fields_ && count <= max_fields_;
  }
  bool try_number(size_t k, std::string_view field, void* out) const {
    return read(columns_[k], field, out, nullptr) == Problem::kNone;
  }
  bool try_string(size_t k, std::string_view* field) const;
  // Warns and returns true if a string field of the record is not valid UTF-8.
  template <typename Location>
  bool warn_if_invalid_utf8(const std::vector<std::string_view>& fields, Location location) const {
    if (decoder_.has_encoding()) return false;
    for (const CsvColumn& column : columns_) {
      if (column.dtype != DType::kString || is_utf8(fields[column.field])) continue;
      warn_invalid_utf8(str_cat(location(), ", column '", column.name, "'"));
      return true;
    }
    return false;
  }

 private:
  enum class Problem { kNone, kEmpty, kWrongType, kNotDecoded };
  Problem read(const CsvColumn& column,
               std::string_view field,
               void* out,
               StringDictionary* dictionary) const;
  void check_defaults(const Args& args) const;
  [[noreturn]] void throw_field_count(size_t count, const std::string& location) const;
  [[noreturn]] void throw_field_error(const CsvColumn& column,
                                      std::string_view field,
                                      Problem problem,
                                      const std::string& location) const;

  CsvFormat format_;
  TextDecoder decoder_;
  std::string na_value_;
  size_t min_fields_ = 0, max_fields_ = 0;  // limits on the fields of a record
  std::vector<CsvColumn> columns_;
};

// The dictionaries of string columns. Elements share a dictionary until it grows large; later
// elements then get a new one.
class ColumnDictionaries {
 public:
  explicit ColumnDictionaries(size_t columns) : dictionaries_(columns) {}
  const std::shared_ptr<StringDictionary>& at(size_t k) {
    constexpr int32_t kMaxSize = 1 << 14;
    if (!dictionaries_[k] || dictionaries_[k]->size() > kMaxSize)
      dictionaries_[k] = std::make_shared<StringDictionary>();
    return dictionaries_[k];
  }

 private:
  std::vector<std::shared_ptr<StringDictionary>> dictionaries_;
};

// Emits a record as one scalar per column.
template <typename Location>
void put_record(const CsvColumns& columns,
                const std::vector<std::string_view>& fields,
                ColumnDictionaries& dictionaries,
                ElementSink& sink,
                Location location) {
  columns.check_field_count(fields.size(), location);
  for (size_t k = 0; k < columns.columns().size(); ++k) {
    const CsvColumn& column = columns.columns()[k];
    Tensor& tensor = sink.allocate(static_cast<int>(k), column.dtype, Shape());
    StringDictionary* dictionary = nullptr;
    if (column.dtype == DType::kString) {
      tensor.set_dictionary(dictionaries.at(k));
      dictionary = tensor.dictionary().get();
    }
    columns.read(k, fields[column.field], tensor.raw(), dictionary, location);
  }
}

}  // namespace runhooks
