#include "io/proto/attr_proto.h"

#include "graph/func_graph.h"
#include "io/proto/tensor_proto.h"

namespace runhooks {

namespace {

// Fields of AttrValue. ListValue uses the same numbers, except for the list.
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

class AttrWriter {
 public:
  explicit AttrWriter(WireWriter& out) : out_(out) {}
  void operator()(std::monostate) const {}
  void operator()(int64_t x) const { out_.put_int(kAttrInt, x); }
  void operator()(float x) const { out_.put_float(kAttrFloat, x); }
  void operator()(bool x) const { out_.put_int(kAttrBool, x); }
  void operator()(const std::string& x) const { out_.put_bytes(kAttrString, x); }
  void operator()(DType x) const { out_.put_int(kAttrType, static_cast<int>(x)); }
  void operator()(const Shape& x) const { put_shape(out_, kAttrShape, x); }
  void operator()(const Tensor& x) const { out_.put_message(kAttrTensor, write_tensor(x)); }
  void operator()(const std::vector<int64_t>& x) const {
    put_list([&] { out_.add_packed_ints(kAttrInt, x); });
  }
  void operator()(const std::vector<float>& x) const {
    put_list([&] { out_.add_packed_floats(kAttrFloat, x.data(), x.size()); });
  }
  void operator()(const std::vector<std::string>& x) const {
    put_list([&] {
      for (const std::string& item : x) out_.put_bytes(kAttrString, item);
    });
  }
  void operator()(const std::vector<DType>& x) const {
    put_list([&] { out_.add_packed_ints(kAttrType, x); });
  }
  void operator()(const std::vector<Shape>& x) const {
    put_list([&] {
      for (const Shape& item : x) put_shape(out_, kAttrShape, item);
    });
  }
  void operator()(const FunctionPtr& x) const {
    out_.put_nested(kAttrFunction, [&] { out_.put_bytes(1, x->function_name()); });
  }

 private:
  template <typename WriteItems>
  void put_list(const WriteItems& write_items) const {
    out_.put_nested(kAttrList, write_items);
  }
  WireWriter& out_;
};

AttrValue empty_list(const std::string& type) {
  if (type == "list(string)") return std::vector<std::string>();
  if (type == "list(float)") return std::vector<float>();
  if (type == "list(type)") return std::vector<DType>();
  if (type == "list(shape)") return std::vector<Shape>();
  return std::vector<int64_t>();
}

// Reads a ListValue. The field number determines the type of the items.
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

}  // namespace

void put_attr(WireWriter& out, int field, const AttrValue& value) {
  out.put_nested(field, [&] { std::visit(AttrWriter(out), value); });
}

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
        value = read_supported_tensor(r.message());
        break;
      default:
        return std::nullopt;
    }
  }
  return value;
}

}  // namespace runhooks
