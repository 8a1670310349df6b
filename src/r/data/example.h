// Examples made of the columns of data.
#pragma once

#include <string>
#include <vector>

#include "estimators/loaded_model.h"
#include "r/values/values.h"

namespace runhooks {
namespace r {

// The rows of data, a named list of columns of one length, as serialized examples of these
// features. What is missing (NA, and of features of any length "" and -1, too) is left out. Throws
// for a column that is not there, and for a row without what is required.
std::vector<std::string> examples_from_r(SEXP data, const std::vector<ExampleFeature>& features);

// Strings as bytes: a raw vector or a list of them, or a character vector.
std::vector<std::string> bytes_from_r(SEXP x, const char* what);

}  // namespace r
}  // namespace runhooks
