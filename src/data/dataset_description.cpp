// Describes datasets as text: for messages, and as a signature stored with saved positions.
#include "data/data_fingerprint.h"
#include "data/dataset.h"
#include "data/dataset_function.h"
#include "data/element_source.h"
#include "data/in_memory.h"

namespace runhooks {

namespace {

// kFingerprint omits the data and their location, but includes everything else that determines
// elements.
enum class DescriptionFor { kReadable, kFingerprint };

std::string description_of(const Dataset& dataset, DescriptionFor how) {
  return how == DescriptionFor::kFingerprint ? dataset.pipeline_signature() : dataset.description();
}

template <typename Items, typename Describe>
std::string describe_all(const Items& items, Describe describe_one) {
  std::vector<std::string> words;
  for (const auto& item : items) words.push_back(describe_one(item));
  return str_join(words, ", ");
}

std::string describe_type(DType dtype, const Shape& shape) {
  return str_cat(dtype_name(dtype), shape);
}

std::string describe_tensor(const Tensor& tensor, DescriptionFor how) {
  const std::string type = describe_type(tensor.dtype(), tensor.shape());
  if (how == DescriptionFor::kReadable) return type;
  DataFingerprint content;
  content.add(tensor);
  return str_cat(type, " ", static_cast<unsigned long>(content.fingerprint()));
}

// Includes captured values.
std::string describe_function(const DatasetFunction& function, DescriptionFor how) {
  const std::string name = str_cat("function ", static_cast<unsigned long>(function.fingerprint()));
  if (function.captured().empty()) return name;
  return str_cat(name, " with ", describe_all(function.captured(), [how](const Tensor& value) {
                   return describe_tensor(value, how);
                 }));
}

std::string describe_object(const CoreObject& made, DescriptionFor how) {
  if (const auto* dataset = dynamic_cast<const Dataset*>(&made))
    return description_of(*dataset, how);
  if (const auto* function = dynamic_cast<const DatasetFunction*>(&made)) {
    return describe_function(*function, how);
  }
  const auto* maker = dynamic_cast<const DatasetValuedFunction*>(&made);
  if (!maker || how == DescriptionFor::kReadable) return made.kind();
  return str_cat(describe_function(maker->function(), how), " giving ",
                 description_of(maker->pattern(), how));
}

std::string describe(const Value& value, DescriptionFor how) {
  const auto describe_one = [how](const Value& item) { return describe(item, how); };
  double number;
  if (value_number(value, &number)) return str_cat(number);
  if (const auto* flag = value.get_if<bool>()) return *flag ? "TRUE" : "FALSE";
  if (const auto* text = value.get_if<std::string>()) return str_cat('"', *text, '"');
  if (const auto* tensor = value.get_if<Tensor>()) return describe_tensor(*tensor, how);
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
  if (const auto* made = value.get_if<std::shared_ptr<CoreObject>>())
    return describe_object(**made, how);
  return value.kind();
}

std::string describe_kind(const std::string& type,
                          const Args& args,
                          DescriptionFor how,
                          const std::function<bool(const std::string&)>& is_left_out) {
  std::vector<std::string> own;
  std::string input;
  for (const auto& [name, value] : args.items()) {
    if (value.is_null() || name == "seed" || is_left_out(name)) continue;
    if (name == "dataset") {
      input = " of " + describe(value, how);
    } else {
      own.push_back(name + " = " + describe(value, how));
    }
  }
  std::string kind = type;
  const std::string ending = "Dataset";
  if (kind.size() > ending.size()) kind.resize(kind.size() - ending.size());
  return str_cat(kind, "(", str_join(own, ", "), ")", input);
}

}  // namespace

std::string Dataset::description() const {
  return describe_kind(type_, args_, DescriptionFor::kReadable,
                       [](const std::string&) { return false; });
}

std::string Dataset::pipeline_signature() const {
  return describe_kind(type_, args_, DescriptionFor::kFingerprint,
                       [this](const std::string& name) { return identifies_data(name); });
}

// --- content

namespace {

void add_content_of(const Value& value, DataFingerprint& content) {
  if (const auto* list = value.get_if<std::shared_ptr<ValueList>>()) {
    for (const Value& item : **list) add_content_of(item, content);
  }
  const auto* made = value.get_if<std::shared_ptr<CoreObject>>();
  if (!made) return;
  if (const auto* dataset = dynamic_cast<const Dataset*>(made->get())) {
    dataset->add_data_to(content);
  } else if (const auto* maker = dynamic_cast<const DatasetValuedFunction*>(made->get())) {
    maker->pattern().add_data_to(content);
  }
}

}  // namespace

DataFingerprint Dataset::content() const {
  DataFingerprint content;
  add_data_to(content);
  return content;
}

void Dataset::add_data_to(DataFingerprint& content) const {
  for (const auto& item : args_.items()) add_content_of(item.second, content);
}

}  // namespace runhooks
