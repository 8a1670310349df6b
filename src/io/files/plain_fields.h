// Builds and reads named lists of plain data.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "io/files/plain_data.h"

namespace runhooks {

PlainData plain_numbers(const std::vector<double>& x);
PlainData plain_number(double x);
PlainData plain_flag(bool x);
PlainData plain_string(const std::string& x);
PlainData plain_strings(const std::vector<std::string>& x);

// Builds a named list.
class PlainFields {
 public:
  PlainFields& add(const std::string& name, PlainData value);
  PlainFields& add(const std::string& name, const std::string& text) {
    return add(name, plain_string(text));
  }
  PlainFields& add(const std::string& name, const char* text) {
    return add(name, plain_string(text));
  }
  PlainFields& add(const std::string& name, double number) {
    return add(name, plain_number(number));
  }
  PlainFields& add(const std::string& name, bool flag) { return add(name, plain_flag(flag)); }
  bool is_empty() const { return names_.empty(); }
  // Returns the list; call it once.
  PlainData take();

 private:
  std::vector<std::string> names_;
  PlainData list_;
};

// Fields of a list that may come from a damaged file. A missing field, or a field of the wrong
// type, gives NULL or `default_value`.
const PlainData* plain_field(const PlainData& list, std::string_view name);
double number_field(const PlainData& list, std::string_view name, double default_value);
std::string text_field(const PlainData& list,
                       std::string_view name,
                       const std::string& default_value);
// Returns the names of a list or vector; an empty vector unless every element has a name.
std::vector<std::string> plain_names(const PlainData& data);

}  // namespace runhooks
