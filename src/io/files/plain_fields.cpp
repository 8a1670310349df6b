#include "io/files/plain_fields.h"

#include <cstring>

namespace runhooks {

namespace {

using Kind = PlainData::Kind;

template <typename T>
PlainData numeric_vector(Kind kind, const T* x, size_t n) {
  PlainData data;
  data.kind = kind;
  data.numbers.assign(reinterpret_cast<const char*>(x), n * sizeof(T));
  return data;
}

// Returns the names of the elements; NULL unless every element has one.
const std::vector<PlainData::Text>* names_of(const PlainData& data) {
  for (const auto& [attribute, value] : data.attributes) {
    if (attribute != "names") continue;
    const bool is_complete = value.kind == Kind::kCharacter && value.length() == data.length();
    return is_complete ? &value.texts : nullptr;
  }
  return nullptr;
}

}  // namespace

PlainData plain_numbers(const std::vector<double>& x) {
  return numeric_vector(Kind::kDouble, x.data(), x.size());
}
PlainData plain_number(double x) { return numeric_vector(Kind::kDouble, &x, 1); }
PlainData plain_flag(bool x) {
  const auto flag = static_cast<int32_t>(x);
  return numeric_vector(Kind::kLogical, &flag, 1);
}
PlainData plain_string(const std::string& x) { return plain_strings({x}); }

PlainData plain_strings(const std::vector<std::string>& x) {
  PlainData data;
  data.kind = Kind::kCharacter;
  for (const std::string& text : x) data.texts.push_back({text, PlainData::Text::Mark::kUtf8});
  return data;
}

PlainFields& PlainFields::add(const std::string& name, PlainData value) {
  names_.push_back(name);
  list_.items.push_back(std::move(value));
  return *this;
}

PlainData PlainFields::take() {
  list_.kind = Kind::kList;
  list_.attributes = {{"names", plain_strings(names_)}};
  return std::move(list_);
}

std::vector<std::string> plain_names(const PlainData& data) {
  std::vector<std::string> names;
  const std::vector<PlainData::Text>* texts = names_of(data);
  for (size_t i = 0; texts && i < texts->size(); ++i) names.push_back((*texts)[i].bytes);
  return names;
}

const PlainData* plain_field(const PlainData& list, std::string_view name) {
  const std::vector<PlainData::Text>* names = list.kind == Kind::kList ? names_of(list) : nullptr;
  for (size_t i = 0; names && i < list.items.size(); ++i) {
    if ((*names)[i].bytes == name) return &list.items[i];
  }
  return nullptr;
}

double number_field(const PlainData& list, std::string_view name, double default_value) {
  const PlainData* field = plain_field(list, name);
  if (!field || field->kind != Kind::kDouble || field->length() != 1) return default_value;
  double number = 0;
  std::memcpy(&number, field->numbers.data(), sizeof number);
  return number;
}

std::string text_field(const PlainData& list,
                       std::string_view name,
                       const std::string& default_value) {
  const PlainData* field = plain_field(list, name);
  const bool is_text = field && field->kind == Kind::kCharacter && field->texts.size() == 1 &&
                       field->texts[0].mark == PlainData::Text::Mark::kUtf8;
  return is_text ? field->texts[0].bytes : default_value;
}

}  // namespace runhooks
