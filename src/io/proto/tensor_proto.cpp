#include "io/proto/tensor_proto.h"

#include <algorithm>
#include <cstring>

namespace runhooks {

namespace {

enum TensorField : int {
  kDType = 1,
  kTensorShape = 2,
  kContent = 4,
  kFloats = 5,
  kDoubles = 6,
  kInts = 7,
  kStrings = 8,
  kInt64s = 10,
  kBools = 11,
  kHalfs = 13,
  kUint32s = 16,
  kUint64s = 17,
};

int field_of(DType dtype) {
  switch (dtype) {
    case DType::kFloat32:
      return kFloats;
    case DType::kFloat64:
      return kDoubles;
    case DType::kInt32:
    case DType::kInt16:
    case DType::kInt8:
    case DType::kUint16:
    case DType::kUint8:
      return kInts;
    case DType::kInt64:
      return kInt64s;
    case DType::kBool:
      return kBools;
    case DType::kFloat16:
    case DType::kBfloat16:
      return kHalfs;
    case DType::kUint32:
      return kUint32s;
    case DType::kUint64:
      return kUint64s;
    case DType::kString:
      return kStrings;
    default:
      fail(Code::kUnimplemented, "A tensor of type ", dtype_name(dtype), " cannot be written.");
  }
}

template <typename T>
int64_t load_as(const Tensor& tensor, int64_t i) {
  return static_cast<int64_t>(tensor.data<T>()[i]);
}

int64_t load_integer(const Tensor& tensor, int64_t i) {
  switch (tensor.dtype()) {
    case DType::kInt8:
      return load_as<int8_t>(tensor, i);
    case DType::kInt16:
      return load_as<int16_t>(tensor, i);
    case DType::kInt32:
      return load_as<int32_t>(tensor, i);
    case DType::kUint8:
      return load_as<uint8_t>(tensor, i);
    case DType::kBool:
      return load_as<bool>(tensor, i);
    case DType::kUint32:
      return load_as<uint32_t>(tensor, i);
    case DType::kUint16:
    case DType::kFloat16:
    case DType::kBfloat16:
      return load_as<uint16_t>(tensor, i);
    default:
      return load_as<int64_t>(tensor, i);
  }
}

// Works for all integer types, because the low bytes are the narrower value.
void store_integer(Tensor& tensor, int64_t i, int64_t value) {
  const size_t size = dtype_size(tensor.dtype());
  char* place = static_cast<char*>(tensor.raw()) + static_cast<size_t>(i) * size;
  const auto narrow8 = static_cast<uint8_t>(tensor.dtype() == DType::kBool ? value != 0 : value);
  const auto narrow16 = static_cast<uint16_t>(value);
  const auto narrow32 = static_cast<uint32_t>(value);
  if (size == 1) std::memcpy(place, &narrow8, 1);
  if (size == 2) std::memcpy(place, &narrow16, 2);
  if (size == 4) std::memcpy(place, &narrow32, 4);
  if (size == 8) std::memcpy(place, &value, 8);
}

void write_elements(WireWriter& out, const Tensor& tensor, int64_t count) {
  const int field = field_of(tensor.dtype());
  if (field == kFloats) {
    out.add_packed_floats(field, tensor.data<float>(), static_cast<size_t>(count));
  } else if (field == kDoubles) {
    out.add_packed_doubles(field, tensor.data<double>(), static_cast<size_t>(count));
  } else if (field == kStrings) {
    for (int64_t i = 0; i < count; ++i) out.put_bytes(field, tensor.string_at(i));
  } else {
    std::vector<int64_t> values;
    for (int64_t i = 0; i < count; ++i) values.push_back(load_integer(tensor, i));
    out.add_packed_ints(field, values);
  }
}

bool all_elements_equal(const Tensor& tensor) {
  const size_t size = dtype_size(tensor.dtype());
  const auto* bytes = static_cast<const char*>(tensor.raw());
  return tensor.num_elements() > 0 &&
         std::memcmp(bytes, bytes + size, tensor.num_bytes() - size) == 0;
}

// TensorFlow writes tf.zeros() and constant initializers as one element, tf.constant() in full. The
// origin of a tensor is unknown here. Equal floats or many equal integers are usually the former, a
// few integers (axes, sizes) the latter.
bool is_written_once(const Tensor& tensor) {
  constexpr int64_t kMinCompressed = 16;
  return (is_floating(tensor.dtype()) || tensor.num_elements() > kMinCompressed) &&
         all_elements_equal(tensor);
}

// Fields of a TensorProto before type and shape are validated.
struct TensorParts {
  DType dtype = DType::kInvalid;
  Shape shape;
  std::string_view content;
  std::vector<int64_t> ints;
  std::vector<float> floats;
  std::vector<double> doubles;
  std::vector<std::string_view> strings;

