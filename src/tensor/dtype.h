// The element types of tensors, with TensorFlow's numbers and names.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace runhooks {

// Numbers as in types.proto, because they go into files.
enum class DType : int {
  kInvalid = 0,
  kFloat32 = 1,
  kFloat64 = 2,
  kInt32 = 3,
  kUint8 = 4,
  kInt16 = 5,
  kInt8 = 6,
  kString = 7,
  kInt64 = 9,
  kBool = 10,
  kBfloat16 = 14,
  kUint16 = 17,
  kFloat16 = 19,
  kResource = 20,
  kVariant = 21,
  kUint32 = 22,
  kUint64 = 23,
};

// The number of a reference type is that of the type plus this offset: float_ref is 101.
constexpr int kRefOffset = 100;

const char* dtype_name(DType dtype);
// Accepts TensorFlow's C++ names "float", "double" and "half" too; kInvalid for unknown names.
DType dtype_from_name(const std::string& name);

// Bytes of one element in memory; a string is its int32 code in a dictionary. 0 for resource and
// variant.
size_t dtype_size(DType dtype);
bool is_floating(DType dtype);
bool is_integer(DType dtype);
// Types that most kernels support: float32, float64, int32 and int64.
bool is_numeric(DType dtype);

template <typename T>
struct DTypeOf;
template <>
struct DTypeOf<float> {
  static constexpr DType value = DType::kFloat32;
};
template <>
struct DTypeOf<double> {
  static constexpr DType value = DType::kFloat64;
};
template <>
struct DTypeOf<int32_t> {
  static constexpr DType value = DType::kInt32;
};
template <>
struct DTypeOf<int64_t> {
  static constexpr DType value = DType::kInt64;
};
template <>
struct DTypeOf<bool> {
  static constexpr DType value = DType::kBool;
};
template <>
struct DTypeOf<uint8_t> {
  static constexpr DType value = DType::kUint8;
};

template <typename T>
constexpr DType dtype_of() {
  return DTypeOf<T>::value;
}

}  // namespace runhooks
