#include "graph/attr_value.h"

#include <algorithm>

namespace runhooks {

const char* attr_type_name(const AttrValue& value) {
  static const char* const kNames[] = {
      "nothing", "int",       "float",       "bool",         "string",     "type",        "shape",
      "tensor",  "list(int)", "list(float)", "list(string)", "list(type)", "list(shape)", "func"};
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

const AttrMap::Items& AttrMap::items() const {
  static const Items kNone;
  return items_ ? *items_ : kNone;
}

const AttrValue* AttrMap::find(std::string_view name) const {
  for (const auto& item : items()) {
    if (item.first == name) return &item.second;
  }
  return nullptr;
}

// Copies the items first if another AttrMap shares them. A new vector has capacity `size`.
AttrMap::Items& AttrMap::unshared_items(size_t size) {
  if (items_ && items_.use_count() == 1) return *items_;
  auto items = std::make_shared<Items>();
  items->reserve(size);
  if (items_) items->insert(items->end(), items_->begin(), items_->end());
  items_ = std::move(items);
  return *items_;
}

void AttrMap::set(const std::string& name, AttrValue value) {
  // Avoids reallocation, because most operations have several attributes.
  constexpr size_t kMinCapacity = 4;
  Items& items = unshared_items(std::max(kMinCapacity, this->items().size() + 1));
  for (auto& item : items) {
    if (item.first == name) {
      item.second = std::move(value);
      return;
    }
  }
  if (items.size() == items.capacity()) items.reserve(std::max(kMinCapacity, 2 * items.size()));
  items.emplace_back(name, std::move(value));
}

}  // namespace runhooks
