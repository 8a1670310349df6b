#include "r/values/convert.h"

#include <algorithm>
#include <cmath>

#include "base/interrupt.h"
#include "base/interruptible_chunks.h"
#include "base/parallel_for.h"
#include "r/values/classed.h"
#include "r/values/values.h"

namespace runhooks {
namespace r {

bool is_bytes(SEXP x) {
  if (TYPEOF(x) == RAWSXP) return true;
  if (TYPEOF(x) != VECSXP || Rf_xlength(x) == 0) return false;
  for (R_xlen_t i = 0; i < Rf_xlength(x); ++i) {
    if (TYPEOF(VECTOR_ELT(x, i)) != RAWSXP) return false;
  }
  return true;
}

int64_t integer_in_range(double x, DType dtype) {
  const double limit = dtype == DType::kInt32 ? 2147483648.0 : 9223372036854775808.0;
  if (x != std::floor(x) || x < -limit || x >= limit) {
    invalid_argument(x, " cannot become an element of type ", dtype_name(dtype), ".");
  }
  return static_cast<int64_t>(x);
}

DType declared_dtype(SEXP x) {
  SEXP name = Rf_getAttrib(x, Rf_install("dtype"));
  return TYPEOF(name) == STRSXP ? dtype_from_r(name) : DType::kInvalid;
}

namespace {

// True if row-major and column-major order are the same: at most one dimension is longer than 1.
bool orders_agree(const Shape& shape) {
  int longer = 0;
  for (int i = 0; i < shape.rank(); ++i) longer += shape.dim(i) > 1;
  return longer <= 1;
}

void poll_interrupt(int64_t i) {
  constexpr int64_t kChunk = int64_t{1} << 16;
  if (i % kChunk == kChunk - 1) check_interrupt_throttled();
}

// Calls visit(i, position) for the elements of an array: i is the row-major offset of the tensor's
// element, position the column-major offset of R's element.
template <typename Visit>
void for_each_element(const Shape& shape, const Visit& visit) {
  const int64_t n = shape.num_elements();
  if (orders_agree(shape)) {
    for (int64_t i = 0; i < n; ++i) {
      poll_interrupt(i);
      visit(i, i);
    }
    return;
  }
  std::vector<int64_t> index(static_cast<size_t>(shape.rank()), 0), strides(index.size(), 1);
  for (size_t k = 1; k < strides.size(); ++k) {
    strides[k] = strides[k - 1] * shape.dim(static_cast<int>(k) - 1);
  }
  int64_t position = 0;
  for (int64_t i = 0; i < n; ++i) {
    poll_interrupt(i);
    visit(i, position);
    for (size_t k = index.size(); k-- > 0;) {
      position += strides[k];
      if (++index[k] < shape.dim(static_cast<int>(k))) break;
      position -= strides[k] * index[k];
      index[k] = 0;
    }
  }
}

Shape shape_of_r(SEXP x) {
  SEXP dim = Rf_getAttrib(x, R_DimSymbol);
  Shape shape;
  if (TYPEOF(x) == RAWSXP) return shape;
  // A list (of raw vectors) becomes a vector of strings, even if it has one element.
  if (TYPEOF(x) == VECSXP && dim == R_NilValue) return Shape{Rf_xlength(x)};
  if (dim != R_NilValue) {
    for (R_xlen_t i = 0; i < Rf_xlength(dim); ++i) shape.append(INTEGER(dim)[i]);
  } else if (Rf_xlength(x) != 1 || (Rf_isObject(x) && Rf_inherits(x, "AsIs"))) {
    shape.append(Rf_xlength(x));
  }
  return shape;
}

DType default_dtype(SEXP x) {
  if (is_bytes(x)) return DType::kString;
  check_plain_numbers(x);
  if (holds_integer64(x)) return DType::kInt64;
  switch (TYPEOF(x)) {
    case REALSXP:
      return DType::kFloat64;
    case INTSXP:
      return DType::kInt32;
    case LGLSXP:
      return DType::kBool;
    case STRSXP:
      return DType::kString;
    default:
      invalid_argument("A tensor cannot be made from ", kind_in_words(x), ".");
  }
}

double number_in(SEXP x, R_xlen_t i) {
  if (TYPEOF(x) == REALSXP) return REAL(x)[i];
  const int value = TYPEOF(x) == INTSXP ? INTEGER(x)[i] : LOGICAL(x)[i];
  if (value == NA_INTEGER)
    invalid_argument("NA cannot become a tensor's element (element ", i + 1, ").");
  return value;
}

void set_number(Tensor& tensor, int64_t i, double x) {
  switch (tensor.dtype()) {
    case DType::kFloat32:
      tensor.data<float>()[i] = static_cast<float>(x);
      break;
    case DType::kFloat64:
      tensor.data<double>()[i] = x;
      break;
    case DType::kInt32:
      tensor.data<int32_t>()[i] = static_cast<int32_t>(integer_in_range(x, DType::kInt32));
      break;
    case DType::kInt64:
      tensor.data<int64_t>()[i] = integer_in_range(x, DType::kInt64);
      break;
    case DType::kUint8:
      if (!(x >= 0 && x <= 255)) invalid_argument(x, " cannot become an element of type uint8.");
      tensor.data<uint8_t>()[i] = static_cast<uint8_t>(integer_in_range(x, DType::kInt32));
      break;
    case DType::kBool:
      tensor.data<bool>()[i] = x != 0;
      break;
    default:
      invalid_argument("A number cannot become an element of type ", dtype_name(tensor.dtype()),
                       ".");
  }
}

// Maps strings to codes by address: R caches each string once, so most lookups read no characters.
class CodesByAddress {
 public:
  // Starts with a small table for few elements, because clearing a large one would take longer.
  CodesByAddress(StringDictionary& dictionary, int64_t elements)
      : dictionary_(dictionary), slots_(elements < 8 ? 16 : 1024) {}
  int32_t code(SEXP element) {
    if (2 * used_ > slots_.size()) grow();
    Slot& slot = find(slots_, element);
    if (!slot.element) {
      slot.element = element;
      // TensorFlow represents a missing string by "".
      slot.code =
          dictionary_.code(element == NA_STRING ? std::string_view() : utf8_or_bytes_of(element));
      ++used_;
    }
    return slot.code;
  }

