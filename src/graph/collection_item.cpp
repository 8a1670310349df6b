#include "graph/collection_item.h"

namespace runhooks {

namespace {

// Descriptions for messages, in the order of the types in CollectionItem.
constexpr const char* kItemTypes[] = {"a tensor", "an operation",      "a variable",
                                      "a string", "a saveable object", "a saver"};

}  // namespace

template <typename T>
const T& collection_item(const CollectionItem& item, const std::string& collection) {
  if (const T* typed = std::get_if<T>(&item)) return *typed;
  const std::string name = collection_item_name(item);
  invalid_argument("Each item of collection \"", collection, "\" must be ",
                   kItemTypes[CollectionItem(T()).index()], ", not ", kItemTypes[item.index()],
                   name.empty() ? "" : str_cat(" '", name, "'"), ".");
}

template const Output& collection_item(const CollectionItem&, const std::string&);
template Operation* const& collection_item(const CollectionItem&, const std::string&);
template const std::shared_ptr<Variable>& collection_item(const CollectionItem&,
                                                          const std::string&);
template const std::shared_ptr<Saveable>& collection_item(const CollectionItem&,
                                                          const std::string&);
template const std::shared_ptr<void>& collection_item(const CollectionItem&, const std::string&);

}  // namespace runhooks
