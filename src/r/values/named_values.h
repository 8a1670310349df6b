// Conversion of containers to R lists.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "r/values/values.h"

namespace runhooks {
namespace r {

// Returns a list of to_r(item), which is not protected from R's collector.
template <typename T, typename ToR>
SEXP list_to_r(const std::vector<T>& items, ToR to_r) {
  Rcpp::Shield<SEXP> list(allocate_vector(VECSXP, static_cast<R_xlen_t>(items.size())));
  for (size_t i = 0; i < items.size(); ++i) {
    SET_VECTOR_ELT(list, static_cast<R_xlen_t>(i), to_r(items[i]));
  }
  return list;
}

// Returns a named list of to_r(value) for pairs of a name and a value; not protected.
template <typename Pairs, typename ToR>
SEXP named_values_to_r(const Pairs& pairs, ToR to_r) {
  Rcpp::List values(pairs.size());
  Rcpp::CharacterVector names(pairs.size());
  R_xlen_t at = 0;
  for (const auto& pair : pairs) {
    values[at] = to_r(pair.second);
    names[at++] = pair.first;
  }
  values.names() = names;
  return values;
}

// Returns a named character vector of pairs of a name and a value; not protected.
inline SEXP named_strings_to_r(const std::vector<std::pair<std::string, std::string>>& pairs) {
  Rcpp::CharacterVector values(pairs.size()), names(pairs.size());
  for (size_t i = 0; i < pairs.size(); ++i) {
    values[i] = pairs[i].second;
    names[i] = pairs[i].first;
  }
  values.names() = names;
  return values;
}

}  // namespace r
}  // namespace runhooks
