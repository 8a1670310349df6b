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
  // Takes ownership; marks the source as released, as the interface requires.
  explicit ArrowReader(ArrowArrayStream* stream);
  ~ArrowReader();
  ArrowReader(const ArrowReader&) = delete;
  ArrowReader& operator=(const ArrowReader&) = delete;

  const std::vector<std::string>& names() const { return names_; }
  const std::vector<DType>& dtypes() const { return dtypes_; }
  // Reads the next batch; FALSE at the end. Missing values become NaN in float columns and are an
  // error, naming column and row, in others.
  bool next(std::vector<Tensor>* columns);

 private:
  void read_schema();
  void add_column(const ArrowSchema& schema);
  void check(int status, const char* what);
  Tensor read_column(size_t k, const ArrowArray& array, int64_t offset, int64_t n) const;

  ArrowArrayStream stream_;
  // `values_` holds the formats of dictionary values, "" for other columns.
  std::vector<std::string> names_, formats_, values_;
  std::vector<DType> dtypes_;
  int64_t rows_ = 0;
};

}  // namespace runhooks
