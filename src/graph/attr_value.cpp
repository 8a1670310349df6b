#include "graph/attr_value.h"

#include <algorithm>

namespace runhooks {

const char* attr_type_name(const AttrValue& value) {
  static const char* const kNames[] = {
      "nothing", "int",       "float",       "bool",         "string",     "type",       "shape",
      "tensor",  "list(int)", "list(float)", "list(string)", "list(type)", "list(shape)",
      "func"};
  return kNames[value.index()];
}

bool attr_equal(const AttrValue& a, const AttrValue& b) {
  if (a.index() != b.index()) return false;
  if (const auto* tensor = std::get_if<Tensor>(&a)) return tensor->equals(std::get<Tensor>(b));
  return std::visit(
      [&b](const auto& x) -> bool {
        using X = std::decay_t<decltype(x)>;
        if constexpr (std::is_same_v<X, Tensor>) {
          return false;
        } else {
          return x == std::get<X>(b);
        }
      },
      a);
}

const AttrValue* AttrMap::find(const std::string& name) const {
  for (const auto& item : items_) {
    if (item.first == name) return &item.second;
  }
  return nullptr;
}

void AttrMap::set(const std::string& name, AttrValue value) {
  for (auto& item : items_) {
    if (item.first == name) {
      item.second = std::move(value);
      return;
    }
  }
  // an operation has several: moving them along as the vector grows by one and two costs more
  if (items_.size() == items_.capacity()) items_.reserve(std::max<size_t>(8, 2 * items_.size()));
  items_.emplace_back(name, std::move(value));
}

}  // namespace runhooks
