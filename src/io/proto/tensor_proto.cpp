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

template <typename T>
int64_t load_as(const Tensor& tensor, int64_t i) {
  return static_cast<int64_t>(tensor.data<T>()[i]);
}

// The number of the field of a TensorProto that holds elements of a type.
struct ElementField {
  DType dtype;
  int field;
  int64_t (*load)(const Tensor& tensor, int64_t i);  // NULL if the field does not contain integers
};
constexpr ElementField kElementFields[] = {
    {DType::kFloat32, kFloats, nullptr},           {DType::kFloat64, kDoubles, nullptr},
    {DType::kString, kStrings, nullptr},           {DType::kInt8, kInts, load_as<int8_t>},
    {DType::kInt16, kInts, load_as<int16_t>},      {DType::kInt32, kInts, load_as<int32_t>},
    {DType::kUint8, kInts, load_as<uint8_t>},      {DType::kUint16, kInts, load_as<uint16_t>},
    {DType::kInt64, kInt64s, load_as<int64_t>},    {DType::kBool, kBools, load_as<bool>},
    {DType::kFloat16, kHalfs, load_as<uint16_t>},  {DType::kBfloat16, kHalfs, load_as<uint16_t>},
    {DType::kUint32, kUint32s, load_as<uint32_t>}, {DType::kUint64, kUint64s, load_as<int64_t>},
};

const ElementField& field_of(DType dtype) {
  for (const ElementField& field : kElementFields) {
    if (field.dtype == dtype) return field;
  }
  fail(Code::kUnimplemented, "A tensor of type ", dtype_name(dtype), " cannot be written.");
}

void write_elements(WireWriter& out, const Tensor& tensor, int64_t count) {
  const auto& [dtype, field, load] = field_of(tensor.dtype());
  if (field == kFloats) {
    out.add_packed_floats(field, tensor.data<float>(), static_cast<size_t>(count));
  } else if (field == kDoubles) {
    out.add_packed_doubles(field, tensor.data<double>(), static_cast<size_t>(count));
  } else if (field == kStrings) {
    for (int64_t i = 0; i < count; ++i) out.put_bytes(field, tensor.string_at(i));
  } else {
    std::vector<int64_t> values;
    for (int64_t i = 0; i < count; ++i) values.push_back(load(tensor, i));
    out.add_packed_ints(field, values);
  }
}

bool all_elements_equal(const Tensor& tensor) {
  const size_t size = dtype_size(tensor.dtype());
  const auto* bytes = static_cast<const char*>(tensor.raw());
  return tensor.num_elements() > 0 &&
         std::memcmp(bytes, bytes + size, tensor.num_bytes() - size) == 0;
}

// TensorFlow writes tf.zeros() and constant initializers as one element, but tf.constant() in full.
// Equal floats or many equal integers usually come from an initializer, a few equal integers (axes,
// sizes) from tf.constant().
bool writes_one_element(const Tensor& tensor) {
  constexpr int64_t kMaxFullIntegers = 16;
  return (is_floating(tensor.dtype()) || tensor.num_elements() > kMaxFullIntegers) &&
         all_elements_equal(tensor);
}

// The fields of a TensorProto as they were read, before type and shape are validated.
struct TensorFields {
  DType dtype = DType::kInvalid;
  Shape shape;
  std::string_view content;
  std::vector<int64_t> ints;
  std::vector<float> floats;
  std::vector<double> doubles;
  std::vector<std::string_view> strings;

  size_t count() const { return ints.size() + floats.size() + doubles.size() + strings.size(); }
};

TensorFields read_fields(WireReader& r) {
  TensorFields fields;
  while (r.next()) {
    switch (r.field()) {
      case kDType:
        fields.dtype = static_cast<DType>(r.int32());
        break;
      case kTensorShape:
        fields.shape = read_shape(r.message());
        break;
      case kContent:
        fields.content = r.bytes();
        break;
      case kFloats:
        r.append_floats(fields.floats);
        break;
      case kDoubles:
        r.append_doubles(fields.doubles);
        break;
      case kStrings:
        fields.strings.push_back(r.bytes());
        break;
      case kInts:
      case kInt64s:
      case kBools:
      case kHalfs:
      case kUint32s:
      case kUint64s:
        r.append_ints(fields.ints);
        break;
    }
  }
  return fields;
}

// Builds a tensor from single elements. The last one is repeated; without elements, all are zero.
Tensor tensor_from_elements(const TensorFields& fields) {
  Tensor tensor = Tensor::zeros(fields.dtype, fields.shape);
  const auto last_index = static_cast<int64_t>(fields.count()) - 1;
  for (int64_t i = 0; last_index >= 0 && i < tensor.num_elements(); ++i) {
    const auto source_index = static_cast<size_t>(std::min(i, last_index));
    if (!fields.strings.empty()) {
      tensor.data<int32_t>()[i] = tensor.dictionary()->code(fields.strings[source_index]);
    } else if (!fields.floats.empty()) {
      tensor.data<float>()[i] = fields.floats[source_index];
    } else if (!fields.doubles.empty()) {
      tensor.data<double>()[i] = fields.doubles[source_index];
    } else {
      store_integer(tensor, i, fields.ints[source_index]);
    }
  }
  return tensor;
}

