// What lives here: AttrValue, the value of an operation's attribute, and the map of them.
// Who may use it: graph and every layer above it.
// What it must not know: operations, kernels, R.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "tensor/tensor.h"

namespace runhooks {

class FuncGraph;
// A function that an operation calls (graph/func_graph.h).
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

// In the spelling of an op's attribute specification: "int", "list(type)", ...
const char* attr_type_name(const AttrValue& value);
bool attr_equal(const AttrValue& a, const AttrValue& b);

// Attributes by name; few, so a vector.
class AttrMap {
 public:
  AttrMap() = default;
  AttrMap(std::initializer_list<std::pair<std::string, AttrValue>> items) : items_(items) {}

  const AttrValue* find(const std::string& name) const;
  void set(const std::string& name, AttrValue value);
  const std::vector<std::pair<std::string, AttrValue>>& items() const { return items_; }

 private:
  std::vector<std::pair<std::string, AttrValue>> items_;
};

}  // namespace runhooks
