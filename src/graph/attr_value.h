// AttrValue: the value of an operation's attribute; AttrMap: the attributes of an operation.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "tensor/tensor.h"

namespace runhooks {

class FuncGraph;
// A function that an operation calls, see graph/func_graph.h.
using FunctionPtr = std::shared_ptr<FuncGraph>;

using AttrValue = std::variant<std::monostate,
                               int64_t,
                               float,
                               bool,
                               std::string,
                               DType,
                               Shape,
                               Tensor,
                               std::vector<int64_t>,
                               std::vector<float>,
                               std::vector<std::string>,
                               std::vector<DType>,
                               std::vector<Shape>,
                               FunctionPtr>;

// Returns the type of the value as op definitions write it: "int", "list(type)", ...
const char* attr_type_name(const AttrValue& value);
bool attr_equal(const AttrValue& a, const AttrValue& b);

// Attributes by name, in a vector because there are few. Copies share the vector until one of them
// is modified (copy-on-write), because exports copy operations with unchanged attributes.
class AttrMap {
 public:
  using Items = std::vector<std::pair<std::string, AttrValue>>;
  AttrMap() = default;
  AttrMap(std::initializer_list<std::pair<std::string, AttrValue>> items)
      : items_(std::make_shared<Items>(items)) {}

  const AttrValue* find(std::string_view name) const;
  void set(const std::string& name, AttrValue value);
  // Reserves capacity for `size` attributes.
  void reserve(size_t size) { unshared_items(size).reserve(size); }
  const Items& items() const;

 private:
  Items& unshared_items(size_t size);
  std::shared_ptr<Items> items_;  // NULL if empty
};

}  // namespace runhooks