void check_fields(const TensorFields& fields, const WireReader& r) {
  if (!fields.shape.is_fully_defined()) r.damaged(str_cat("a tensor has shape ", fields.shape));
  const int64_t count = checked_num_elements(fields.shape, r);
  const bool is_expanded = fields.content.empty() && static_cast<int64_t>(fields.count()) < count;
  if (is_expanded && count > kMaxExpandedTensorBytes / static_cast<int64_t>(dtype_size(fields.dtype))) {
    fail(Code::kResourceExhausted, "A tensor in '", std::string(r.where()), "' has shape ",
         fields.shape, ", but ", fields.count(),
         " elements. Repeating an element may fill at most ", kMaxExpandedTensorBytes >> 20, " MB.");
  }
  if (is_expanded) {
    ExpandedBytesLimit::add(count * static_cast<int64_t>(dtype_size(fields.dtype)),
                            std::string(r.where()));
  }
  const int field = field_of(fields.dtype).field;
  const size_t num_elements_of_type = field == kFloats    ? fields.floats.size()
                                      : field == kDoubles ? fields.doubles.size()
                                      : field == kStrings ? fields.strings.size()
                                                          : fields.ints.size();
  if (num_elements_of_type != fields.count()) {
    r.damaged(
        str_cat("a tensor of type ", dtype_name(fields.dtype), " has elements of another type"));
  }
  if (static_cast<int64_t>(fields.count()) > count) {
    r.damaged(str_cat("a tensor of shape ", fields.shape, " has ", fields.count(), " elements"));
  }
}

}  // namespace

namespace {
thread_local ExpandedBytesLimit* outermost_limit = nullptr;
}

ExpandedBytesLimit::ExpandedBytesLimit() : outer_(outermost_limit) {
  if (!outer_) outermost_limit = this;
}
ExpandedBytesLimit::~ExpandedBytesLimit() {
  if (!outer_) outermost_limit = nullptr;
}

void ExpandedBytesLimit::add(int64_t bytes, const std::string& where) {
  if (!outermost_limit) return;
  outermost_limit->bytes_ += bytes;
  if (outermost_limit->bytes_ <= kMaxBytes) return;
  fail(Code::kResourceExhausted, "The tensors of '", where, "' take more than ", kMaxBytes >> 20,
       " MB, because the file stores one element for many equal ones.");
}

void store_integer(Tensor& tensor, int64_t i, int64_t value) {
  const size_t size = dtype_size(tensor.dtype());
  char* element = static_cast<char*>(tensor.raw()) + static_cast<size_t>(i) * size;
  const auto narrow8 = static_cast<uint8_t>(tensor.dtype() == DType::kBool ? value != 0 : value);
  const auto narrow16 = static_cast<uint16_t>(value);
  const auto narrow32 = static_cast<uint32_t>(value);
  if (size == 1) std::memcpy(element, &narrow8, 1);
  if (size == 2) std::memcpy(element, &narrow16, 2);
  if (size == 4) std::memcpy(element, &narrow32, 4);
  if (size == 8) std::memcpy(element, &value, 8);
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
  bool has_unknown_rank = false;
  while (r.next()) {
    if (r.field() == 3) has_unknown_rank = r.boolean();
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
  return has_unknown_rank ? Shape::unknown() : Shape(dims);
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
  const bool writes_single_elements =
      count <= 1 || tensor.dtype() == DType::kString || tensor.dtype() == DType::kBool;
  if (tensor.dtype() != DType::kString && writes_one_element(tensor)) {
    write_elements(out, tensor, 1);
  } else if (writes_single_elements) {
    write_elements(out, tensor, count);
  } else {
    field_of(tensor.dtype());  // throws if the type cannot be written
    Tensor copy;
    out.put_bytes(kContent, tensor_bytes(tensor, copy));
  }
  return out;
}

Tensor read_tensor(WireReader r) {
  const TensorFields fields = read_fields(r);
  if (dtype_size(fields.dtype) == 0) {
    fail(Code::kUnimplemented, "A tensor in '", std::string(r.where()), "' has data type ",
         static_cast<int>(fields.dtype), ", which runhooks does not support.");
  }
  check_fields(fields, r);
  if (fields.content.empty() || fields.dtype == DType::kString) return tensor_from_elements(fields);
  const auto count = static_cast<size_t>(fields.shape.num_elements());
  if (fields.content.size() != count * dtype_size(fields.dtype)) {
    r.damaged(str_cat("a ", dtype_name(fields.dtype), " tensor of shape ", fields.shape, " has ",
                      fields.content.size(), " bytes"));
  }
  Tensor tensor(fields.dtype, fields.shape);
  std::memcpy(tensor.raw(), fields.content.data(), fields.content.size());
  if (fields.dtype == DType::kBool) {
    // Reading a bool whose byte is neither 0 nor 1 would be undefined behaviour.
    auto* bytes = static_cast<unsigned char*>(tensor.raw());
    for (size_t i = 0; i < count; ++i) bytes[i] = bytes[i] != 0;
  }
  swap_on_big_endian(tensor.raw(), dtype_size(fields.dtype), count);
  return tensor;
}

std::optional<Tensor> read_supported_tensor(const WireReader& message) {
  try {
    return read_tensor(message);
  } catch (const Error& error) {
    if (error.code() != Code::kUnimplemented) throw;
    return std::nullopt;
  }
}

}  // namespace runhooks
