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

struct CsvColumn {
  std::string name;
  size_t field = 0;  // field number within a record
  DType dtype = DType::kInvalid;
  bool is_required = false;
  std::string fallback;  // default for an empty field, as text
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
  // Throws if a record has a wrong number of fields; `where` formats its position.
  template <typename Where>
  void check_count(size_t count, Where where) const {
    if (!has_count(count)) throw_count(count, where());
  }
  // Parses the field of column `k` into an element of its type; strings become dictionary codes.
  template <typename Where>
  void read(size_t k,
            std::string_view field,
            void* place,
            StringDictionary* dictionary,
            Where where) const {
    const Problem problem = read(columns_[k], field, place, dictionary);
    if (problem != Problem::kNone) throw_field(columns_[k], field, problem, where());
  }
  // Non-throwing variants for bulk readers: false if check_count() or read() would throw. The text
  // of a field is the field itself or its column's default.
  bool has_count(size_t count) const { return count >= fewest_ && count <= most_; }
  bool try_number(size_t k, std::string_view field, void* place) const {
    return read(columns_[k], field, place, nullptr) == Problem::kNone;
  }
  bool try_string(size_t k, std::string_view* field) const;
  // Warns and returns true if a string field of the record is not valid UTF-8.
  template <typename Where>
  bool warns_of_encoding(const std::vector<std::string_view>& fields, Where where) const {
    if (decoder_.is_given()) return false;
    for (const CsvColumn& column : columns_) {
      if (column.dtype != DType::kString || is_utf8(fields[column.field])) continue;
      warn_of_encoding(str_cat(where(), ", column '", column.name, "'"));
      return true;
    }
    return false;
  }

 private:
  enum class Problem { kNone, kEmpty, kOtherType, kNotDecoded };
  Problem read(const CsvColumn& column,
               std::string_view field,
               void* place,
               StringDictionary* dictionary) const;
  void check_defaults(const Args& args) const;
  [[noreturn]] void throw_count(size_t count, const std::string& where) const;
  [[noreturn]] void throw_field(const CsvColumn& column,
                                std::string_view field,
                                Problem problem,
                                const std::string& where) const;

  CsvFormat format_;
  TextDecoder decoder_;
  std::string na_value_;
  size_t fewest_ = 0, most_ = 0;  // limits on the fields of a record
  std::vector<CsvColumn> columns_;
};

// The dictionaries of string columns. Elements share them until they grow large.
class ColumnDictionaries {
 public:
  explicit ColumnDictionaries(size_t columns) : all_(columns) {}
  const std::shared_ptr<StringDictionary>& at(size_t k) {
    constexpr int32_t kLargest = 1 << 14;
    if (!all_[k] || all_[k]->size() > kLargest) all_[k] = std::make_shared<StringDictionary>();
    return all_[k];
  }

 private:
  std::vector<std::shared_ptr<StringDictionary>> all_;
};

// Emits a record as scalars or as a row of a batch.
template <typename Where>
void put_record(const CsvColumns& columns,
                const std::vector<std::string_view>& fields,
                ColumnDictionaries& dictionaries,
                ElementSink& sink,
                Where where) {
  columns.check_count(fields.size(), where);
  for (size_t k = 0; k < columns.columns().size(); ++k) {
    const CsvColumn& column = columns.columns()[k];
    Tensor& tensor = sink.allocate(static_cast<int>(k), column.dtype, Shape());
    StringDictionary* dictionary = nullptr;
    if (column.dtype == DType::kString) {
      tensor.set_dictionary(dictionaries.at(k));
      dictionary = tensor.dictionary().get();
    }
    columns.read(k, fields[column.field], tensor.raw(), dictionary, where);
  }
}

}  // namespace runhooks
