#include "tensor/shape.h"

#include <algorithm>

#include "base/status.h"

namespace runhooks {

namespace {

[[noreturn]] void throw_dimension_too_large() {
  fail(Code::kResourceExhausted, "A dimension of a tensor has too many elements.");
}

}  // namespace

Shape::Shape(std::initializer_list<int64_t> dims) {
  for (int64_t d : dims) append(d);
}

Shape::Shape(const std::vector<int64_t>& dims) {
  for (int64_t d : dims) append(d);
}

Shape Shape::unknown() {
  Shape s;
  s.rank_ = -1;
  return s;
}

Shape Shape::unknown_of_rank(int rank) {
  Shape s;
  for (int i = 0; i < rank; ++i) s.append(kUnknownDim);
  return s;
}

void Shape::append(int64_t size) {
  if (rank_ == kMaxRank) {
    fail(Code::kUnimplemented, "A tensor can have at most ", kMaxRank, " dimensions.");
  }
  if (size < kUnknownDim) invalid_argument("Dimension ", size, " must be >= 0.");
  if (size > kMaxElements) throw_dimension_too_large();
  dims_[rank_++] = size;
}

std::vector<int64_t> Shape::dims() const {
  return std::vector<int64_t>(dims_, dims_ + std::max(rank_, 0));
}

bool Shape::is_fully_defined() const {
  if (rank_ < 0) return false;
  for (int i = 0; i < rank_; ++i) {
    if (dims_[i] < 0) return false;
  }
  return true;
}

void Shape::throw_too_many_elements() const {
  fail(Code::kResourceExhausted, "A tensor of shape ", *this, " has too many elements.");
}

bool Shape::is_compatible_with(const Shape& other) const {
  if (rank_ < 0 || other.rank_ < 0) return true;
  if (rank_ != other.rank_) return false;
  for (int i = 0; i < rank_; ++i) {
    if (dims_[i] >= 0 && other.dims_[i] >= 0 && dims_[i] != other.dims_[i]) return false;
  }
  return true;
}

Shape Shape::merge_with(const Shape& other) const {
  if (!is_compatible_with(other)) {
    invalid_argument("Shapes ", *this, " and ", other, " are not compatible.");
  }
  if (rank_ < 0) return other;
  if (other.rank_ < 0) return *this;
  Shape merged = *this;
  for (int i = 0; i < rank_; ++i) {
    if (merged.dims_[i] < 0) merged.dims_[i] = other.dims_[i];
  }
  return merged;
}

std::string Shape::to_string() const {
  if (rank_ < 0) return "<unknown>";
  std::string out = "(";
  for (int i = 0; i < rank_; ++i) {
    if (i) out += ", ";
    out += dims_[i] < 0 ? "?" : std::to_string(dims_[i]);
  }
  return out + (rank_ == 1 ? ",)" : ")");
}

int64_t sum_of_dims(int64_t a, int64_t b) {
  int64_t sum;
  if (a < 0 || b < 0) return Shape::kUnknownDim;
  if (__builtin_add_overflow(a, b, &sum) || sum > Shape::kMaxElements) throw_dimension_too_large();
  return sum;
}

int64_t product_of_dims(int64_t a, int64_t b) {
  int64_t product;
  if (a < 0 || b < 0) return Shape::kUnknownDim;
  if (__builtin_mul_overflow(a, b, &product) || product > Shape::kMaxElements)
    throw_dimension_too_large();
  return product;
}

Shape broadcast_shapes(const Shape& a, const Shape& b) {
  if (!a.has_rank() || !b.has_rank()) return Shape::unknown();
  const int rank = std::max(a.rank(), b.rank());
  Shape out = Shape::unknown_of_rank(rank);
  for (int i = 0; i < rank; ++i) {
    const int ia = i - (rank - a.rank()), ib = i - (rank - b.rank());
    const int64_t da = ia < 0 ? 1 : a.dim(ia), db = ib < 0 ? 1 : b.dim(ib);
    int64_t d;
    if (da == db) {
      d = da;
    } else if (da == 1) {
      d = db;
    } else if (db == 1) {
      d = da;
    } else if (da < 0) {
      d = db;
    } else if (db < 0) {
      d = da;
    } else {
      invalid_argument("Incompatible shapes: ", a, " vs. ", b, ".");
    }
    out.set_dim(i, d);
  }
  return out;
}

}  // namespace runhooks
