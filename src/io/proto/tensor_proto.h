// TensorProto and TensorShapeProto, tensors and shapes inside of other messages.
#pragma once

#include <string>
#include <string_view>

#include "io/proto/wire.h"
#include "tensor/tensor.h"

namespace runhooks {

void put_shape(WireWriter& out, int field, const Shape& shape);
Shape read_shape(WireReader message);

// As TensorFlow writes the value of a constant: strings, booleans and single elements one by one,
// several numbers as bytes; numbers that are all the same once, where it has that form from
// tf.zeros() or a constant initializer.
WireWriter write_tensor(const Tensor& tensor);
// Any form of a TensorProto. A type that a Tensor cannot hold is kUnimplemented; elements that are
// not there, because one stands for all or all are zero, are kResourceExhausted beyond this size.
constexpr int64_t kMostFilledBytes = int64_t{1} << 28;

// While one lives, all tensors that this thread reads may together have so many bytes that a few
// elements stand for: a small file with many of them would take all memory.
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

// The bytes of a tensor of numbers as they stand in files; `copy` is used where they have to be
// turned around.
std::string_view tensor_bytes(const Tensor& tensor, Tensor& copy);

// The number of elements of dimensions that come from a file; throws kDataLoss where they are
// negative or too large.
int64_t checked_num_elements(const Shape& shape, const WireReader& message);

}  // namespace runhooks
