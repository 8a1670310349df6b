// Reads Arrow C streams through Arrow's C data interface.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "tensor/tensor.h"

// Defined by Arrow's ABI; do not change names, order or types.
struct ArrowSchema {
  const char* format;
  const char* name;
  const char* metadata;
  int64_t flags;
  int64_t n_children;
  ArrowSchema** children;
  ArrowSchema* dictionary;
  void (*release)(ArrowSchema*);
  void* private_data;
};

struct ArrowArray {
  int64_t length;
  int64_t null_count;
  int64_t offset;
  int64_t n_buffers;
  int64_t n_children;
  const void** buffers;
  ArrowArray** children;
  ArrowArray* dictionary;
  void (*release)(ArrowArray*);
  void* private_data;
};

struct ArrowArrayStream {
  int (*get_schema)(ArrowArrayStream*, ArrowSchema* out);
  int (*get_next)(ArrowArrayStream*, ArrowArray* out);
  const char* (*get_last_error)(ArrowArrayStream*);
  void (*release)(ArrowArrayStream*);
  void* private_data;
};

namespace runhooks {

class ArrowReader {
 public:
  // Takes ownership of the stream and marks `*stream` as released, as Arrow's interface requires.
  explicit ArrowReader(ArrowArrayStream* stream);
  ~ArrowReader();
  ArrowReader(const ArrowReader&) = delete;
  ArrowReader& operator=(const ArrowReader&) = delete;

  const std::vector<std::string>& names() const { return names_; }
  const std::vector<DType>& dtypes() const { return dtypes_; }
  // Reads the next batch; FALSE at the end. A missing value becomes NaN in a float column; in other
  // columns it is an error that names column and row.
  bool next(std::vector<Tensor>* columns);

 private:
  void read_schema();
  void add_column(const ArrowSchema& schema);
  void check(int status, const char* part);
  Tensor read_column(size_t k, const ArrowArray& array, int64_t offset, int64_t n) const;

  ArrowArrayStream stream_;
  // `dictionary_formats_` has the format of the values in the dictionary of a column, or "".
  std::vector<std::string> names_, formats_, dictionary_formats_;
  std::vector<DType> dtypes_;
  int64_t num_rows_read_ = 0;
};

}  // namespace runhooks