 private:
  struct Slot {
    SEXP element = nullptr;
    int32_t code = 0;
  };
  static Slot& find(std::vector<Slot>& slots, SEXP element) {
    const size_t mask = slots.size() - 1;
    size_t at = (reinterpret_cast<uintptr_t>(element) >> 4) * 0x9E3779B97F4A7C15u >> 20 & mask;
    while (slots[at].element && slots[at].element != element) at = (at + 1) & mask;
    return slots[at];
  }
  void grow() {
    std::vector<Slot> larger(2 * slots_.size());
    for (const Slot& slot : slots_) {
      if (slot.element) find(larger, slot.element) = slot;
    }
    slots_.swap(larger);
  }
  StringDictionary& dictionary_;
  std::vector<Slot> slots_;
  size_t used_ = 0;
};

Tensor strings_of_bytes(SEXP x, const Shape& shape) {
  Tensor tensor(DType::kString, shape);
  tensor.set_dictionary(std::make_shared<StringDictionary>());
  for_each_element(shape, [&](int64_t i, int64_t position) {
    SEXP raw = TYPEOF(x) == RAWSXP ? x : VECTOR_ELT(x, position);
    tensor.data<int32_t>()[i] = tensor.dictionary()->code(raw_bytes(raw));
  });
  return tensor;
}

Tensor strings_from_r(SEXP x, const Shape& shape) {
  if (TYPEOF(x) != STRSXP) return strings_of_bytes(x, shape);
  // Makes an ALTREP vector (of packages such as vroom and arrow) create all its strings. Otherwise
  // R could collect a string and reuse its address for another one.
  if (ALTREP(x)) STRING_PTR_RO(x);
  Tensor tensor(DType::kString, shape);
  tensor.set_dictionary(std::make_shared<StringDictionary>());
  CodesByAddress codes(*tensor.dictionary(), tensor.num_elements());
  auto* out = tensor.data<int32_t>();
  for_each_element(
      shape, [&](int64_t i, int64_t position) { out[i] = codes.code(STRING_ELT(x, position)); });
  return tensor;
}

SEXP allocate_for(DType dtype, int64_t n) {
  switch (dtype) {
    case DType::kString:
      return allocate_vector(STRSXP, n);
    case DType::kBool:
      return allocate_vector(LGLSXP, n);
    case DType::kInt32:
    case DType::kUint8:
      return allocate_vector(INTSXP, n);
    case DType::kFloat32:
    case DType::kFloat64:
    case DType::kInt64:
      return allocate_vector(REALSXP, n);
    default:
      fail(Code::kUnimplemented, "A tensor of type ", dtype_name(dtype),
           " cannot be converted to R.");
  }
}

void set_element(SEXP out, int64_t at, const Tensor& tensor, int64_t i) {
  switch (tensor.dtype()) {
    case DType::kString:
      SET_STRING_ELT(out, at, text_element(tensor.string_at(i)));
      break;
    case DType::kBool:
      LOGICAL(out)[at] = tensor.data<bool>()[i];
      break;
    case DType::kInt32:
      INTEGER(out)[at] = tensor.data<int32_t>()[i];
      break;
    case DType::kUint8:
      INTEGER(out)[at] = tensor.data<uint8_t>()[i];
      break;
    case DType::kFloat32:
      REAL(out)[at] = tensor.data<float>()[i];
      break;
    default:
      REAL(out)[at] = tensor.number_at(i);
  }
}

// Transposes a column-major matrix in blocks, so that both sides fit into the cache.
template <typename T>
void transpose_rows(const double* from, int64_t rows, int64_t columns, T* to) {
  constexpr int64_t kBlock = 32;
  for (int64_t r0 = 0; r0 < rows; r0 += kBlock) {
    check_interrupt_throttled();
    const int64_t r1 = std::min(rows, r0 + kBlock);
    for (int64_t c0 = 0; c0 < columns; c0 += kBlock) {
      const int64_t c1 = std::min(columns, c0 + kBlock);
      for (int64_t r = r0; r < r1; ++r) {
        for (int64_t c = c0; c < c1; ++c) {
          to[r * columns + c] = static_cast<T>(from[c * rows + r]);
        }
      }
    }
  }
}

// Copies doubles to a tensor. Does nothing and returns false for arrays of rank 3 and higher.
template <typename T>
bool copy_doubles(const double* from, Tensor& tensor) {
  if (orders_agree(tensor.shape())) {
    T* to = tensor.data<T>();
    for_each_interruptible_chunk(
        tensor.num_elements(), sizeof *from, [=](int64_t first, int64_t last) {
          parallel_for_range(last - first, [=](int64_t at, int64_t count) {
            std::transform(from + first + at, from + first + at + count, to + first + at,
                           [](double x) { return static_cast<T>(x); });
          });
        });
    return true;
  }
  if (tensor.shape().rank() != 2) return false;
  transpose_rows(from, tensor.shape().dim(0), tensor.shape().dim(1), tensor.data<T>());
  return true;
}

void set_integer64(Tensor& tensor, SEXP x) {
  for_each_element(tensor.shape(), [&](int64_t i, int64_t position) {
    const int64_t value = integer64_at(x, position);
    if (tensor.dtype() == DType::kInt64) {
      tensor.data<int64_t>()[i] = value;
    } else {
      set_number(tensor, i, static_cast<double>(value));
    }
  });
}

Tensor tensor_of_shape(SEXP x, const Shape& shape, DType requested) {
  const DType default_type = default_dtype(x);
  const DType dtype = requested == DType::kInvalid ? default_type : requested;
  if ((dtype == DType::kString) != (default_type == DType::kString)) {
    invalid_argument("A value of type ", dtype_name(default_type),
                     " cannot become a tensor of type ", dtype_name(dtype), ".");
  }
  if (dtype == DType::kString) return strings_from_r(x, shape);
  Tensor tensor(dtype, shape);
  if (default_type == DType::kInt64) {
    set_integer64(tensor, x);
    return tensor;
  }
  if (default_type == DType::kFloat64) {
    if (dtype == DType::kFloat64 && copy_doubles<double>(REAL(x), tensor)) return tensor;
    if (dtype == DType::kFloat32 && copy_doubles<float>(REAL(x), tensor)) return tensor;
  }
  if (TYPEOF(x) == INTSXP && dtype == DType::kInt32 && orders_agree(shape)) {
    const int* from = INTEGER(x);
    const int* end = from + tensor.num_elements();
    const int* missing = std::find(from, end, NA_INTEGER);
    if (missing != end) number_in(x, missing - from);  // throws and names the element
    std::memcpy(tensor.raw(), from, tensor.num_bytes());
    return tensor;
  }
  for_each_element(
      shape, [&](int64_t i, int64_t position) { set_number(tensor, i, number_in(x, position)); });
  return tensor;
}

}  // namespace

SEXP named_list(const std::vector<const char*>& names) {
  const auto n = static_cast<R_xlen_t>(names.size());
  Rcpp::Shield<SEXP> list(allocate_vector(VECSXP, n)), strings(allocate_vector(STRSXP, n));
  for (R_xlen_t i = 0; i < n; ++i) {
    SET_STRING_ELT(strings, i, utf8_element(names[static_cast<size_t>(i)]));
  }
  Rf_setAttrib(list, R_NamesSymbol, strings);
  return list;
}

Tensor tensor_from_r(SEXP x, DType requested) {
  return tensor_of_shape(x, shape_of_r(x), requested);
}

namespace {

Tensor bind_columns(const RList& parts, DType requested) {
  struct Column {
    SEXP x;
    int64_t begin;  // index of the column's first element in x
  };
  std::vector<Column> columns;
  DType common_type = DType::kBool;
  int64_t rows = 0;
  for (R_xlen_t k = 0; k < parts.size(); ++k) {
    const Shape shape = shape_of_r(parts[k]);
    const int64_t partition_rows = shape.rank() == 0 ? 1 : shape.dim(0);
    if (k > 0 && partition_rows != rows) {
      invalid_argument("Columns of one tensor must have the same number of rows: column 1 has ",
                       rows, ", column ", static_cast<int64_t>(k + 1), " has ", partition_rows,
                       ".");
    }
    rows = partition_rows;
    const int64_t width = shape.rank() < 2 ? 1 : shape.dim(1);
    for (int64_t c = 0; c < width; ++c) columns.push_back({parts[k], c * rows});
    const DType part_type = default_dtype(parts[k]);
    if (part_type == DType::kString) {
      invalid_argument("Column ", static_cast<int64_t>(k + 1),
                       " of a numeric tensor has strings; numbers are expected.");
    }
    if (part_type == DType::kFloat64 || common_type == DType::kBool) common_type = part_type;
  }
  const auto width = static_cast<int64_t>(columns.size());
  Tensor tensor(requested == DType::kInvalid ? common_type : requested, Shape{rows, width});
  constexpr int64_t kBlock = 64;  // rows of a block, which stay in the cache for all columns
  for (int64_t r0 = 0; r0 < rows; r0 += kBlock) {
    check_interrupt_throttled();
    const int64_t r1 = std::min(rows, r0 + kBlock);
    for (int64_t c = 0; c < width; ++c) {
      const Column& column = columns[static_cast<size_t>(c)];
      if (TYPEOF(column.x) == REALSXP && tensor.dtype() == DType::kFloat64) {
        const double* from = REAL(column.x) + column.begin;
        for (int64_t r = r0; r < r1; ++r) tensor.data<double>()[r * width + c] = from[r];
        continue;
      }
      for (int64_t r = r0; r < r1; ++r) {
        set_number(tensor, r * width + c, number_in(column.x, column.begin + r));
      }
    }
  }
  return tensor;
}

}  // namespace

Tensor rows_from_r(SEXP x, DType requested) {
  if (TYPEOF(x) == VECSXP) return bind_columns(RList(x, "the columns of a tensor"), requested);
  Shape shape = shape_of_r(x);
  if (shape.rank() == 0) shape.append(1);  // one row, not a scalar
  return tensor_of_shape(x, shape, requested);
}

namespace {

void set_dim(SEXP array, const Shape& shape) {
  Rcpp::Shield<SEXP> dim(allocate_vector(INTSXP, shape.rank()));
  for (int i = 0; i < shape.rank(); ++i) INTEGER(dim)[i] = static_cast<int>(shape.dim(i));
  Rf_setAttrib(array, R_DimSymbol, dim);
}

// Whether a string has a zero byte, with which Rf_mkCharLenCE() would longjmp over C++ frames.
bool has_zero_byte(const Tensor& tensor) {
  for (int64_t i = 0; i < tensor.num_elements(); ++i) {
    if (tensor.string_at(i).find('\0') != std::string::npos) return true;
  }
  return false;
}

// Returns a raw vector for a scalar string, else a list of raw vectors with dimensions.
SEXP bytes_to_r(const Tensor& tensor) {
  const Shape& shape = tensor.shape();
  if (shape.rank() == 0) return raw_to_r(tensor.string_at(0));
  Rcpp::Shield<SEXP> out(allocate_vector(VECSXP, tensor.num_elements()));
  for_each_element(shape, [&](int64_t i, int64_t position) {
    SET_VECTOR_ELT(out, position, raw_to_r(tensor.string_at(i)));
  });
  set_dim(out, shape);
  return out;
}

}  // namespace

SEXP tensor_to_r(const Tensor& tensor, bool as_bytes) {
  if (!tensor.is_valid()) return R_NilValue;
  const Shape& shape = tensor.shape();
  if (tensor.dtype() == DType::kString && (as_bytes || has_zero_byte(tensor))) {
    return bytes_to_r(tensor);
  }
  if (shape.rank() == 0 && tensor.dtype() == DType::kFloat32) {
    return Rf_ScalarReal(*tensor.data<float>());
  }
  Rcpp::Shield<SEXP> out(allocate_for(tensor.dtype(), tensor.num_elements()));
  for_each_element(shape,
                   [&](int64_t i, int64_t position) { set_element(out, position, tensor, i); });
  if (shape.rank() > 0) set_dim(out, shape);
  return out;
}

}  // namespace r
}  // namespace runhooks
