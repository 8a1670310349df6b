// Tensor: a dtype, a shape and a reference-counted buffer in C order.
#pragma once

#include <atomic>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "base/status.h"
#include "tensor/dtype.h"
#include "tensor/shape.h"
#include "tensor/string_dictionary.h"

namespace runhooks {

// A reference-counted block of memory, aligned for the widest vector registers.
class Buffer {
 public:
  static Buffer* allocate(size_t bytes);
  void retain() { count_.fetch_add(1, std::memory_order_relaxed); }
  void release();
  int use_count() const { return count_.load(std::memory_order_acquire); }
  void* data() { return data_; }
  size_t capacity() const { return capacity_; }

  std::shared_ptr<StringDictionary> dictionary;
  std::shared_ptr<void> object;

 private:
  Buffer() = default;
  ~Buffer() = default;
  std::atomic<int> count_{1};
  size_t capacity_ = 0;
  void* data_ = nullptr;
  void* allocation_ = nullptr;  // NULL if data_ is in the variable arena
};

// Throws kResourceExhausted if `count` items of `bytes` bytes each exceed memory_limit(). Kernels
// call it for buffers whose size depends on input values.
void check_memory(int64_t count, size_t bytes);

// Copies are shallow: they share the buffer.
class Tensor {
 public:
  Tensor() = default;  // an empty object, for which is_valid() is FALSE
  Tensor(DType dtype, const Shape& shape);
  Tensor(const Tensor& other)
      : dtype_(other.dtype_), shape_(other.shape_), count_(other.count_), buffer_(other.buffer_) {
    if (buffer_) buffer_->retain();
  }
  Tensor(Tensor&& other) noexcept
      : dtype_(other.dtype_), shape_(other.shape_), count_(other.count_), buffer_(other.buffer_) {
    other.buffer_ = nullptr;
    other.dtype_ = DType::kInvalid;
  }
  Tensor& operator=(Tensor other) noexcept {
    std::swap(dtype_, other.dtype_);
    std::swap(shape_, other.shape_);
    std::swap(count_, other.count_);
    std::swap(buffer_, other.buffer_);
    return *this;
  }
  ~Tensor() {
    if (buffer_) buffer_->release();
  }

  template <typename T>
  static Tensor scalar(T value) {
    Tensor t(dtype_of<T>(), Shape());
    *t.data<T>() = value;
    return t;
  }
  template <typename T>
  static Tensor of(const Shape& shape, const std::vector<T>& values) {
    Tensor t(dtype_of<T>(), shape);
    for (int64_t i = 0; i < t.num_elements(); ++i) t.data<T>()[i] = values[static_cast<size_t>(i)];
    return t;
  }
  template <typename T>
  static Tensor vector(const std::vector<T>& values) {
    return of<T>(Shape{static_cast<int64_t>(values.size())}, values);
  }
  static Tensor string_scalar(const std::string& value);
  static Tensor strings(const Shape& shape, const std::vector<std::string>& values);
  // Returns a scalar of any numeric or boolean dtype.
  static Tensor number(DType dtype, double value);
  static Tensor zeros(DType dtype, const Shape& shape);

  bool is_valid() const { return dtype_ != DType::kInvalid; }
  DType dtype() const { return dtype_; }
  const Shape& shape() const { return shape_; }
  int64_t num_elements() const { return count_; }
  size_t num_bytes() const { return static_cast<size_t>(count_) * dtype_size(dtype_); }

  void* raw() { return buffer_ ? buffer_->data() : nullptr; }
  const void* raw() const { return buffer_ ? buffer_->data() : nullptr; }
  template <typename T>
  T* data() {
    return static_cast<T*>(raw());
  }
  template <typename T>
  const T* data() const {
    return static_cast<const T*>(raw());
  }

  // A string tensor stores the codes of its strings, data<int32_t>(), and a dictionary.
  const std::shared_ptr<StringDictionary>& dictionary() const;
  void set_dictionary(std::shared_ptr<StringDictionary> dictionary);
  const std::string& string_at(int64_t i) const;

  // Returns a scalar of type variant, which holds a C++ object such as a dataset.
  static Tensor variant(std::shared_ptr<void> object);
  const std::shared_ptr<void>& object() const;

  double number_at(int64_t i) const;
  std::vector<int64_t> integers() const;

  bool shares_buffer_with(const Tensor& other) const { return buffer_ && buffer_ == other.buffer_; }
  bool buffer_is_shared() const { return buffer_ && buffer_->use_count() > 1; }
  // Shares the buffer; `shape` must have the same number of elements.
  Tensor reshaped(const Shape& shape) const;
  // Shares the buffer, with another type and shape; the buffer must be large enough for them.
  Tensor viewed_as(DType dtype, const Shape& shape) const;
  Tensor copy() const;
  bool equals(const Tensor& other) const;

 private:
  DType dtype_ = DType::kInvalid;
  Shape shape_;
  int64_t count_ = 0;
  Buffer* buffer_ = nullptr;
};

}  // namespace runhooks
