// TensorProto and TensorShapeProto: tensors and shapes inside other messages.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "io/proto/wire.h"
#include "tensor/tensor.h"

namespace runhooks {

void put_shape(WireWriter& out, int field, const Shape& shape);
Shape read_shape(WireReader message);

// Encodes a tensor as TensorFlow encodes constants: strings, booleans and single numbers as
// elements, other numbers as raw bytes. Equal numbers are written once, as for tf.zeros() and
// constant initializers.
WireWriter write_tensor(const Tensor& tensor);
// A TensorProto may store one element for many equal ones. read_tensor() expands the tensor only up
// to this size.
constexpr int64_t kMaxExpandedTensorBytes = int64_t{1} << 28;

// Inside this scope, limits the total size of the tensors that this thread expands. Without the
// limit, a small file could exhaust the memory.
class ExpandedBytesLimit {
 public:
  ExpandedBytesLimit();
  ~ExpandedBytesLimit();
  ExpandedBytesLimit(const ExpandedBytesLimit&) = delete;
  ExpandedBytesLimit& operator=(const ExpandedBytesLimit&) = delete;

  static constexpr int64_t kMaxBytes = int64_t{1} << 29;
  // Counts the bytes of an expanded tensor. Throws kResourceExhausted if the sum is too large.
  static void add(int64_t bytes, const std::string& where);

 private:
  int64_t bytes_ = 0;
  ExpandedBytesLimit* outer_;
};

// Reads any form of TensorProto. Throws kUnimplemented for a type that Tensor does not support.
Tensor read_tensor(WireReader message);
// Like read_tensor(), but returns nothing for a type that Tensor does not support.
std::optional<Tensor> read_supported_tensor(const WireReader& message);

// Stores an integer in element i of a tensor of any integer type or bool; drops the high bytes.
void store_integer(Tensor& tensor, int64_t i, int64_t value);

// Returns the little-endian bytes of a numeric tensor. On a big-endian machine, `copy` is set to a
// converted copy, which holds these bytes.
std::string_view tensor_bytes(const Tensor& tensor, Tensor& copy);

// Returns the number of elements of a shape from a file. Throws kDataLoss if a dimension is
// negative or the product is too large.
int64_t checked_num_elements(const Shape& shape, const WireReader& message);

}  // namespace runhooks
