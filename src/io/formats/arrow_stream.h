// Reading an Arrow C stream, after the public interface of C structs that Arrow has fixed for it.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "tensor/tensor.h"

// The names, the order and the types of these are Arrow's.
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

// The record batches of a stream, as tensors with a row for each record.
class ArrowReader {
 public:
  // Moves the stream here; what it was moved from is left released, as Arrow wants it.
  explicit ArrowReader(ArrowArrayStream* stream);
  ~ArrowReader();
  ArrowReader(const ArrowReader&) = delete;
  ArrowReader& operator=(const ArrowReader&) = delete;

  const std::vector<std::string>& names() const { return names_; }
  const std::vector<DType>& dtypes() const { return dtypes_; }
  // The columns of the next batch; FALSE at the end. Missing values are NaN in columns of floats,
  // elsewhere an error that names column and row.
  bool next(std::vector<Tensor>* columns);

 private:
  void read_schema();
  void add_column(const ArrowSchema& schema);
  void check(int status, const char* what);
  Tensor read_column(size_t k, const ArrowArray& array, int64_t offset, int64_t n) const;

  ArrowArrayStream stream_;
  std::vector<std::string> names_, formats_, values_;  // `values_`: of a dictionary, else empty
  std::vector<DType> dtypes_;
  int64_t rows_ = 0;
};

}  // namespace runhooks
