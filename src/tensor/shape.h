// Shape: the dimensions of a tensor, which may be unknown.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <vector>

namespace runhooks {

// While a graph is built, single dimensions (-1) or the rank may be unknown.
class Shape {
 public:
  static constexpr int kMaxRank = 8;
  static constexpr int64_t kUnknownDim = -1;
  // Exceeds any memory, but is small enough that sums and sizes in bytes do not overflow.
  static constexpr int64_t kMaxElements = int64_t{1} << 56;

  Shape() = default;
  Shape(std::initializer_list<int64_t> dims);
  explicit Shape(const std::vector<int64_t>& dims);
  static Shape unknown();
  static Shape unknown_of_rank(int rank);

  bool has_rank() const { return rank_ >= 0; }
  int rank() const { return rank_; }
  int64_t dim(int i) const { return dims_[i]; }
  void set_dim(int i, int64_t size) { dims_[i] = size; }
  // Throws if the size is below -1 or above kMaxElements.
  void append(int64_t size);
  std::vector<int64_t> dims() const;

  bool is_fully_defined() const;
  // Requires a fully defined shape. Throws if the product of the nonzero dimensions exceeds
  // kMaxElements, so that partial products cannot overflow even if a dimension is 0.
  int64_t num_elements() const {
    int64_t n = 1;
    bool is_empty = false;
    for (int i = 0; i < rank_; ++i) {
      if (dims_[i] == 0) {
        is_empty = true;
      } else if (__builtin_mul_overflow(n, dims_[i], &n) || n > kMaxElements) {
        throw_too_many_elements();
      }
    }
    return is_empty ? 0 : n;
  }

  bool is_compatible_with(const Shape& other) const;
  // Combines two compatible shapes; throws if they are not compatible.
  Shape merge_with(const Shape& other) const;

  bool operator==(const Shape& other) const {
    if (rank_ != other.rank_) return false;
    for (int i = 0; i < rank_; ++i) {
      if (dims_[i] != other.dims_[i]) return false;
    }
    return true;
  }
  bool operator!=(const Shape& other) const { return !(*this == other); }

  // TensorFlow's format: "(2, 3)", "(?, 3)", "(4,)", "()", "<unknown>".
  std::string to_string() const;

 private:
  [[noreturn]] void throw_too_many_elements() const;

  int rank_ = 0;
  int64_t dims_[kMaxRank] = {};
};

// Return kUnknownDim if an operand is unknown; throw if the result exceeds kMaxElements.
int64_t sum_of_dims(int64_t a, int64_t b);
int64_t product_of_dims(int64_t a, int64_t b);

// Returns the shape of the result of an elementwise operation, by NumPy's broadcasting rules.
// Throws for incompatible shapes.
Shape broadcast_shapes(const Shape& a, const Shape& b);

}  // namespace runhooks
