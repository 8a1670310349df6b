// TensorProto and TensorShapeProto: tensors and shapes inside other messages.
#pragma once

#include <string>
#include <string_view>

#include "io/proto/wire.h"
#include "tensor/tensor.h"

namespace runhooks {

void put_shape(WireWriter& out, int field, const Shape& shape);
Shape read_shape(WireReader message);

// Follows TensorFlow's encoding of constants: strings, booleans and single elements one by one,
// other numbers as raw bytes. Equal numbers are written once, as for tf.zeros() and constant
// initializers.
WireWriter write_tensor(const Tensor& tensor);
// Reads any form of TensorProto. A type that Tensor does not support is kUnimplemented. One element
// may stand for many; a tensor that expands beyond this size is kResourceExhausted.
constexpr int64_t kMaxFilledBytes = int64_t{1} << 28;

// In its scope, limits the total size of tensors that this thread expands from a few stored
// elements. Without the limit, a small file could exhaust the memory.
class FilledBytes {
 public:
  FilledBytes();
  ~FilledBytes();
  FilledBytes(const FilledBytes&) = delete;
  FilledBytes& operator=(const FilledBytes&) = delete;

  static constexpr int64_t kMost = int64_t{1} << 29;
  static void add(int64_t bytes, const std::string& where);

 private:
  int64_t bytes_ = 0;
  FilledBytes* outer_;
};
Tensor read_tensor(WireReader message);

// The little-endian bytes of a numeric tensor; big-endian hosts convert them in `copy`.
std::string_view tensor_bytes(const Tensor& tensor, Tensor& copy);

// The number of elements of a shape from a file. Throws kDataLoss if a dimension is negative or the
// product is too large.
int64_t checked_num_elements(const Shape& shape, const WireReader& message);

}  // namespace runhooks