  size_t count() const { return ints.size() + floats.size() + doubles.size() + strings.size(); }
};

TensorParts read_parts(WireReader& r) {
  TensorParts parts;
  while (r.next()) {
    switch (r.field()) {
      case kDType:
        parts.dtype = static_cast<DType>(r.int32());
        break;
      case kTensorShape:
        parts.shape = read_shape(r.message());
        break;
      case kContent:
        parts.content = r.bytes();
        break;
      case kFloats:
        r.append_floats(parts.floats);
        break;
      case kDoubles:
        r.append_doubles(parts.doubles);
        break;
      case kStrings:
        parts.strings.push_back(r.bytes());
        break;
      case kInts:
      case kInt64s:
      case kBools:
      case kHalfs:
      case kUint32s:
      case kUint64s:
        r.append_ints(parts.ints);
        break;
    }
  }
  return parts;
}

// Builds a tensor from single elements. The last one fills the rest; without any, all are zero.
Tensor tensor_of_elements(const TensorParts& parts) {
  Tensor tensor = Tensor::zeros(parts.dtype, parts.shape);
  const auto last = static_cast<int64_t>(parts.count()) - 1;
  for (int64_t i = 0; last >= 0 && i < tensor.num_elements(); ++i) {
    const auto from = static_cast<size_t>(std::min(i, last));
    if (!parts.strings.empty()) {
      tensor.data<int32_t>()[i] = tensor.dictionary()->code(parts.strings[from]);
    } else if (!parts.floats.empty()) {
      tensor.data<float>()[i] = parts.floats[from];
    } else if (!parts.doubles.empty()) {
      tensor.data<double>()[i] = parts.doubles[from];
    } else {
      store_integer(tensor, i, parts.ints[from]);
    }
  }
  return tensor;
}

void check_parts(const TensorParts& parts, const WireReader& r) {
  if (!parts.shape.is_fully_defined()) r.damaged(str_cat("a tensor has shape ", parts.shape));
  const int64_t count = checked_num_elements(parts.shape, r);
  const bool is_filled = parts.content.empty() && static_cast<int64_t>(parts.count()) < count;
  if (is_filled && count > kMaxFilledBytes / static_cast<int64_t>(dtype_size(parts.dtype))) {
    fail(Code::kResourceExhausted, "A tensor in '", std::string(r.where()), "' has shape ",
         parts.shape, ", but ", parts.count(), " elements. One element may stand for at most ",
         kMaxFilledBytes >> 20, " MB.");
  }
  if (is_filled) {
    FilledBytes::add(count * static_cast<int64_t>(dtype_size(parts.dtype)), std::string(r.where()));
  }
  const int field = field_of(parts.dtype);
  const size_t of_kind = field == kFloats    ? parts.floats.size()
                         : field == kDoubles ? parts.doubles.size()
                         : field == kStrings ? parts.strings.size()
                                             : parts.ints.size();
  if (of_kind != parts.count()) {
    r.damaged(
        str_cat("a tensor of type ", dtype_name(parts.dtype), " has elements of another type"));
  }
  if (static_cast<int64_t>(parts.count()) > count) {
    r.damaged(str_cat("a tensor of shape ", parts.shape, " has ", parts.count(), " elements"));
  }
}

}  // namespace

namespace {
thread_local FilledBytes* current_filled = nullptr;
}

FilledBytes::FilledBytes() : outer_(current_filled) {
  if (!outer_) current_filled = this;
}
FilledBytes::~FilledBytes() {
  if (!outer_) current_filled = nullptr;
}

void FilledBytes::add(int64_t bytes, const std::string& where) {
  if (!current_filled) return;
  current_filled->bytes_ += bytes;
  if (current_filled->bytes_ <= kMost) return;
  fail(Code::kResourceExhausted, "The tensors of '", where, "' take more than ", kMost >> 20,
       " MB in expanded form: single elements stand for many.");
}

void put_shape(WireWriter& out, int field, const Shape& shape) {
  out.put_nested(field, [&] {
    if (!shape.has_rank()) out.add_bool(3, true);
    for (int i = 0; shape.has_rank() && i < shape.rank(); ++i) {
      out.put_nested(2, [&] { out.add_int(1, shape.dim(i)); });
    }
  });
}

Shape read_shape(WireReader r) {
  std::vector<int64_t> dims;
  bool unknown = false;
  while (r.next()) {
    if (r.field() == 3) unknown = r.boolean();
    if (r.field() != 2) continue;
    int64_t size = 0;
    for (WireReader dim = r.message(); dim.next();) {
      if (dim.field() == 1) size = dim.integer();
    }
    if (size < -1) r.damaged(str_cat("a dimension has size ", size));
    if (size > Shape::kMaxElements) {
      r.damaged(str_cat("a tensor has shape (..., ", size, ", ...)"));
    }
    dims.push_back(size);
  }
  if (dims.size() > static_cast<size_t>(Shape::kMaxRank)) {
    fail(Code::kUnimplemented, "A tensor in '", std::string(r.where()), "' has ", dims.size(),
         " dimensions; runhooks supports at most ", Shape::kMaxRank, ".");
  }
  return unknown ? Shape::unknown() : Shape(dims);
}

std::string_view tensor_bytes(const Tensor& tensor, Tensor& copy) {
  const Tensor* source = &tensor;
  if (kIsBigEndianHost) {
    copy = tensor.copy();
    swap_on_big_endian(copy.raw(), dtype_size(copy.dtype()),
                       static_cast<size_t>(copy.num_elements()));
    source = &copy;
  }
  return {static_cast<const char*>(source->raw()), source->num_bytes()};
}

int64_t checked_num_elements(const Shape& shape, const WireReader& r) {
  int64_t product = 1;
  bool has_zero = false;
  for (int i = 0; i < shape.rank(); ++i) {
    const int64_t size = shape.dim(i);
    if (size == 0) {
      has_zero = true;
    } else if (size < 0 || size > Shape::kMaxElements / product) {
      r.damaged(str_cat("a tensor has shape ", shape));
    } else {
      product *= size;
    }
  }
  return has_zero ? 0 : product;
}

WireWriter write_tensor(const Tensor& tensor) {
  WireWriter out;
  out.put_int(kDType, static_cast<int>(tensor.dtype()));
  put_shape(out, kTensorShape, tensor.shape());
  const int64_t count = tensor.num_elements();
  const bool one_by_one =
      count <= 1 || tensor.dtype() == DType::kString || tensor.dtype() == DType::kBool;
  if (tensor.dtype() != DType::kString && is_written_once(tensor)) {
    write_elements(out, tensor, 1);
  } else if (one_by_one) {
    write_elements(out, tensor, count);
  } else {
    field_of(tensor.dtype());  // throws if the type cannot be written
    Tensor copy;
    out.put_bytes(kContent, tensor_bytes(tensor, copy));
  }
  return out;
}

Tensor read_tensor(WireReader r) {
  const TensorParts parts = read_parts(r);
  if (dtype_size(parts.dtype) == 0) {
    fail(Code::kUnimplemented, "A tensor in '", std::string(r.where()), "' has data type ",
         static_cast<int>(parts.dtype), ", which runhooks does not support.");
  }
  check_parts(parts, r);
  if (parts.content.empty() || parts.dtype == DType::kString) return tensor_of_elements(parts);
  const auto count = static_cast<size_t>(parts.shape.num_elements());
  if (parts.content.size() != count * dtype_size(parts.dtype)) {
    r.damaged(str_cat("a ", dtype_name(parts.dtype), " tensor of shape ", parts.shape, " has ",
                      parts.content.size(), " bytes"));
  }
  Tensor tensor(parts.dtype, parts.shape);
  std::memcpy(tensor.raw(), parts.content.data(), parts.content.size());
  if (parts.dtype == DType::kBool) {
    // A bool with another byte value than 0 or 1 is undefined behavior.
    auto* bytes = static_cast<unsigned char*>(tensor.raw());
    for (size_t i = 0; i < count; ++i) bytes[i] = bytes[i] != 0;
  }
  swap_on_big_endian(tensor.raw(), dtype_size(parts.dtype), count);
  return tensor;
}

}  // namespace runhooks
