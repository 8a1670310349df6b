// named_values_to_r() converts name-value pairs to a named R list.
#pragma once

#include "r/values/values.h"

namespace runhooks {
namespace r {

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

}  // namespace r
}  // namespace runhooks
