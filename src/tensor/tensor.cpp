#include "tensor/tensor.h"

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <new>

#include "base/bit_cast.h"
#include "base/memory.h"
#include "tensor/variable_arena.h"

namespace runhooks {

namespace {

constexpr size_t kAlignment = 64;

// Smaller buffers do not count towards the memory limit.
constexpr size_t kMinAccountedBytes = size_t{1} << 20;

size_t checked_bytes(DType dtype, const Shape& shape, int64_t count) {
  size_t bytes = 0;
  if (__builtin_mul_overflow(static_cast<size_t>(count), dtype_size(dtype), &bytes)) {
    fail(Code::kResourceExhausted, "A tensor of shape ", shape, " and type ", dtype_name(dtype),
         " has too many bytes.");
  }
  return bytes;
}

}  // namespace

void check_memory(int64_t count, size_t bytes) {
  size_t total = 0;
  if (__builtin_mul_overflow(static_cast<size_t>(count), bytes, &total) || total > memory_limit()) {
    fail(Code::kResourceExhausted, "Cannot allocate ", count, " times ", bytes, " bytes.");
  }
}

Buffer* Buffer::allocate(size_t bytes) {
  if (bytes >= kMinAccountedBytes && !reserve_memory(bytes)) {
    fail(Code::kResourceExhausted, "Cannot allocate ", bytes, " bytes for a tensor: tensors take ",
         reserved_memory(), " bytes, and the limit is ", memory_limit(), ".");
  }
  auto* buffer = new Buffer;
  buffer->capacity_ = bytes;
  if (PersistentAllocScope::is_active()) {
    buffer->data_ = arena_allocate(bytes);
    if (buffer->data_) return buffer;
  }
  // Aligns the result of malloc(), because some systems that R supports lack aligned operator new.
  const size_t alignment = bytes < kHugePage ? kAlignment : kHugePage;
  buffer->allocation_ = std::malloc(bytes + alignment);
  if (!buffer->allocation_) {
    delete buffer;
    if (bytes >= kMinAccountedBytes) release_memory(bytes);
    fail(Code::kResourceExhausted, "Cannot allocate ", bytes, " bytes for a tensor.");
  }
  const auto address = reinterpret_cast<uintptr_t>(buffer->allocation_);
  buffer->data_ = reinterpret_cast<void*>((address + alignment - 1) / alignment * alignment);
  if (alignment == kHugePage) prefer_huge_pages(buffer->data_, bytes);
  return buffer;
}

void Buffer::release() {
  if (count_.fetch_sub(1, std::memory_order_acq_rel) == 1) {
    // A buffer without allocation_ is in the variable arena.
    allocation_ ? std::free(allocation_) : arena_free(data_);
    if (capacity_ >= kMinAccountedBytes) release_memory(capacity_);
    delete this;
  }
}

Tensor::Tensor(DType dtype, const Shape& shape) : dtype_(dtype), shape_(shape) {
  if (!shape.is_fully_defined()) {
    fail(Code::kInternal, "A tensor needs a known shape; got ", shape, ".");
  }
  count_ = shape.num_elements();
  buffer_ = Buffer::allocate(checked_bytes(dtype, shape, count_));
}

Tensor Tensor::string_scalar(const std::string& value) { return strings(Shape(), {value}); }

Tensor Tensor::strings(const Shape& shape, const std::vector<std::string>& values) {
  Tensor t(DType::kString, shape);
  t.set_dictionary(std::make_shared<StringDictionary>());
  for (int64_t i = 0; i < t.num_elements(); ++i) {
    t.data<int32_t>()[i] = t.dictionary()->code(values[static_cast<size_t>(i)]);
  }
  return t;
}

namespace {

template <typename T>
Tensor scalar_of_bits(DType dtype, T bits) {
  Tensor number(dtype, Shape());
  *number.data<T>() = bits;
  return number;
}

// Returns a scalar of an integer type. Throws if the type cannot represent `value` exactly.
template <typename T>
Tensor small_scalar(DType dtype, double value) {
  const bool is_exact = value >= static_cast<double>(std::numeric_limits<T>::min()) &&
                        value < static_cast<double>(std::numeric_limits<T>::max()) + 1 &&
                        value == std::floor(value);
  if (!is_exact) invalid_argument(value, " is not a value of type ", dtype_name(dtype), ".");
  return scalar_of_bits(dtype, static_cast<T>(value));
}

// Drops the lowest `shift` bits of `bits`; rounds to nearest, and ties to even.
uint32_t shift_and_round(uint32_t bits, int shift) {
  return (bits + (uint32_t{1} << (shift - 1)) - 1 + ((bits >> shift) & 1)) >> shift;
}

uint16_t bfloat16_bits(float x) {
  return static_cast<uint16_t>(std::isnan(x) ? 0x7fc0 : shift_and_round(bit_cast<uint32_t>(x), 16));
}

uint16_t float16_bits(float x) {
  const uint32_t sign = (bit_cast<uint32_t>(x) >> 16) & 0x8000;
  const float magnitude = std::abs(x);
  constexpr float kSmallestNormal = 1.0f / 16384, kSubnormalUnits = 16777216;
  uint32_t magnitude_bits = 0x7c00;  // infinity, also for values that round above the maximum
  if (std::isnan(x)) {
    magnitude_bits = 0x7e00;
  } else if (magnitude < kSmallestNormal) {
    magnitude_bits = static_cast<uint32_t>(std::nearbyint(magnitude * kSubnormalUnits));
  } else if (magnitude < 65520) {
    magnitude_bits = shift_and_round(bit_cast<uint32_t>(magnitude), 13) - (uint32_t{112} << 10);
  }
  return static_cast<uint16_t>(sign | magnitude_bits);
}

}  // namespace

Tensor Tensor::number(DType dtype, double value) {
  switch (dtype) {
    case DType::kFloat32:
      return scalar<float>(static_cast<float>(value));
    case DType::kFloat64:
      return scalar<double>(value);
    case DType::kInt32:
      return scalar<int32_t>(static_cast<int32_t>(value));
    case DType::kInt64:
      return scalar<int64_t>(static_cast<int64_t>(value));
    case DType::kBool:
      return scalar<bool>(value != 0);
    case DType::kInt8:
      return small_scalar<int8_t>(dtype, value);
    case DType::kUint8:
      return small_scalar<uint8_t>(dtype, value);
    case DType::kInt16:
      return small_scalar<int16_t>(dtype, value);
    case DType::kUint16:
      return small_scalar<uint16_t>(dtype, value);
    case DType::kUint32:
      return small_scalar<uint32_t>(dtype, value);
    case DType::kUint64:
      return small_scalar<uint64_t>(dtype, value);
    case DType::kFloat16:
      return scalar_of_bits(dtype, float16_bits(static_cast<float>(value)));
    case DType::kBfloat16:
      return scalar_of_bits(dtype, bfloat16_bits(static_cast<float>(value)));
    default:
      invalid_argument("Cannot create a number of type ", dtype_name(dtype), ".");
  }
}

Tensor Tensor::zeros(DType dtype, const Shape& shape) {
  Tensor t(dtype, shape);
  std::memset(t.raw(), 0, t.num_bytes());
  if (dtype == DType::kString) {
    t.set_dictionary(std::make_shared<StringDictionary>());
    t.dictionary()->code("");
  }
  return t;
}

Tensor Tensor::variant(std::shared_ptr<void> object) {
  Tensor t(DType::kVariant, Shape());
  t.buffer_->object = std::move(object);
  return t;
}

const std::shared_ptr<void>& Tensor::object() const {
  static const auto* none = new std::shared_ptr<void>;
  return buffer_ ? buffer_->object : *none;
}

const std::shared_ptr<StringDictionary>& Tensor::dictionary() const { return buffer_->dictionary; }

void Tensor::set_dictionary(std::shared_ptr<StringDictionary> dictionary) {
  buffer_->dictionary = std::move(dictionary);
}

const std::string& Tensor::string_at(int64_t i) const {
  return buffer_->dictionary->at(data<int32_t>()[i]);
}

double Tensor::number_at(int64_t i) const {
  switch (dtype_) {
    case DType::kFloat32:
      return data<float>()[i];
    case DType::kFloat64:
      return data<double>()[i];
    case DType::kInt32:
      return data<int32_t>()[i];
    case DType::kInt64:
      return static_cast<double>(data<int64_t>()[i]);
    case DType::kBool:
      return data<bool>()[i];
    case DType::kUint8:
      return data<uint8_t>()[i];
    default:
      invalid_argument("An element of type ", dtype_name(dtype_), " is not a number.");
  }
}

std::vector<int64_t> Tensor::integers() const {
  if (dtype_ != DType::kInt32 && dtype_ != DType::kInt64) {
    invalid_argument("A tensor of type ", dtype_name(dtype_), " does not hold integers.");
  }
  std::vector<int64_t> out(static_cast<size_t>(count_));
  for (int64_t i = 0; i < count_; ++i) {
    out[static_cast<size_t>(i)] = dtype_ == DType::kInt32 ? data<int32_t>()[i] : data<int64_t>()[i];
  }
  return out;
}

Tensor Tensor::reshaped(const Shape& shape) const {
  if (shape.num_elements() != count_) {
    invalid_argument("Cannot reshape a tensor of shape ", shape_, " to ", shape, ".");
  }
  Tensor t = *this;
  t.shape_ = shape;
  return t;
}

Tensor Tensor::viewed_as(DType dtype, const Shape& shape) const {
  Tensor t = *this;
  t.dtype_ = dtype;
  t.shape_ = shape;
  t.count_ = shape.num_elements();
  if (!buffer_ || t.num_bytes() > buffer_->capacity()) {
    fail(Code::kInternal, "A buffer is too small for a tensor of shape ", shape, ".");
  }
  return t;
}

Tensor Tensor::copy() const {
  if (!buffer_) return *this;
  Tensor t(dtype_, shape_);
  std::memcpy(t.raw(), raw(), num_bytes());
  t.buffer_->dictionary = buffer_->dictionary;
  return t;
}

bool Tensor::equals(const Tensor& other) const {
  if (dtype_ != other.dtype_ || shape_ != other.shape_) return false;
  if (dtype_ == DType::kString) {
    // A buffer that has not been written to has no dictionary.
    if (count_ > 0 && (!dictionary() || !other.dictionary())) return false;
    for (int64_t i = 0; i < count_; ++i) {
      if (string_at(i) != other.string_at(i)) return false;
    }
    return true;
  }
  return count_ == 0 || std::memcmp(raw(), other.raw(), num_bytes()) == 0;
}

}  // namespace runhooks
