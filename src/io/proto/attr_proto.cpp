#include "io/proto/attr_proto.h"

#include "graph/func_graph.h"
#include "io/proto/tensor_proto.h"

namespace runhooks {

namespace {

// Fields of AttrValue; those of its ListValue have the same numbers, but for the list itself.
enum AttrField : int {
  kAttrList = 1,
  kAttrString = 2,
  kAttrInt = 3,
  kAttrFloat = 4,
  kAttrBool = 5,
  kAttrType = 6,
  kAttrShape = 7,
  kAttrTensor = 8,
  kAttrFunction = 10,
};

struct AttrWriter {
  WireWriter operator()(std::monostate) const { return {}; }
  WireWriter operator()(int64_t x) const { return WireWriter().put_int(kAttrInt, x); }
  WireWriter operator()(float x) const { return WireWriter().put_float(kAttrFloat, x); }
  WireWriter operator()(bool x) const { return WireWriter().put_int(kAttrBool, x); }
  WireWriter operator()(const std::string& x) const {
    return WireWriter().put_bytes(kAttrString, x);
  }
  WireWriter operator()(DType x) const {
    return WireWriter().put_int(kAttrType, static_cast<int>(x));
  }
  WireWriter operator()(const Shape& x) const {
    return WireWriter().put_message(kAttrShape, write_shape(x));
  }
  WireWriter operator()(const Tensor& x) const {
    return WireWriter().put_message(kAttrTensor, write_tensor(x));
  }
  WireWriter operator()(const std::vector<int64_t>& x) const {
    return list(WireWriter().add_packed_ints(kAttrInt, x));
  }
  WireWriter operator()(const std::vector<float>& x) const {
    return list(WireWriter().add_packed_floats(kAttrFloat, x.data(), x.size()));
  }
  WireWriter operator()(const std::vector<std::string>& x) const {
    WireWriter items;
    for (const std::string& item : x) items.put_bytes(kAttrString, item);
    return list(items);
  }
  WireWriter operator()(const std::vector<DType>& x) const {
    return list(WireWriter().add_packed_ints(kAttrType, x));
  }
  WireWriter operator()(const std::vector<Shape>& x) const {
    WireWriter items;
    for (const Shape& item : x) items.put_message(kAttrShape, write_shape(item));
    return list(items);
  }
  WireWriter operator()(const FunctionPtr& x) const {
    return WireWriter().put_message(kAttrFunction, WireWriter().put_bytes(1, x->function_name()));
  }

 private:
  static WireWriter list(const WireWriter& items) {
    return WireWriter().put_message(kAttrList, items);
  }
};

AttrValue empty_list(const std::string& type) {
  if (type == "list(string)") return std::vector<std::string>();
  if (type == "list(float)") return std::vector<float>();
  if (type == "list(type)") return std::vector<DType>();
  if (type == "list(shape)") return std::vector<Shape>();
  return std::vector<int64_t>();
}

// What the items of a list are is known by the field they come in.
std::optional<AttrValue> read_list(WireReader r, const std::string& type) {
  std::vector<std::string> strings;
  std::vector<int64_t> ints, types;
  std::vector<float> floats;
  std::vector<Shape> shapes;
  while (r.next()) {
    switch (r.field()) {
      case kAttrString:
        strings.push_back(r.text());
        break;
      case kAttrInt:
        r.append_ints(ints);
        break;
      case kAttrFloat:
        r.append_floats(floats);
        break;
      case kAttrType:
        r.append_ints(types);
        break;
      case kAttrShape:
        shapes.push_back(read_shape(r.message()));
        break;
      default:
        return std::nullopt;
    }
  }
  if (!strings.empty()) return strings;
  if (!ints.empty()) return ints;
  if (!floats.empty()) return floats;
  if (!shapes.empty()) return shapes;
  if (types.empty()) return empty_list(type);
  std::vector<DType> dtypes;
  for (int64_t item : types) dtypes.push_back(static_cast<DType>(item));
  return dtypes;
}

std::optional<AttrValue> read_tensor_attr(const WireReader& r) {
  try {
    return read_tensor(r.message());
  } catch (const Error& error) {
    if (error.code() != Code::kUnimplemented) throw;
    return std::nullopt;
  }
}

}  // namespace

WireWriter write_attr(const AttrValue& value) { return std::visit(AttrWriter(), value); }

std::optional<AttrValue> read_attr(WireReader r, const std::string& type) {
  std::optional<AttrValue> value = AttrValue();
  while (r.next()) {
    switch (r.field()) {
      case kAttrList:
        value = read_list(r.message(), type);
        break;
      case kAttrString:
        value = r.text();
        break;
      case kAttrInt:
        value = r.integer();
        break;
      case kAttrFloat:
        value = r.float32();
        break;
      case kAttrBool:
        value = r.boolean();
        break;
      case kAttrType:
        value = static_cast<DType>(r.int32());
        break;
      case kAttrShape:
        value = read_shape(r.message());
        break;
      case kAttrTensor:
        value = read_tensor_attr(r);
        break;
      default:
        return std::nullopt;
    }
  }
  return value;
}

}  // namespace runhooks
