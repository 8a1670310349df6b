// Describes datasets as text: for messages, and as a signature stored with saved positions.
#include "data/data_fingerprint.h"
#include "data/dataset.h"
#include "data/dataset_function.h"
#include "data/element_source.h"
#include "data/in_memory.h"

namespace runhooks {

namespace {

// kSignature omits the data and their location, but includes everything else that determines
// elements.
enum class DescriptionStyle { kReadable, kSignature };

std::string description_of(const Dataset& dataset, DescriptionStyle style) {
  return style == DescriptionStyle::kSignature ? dataset.pipeline_signature()
                                               : dataset.description();
}

template <typename Items, typename Describe>
std::string describe_all(const Items& items, Describe describe_one) {
  std::vector<std::string> texts;
  for (const auto& item : items) texts.push_back(describe_one(item));
  return str_join(texts, ", ");
}

std::string describe_type(DType dtype, const Shape& shape) {
  return str_cat(dtype_name(dtype), shape);
}

std::string describe_tensor(const Tensor& tensor, DescriptionStyle style) {
  const std::string type = describe_type(tensor.dtype(), tensor.shape());
  if (style == DescriptionStyle::kReadable) return type;
  DataFingerprint values;
  values.add(tensor);
  return str_cat(type, " ", static_cast<unsigned long>(values.fingerprint()));
}

// Describes a function by its fingerprint and the values that it captures.
std::string describe_function(const DatasetFunction& function, DescriptionStyle style) {
  const std::string name = str_cat("function ", static_cast<unsigned long>(function.fingerprint()));
  if (function.captured().empty()) return name;
  return str_cat(name, " with ", describe_all(function.captured(), [style](const Tensor& value) {
                   return describe_tensor(value, style);
                 }));
}

std::string describe_object(const CoreObject& object, DescriptionStyle style) {
  if (const auto* dataset = dynamic_cast<const Dataset*>(&object))
    return description_of(*dataset, style);
  if (const auto* function = dynamic_cast<const DatasetFunction*>(&object)) {
    return describe_function(*function, style);
  }
  const auto* dataset_valued = dynamic_cast<const DatasetValuedFunction*>(&object);
  if (!dataset_valued || style == DescriptionStyle::kReadable) return object.kind();
  return str_cat(describe_function(dataset_valued->function(), style), " giving ",
                 description_of(dataset_valued->pattern(), style));
}

std::string describe(const Value& value, DescriptionStyle style) {
  const auto describe_one = [style](const Value& item) { return describe(item, style); };
  double number;
  if (value_number(value, &number)) return str_cat(number);
  if (const auto* flag = value.get_if<bool>()) return *flag ? "TRUE" : "FALSE";
  if (const auto* text = value.get_if<std::string>()) return str_cat('"', *text, '"');
  if (const auto* tensor = value.get_if<Tensor>()) return describe_tensor(*tensor, style);
  if (const auto* output = value.get_if<Output>()) {
    return describe_type(output->dtype(), output->shape());
  }
  if (const auto* list = value.get_if<std::shared_ptr<ValueList>>()) {
    return "(" + describe_all(**list, describe_one) + ")";
  }
  if (const auto* args = value.get_if<std::shared_ptr<Args>>()) {
    const auto describe_item = [&](const auto& item) {
      return item.first + " = " + describe_one(item.second);
    };
    return "(" + describe_all((*args)->items(), describe_item) + ")";
  }
  if (const auto* object = value.get_if<std::shared_ptr<CoreObject>>())
    return describe_object(**object, style);
  return value.kind();
}

std::string describe_kind(const std::string& type,
                          const Args& args,
                          DescriptionStyle style,
                          const std::function<bool(const std::string&)>& is_omitted) {
  std::vector<std::string> arguments;
  std::string input;
  for (const auto& [name, value] : args.items()) {
    if (value.is_null() || name == "seed" || is_omitted(name)) continue;
    if (name == "dataset") {
      input = " of " + describe(value, style);
    } else {
      arguments.push_back(name + " = " + describe(value, style));
    }
  }
  std::string kind = type;
  const std::string ending = "Dataset";
  if (kind.size() > ending.size()) kind.resize(kind.size() - ending.size());
  return str_cat(kind, "(", str_join(arguments, ", "), ")", input);
}

}  // namespace

std::string Dataset::description() const {
  return describe_kind(type_, args_, DescriptionStyle::kReadable,
                       [](const std::string&) { return false; });
}

std::string Dataset::pipeline_signature() const {
  return describe_kind(type_, args_, DescriptionStyle::kSignature,
                       [this](const std::string& name) { return identifies_data(name); });
}

// --- data

namespace {

void add_data_of(const Value& value, DataFingerprint& fingerprint) {
  if (const auto* list = value.get_if<std::shared_ptr<ValueList>>()) {
    for (const Value& item : **list) add_data_of(item, fingerprint);
  }
  const auto* object = value.get_if<std::shared_ptr<CoreObject>>();
  if (!object) return;
  if (const auto* dataset = dynamic_cast<const Dataset*>(object->get())) {
    dataset->add_data_to(fingerprint);
  } else if (const auto* dataset_valued =
                 dynamic_cast<const DatasetValuedFunction*>(object->get())) {
    dataset_valued->pattern().add_data_to(fingerprint);
  }
}

}  // namespace

DataFingerprint Dataset::data_fingerprint() const {
  DataFingerprint fingerprint;
  add_data_to(fingerprint);
  return fingerprint;
}

void Dataset::add_data_to(DataFingerprint& fingerprint) const {
  for (const auto& item : args_.items()) add_data_of(item.second, fingerprint);
}

}  // namespace runhooks
