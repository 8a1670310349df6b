// What lives here: Shape, the dimensions of a tensor, known or not.
// Who may use it: every layer.
// What it must not know: dtypes, tensors, graphs, R.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <vector>

namespace runhooks {

// The dimensions of a tensor; at graph-building time a dimension (-1) or the rank may be unknown.
class Shape {
 public:
  static constexpr int kMaxRank = 8;
  static constexpr int64_t kUnknownDim = -1;

  Shape() = default;  // a scalar
  Shape(std::initializer_list<int64_t> dims);
  explicit Shape(const std::vector<int64_t>& dims);
  static Shape unknown();
  static Shape unknown_of_rank(int rank);

  bool has_rank() const { return rank_ >= 0; }
  int rank() const { return rank_; }
  int64_t dim(int i) const { return dims_[i]; }
  void set_dim(int i, int64_t size) { dims_[i] = size; }
  void append(int64_t size);
  std::vector<int64_t> dims() const;

  bool is_fully_defined() const;
  // Of a fully defined shape.
  int64_t num_elements() const {
    int64_t n = 1;
    for (int i = 0; i < rank_; ++i) n *= dims_[i];
    return n;
  }

  bool is_compatible_with(const Shape& other) const;
  // The more specific of two compatible shapes; throws where they are not.
  Shape merge_with(const Shape& other) const;

  bool operator==(const Shape& other) const {
    if (rank_ != other.rank_) return false;
    for (int i = 0; i < rank_; ++i) {
      if (dims_[i] != other.dims_[i]) return false;
    }
    return true;
  }
  bool operator!=(const Shape& other) const { return !(*this == other); }

  // As TensorFlow prints it: "(2, 3)", "(?, 3)", "(4,)", "()", "<unknown>".
  std::string to_string() const;

 private:
  int rank_ = 0;
  int64_t dims_[kMaxRank] = {};
};

// The shape of an elementwise operation on two operands (NumPy's rule); throws where it has none.
Shape broadcast_shapes(const Shape& a, const Shape& b);

}  // namespace runhooks
