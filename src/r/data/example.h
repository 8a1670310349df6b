// Conversion of data columns to serialized examples.
#pragma once

#include <string>
#include <vector>

#include "estimators/export/loaded_model.h"
#include "r/values/values.h"

namespace runhooks {
namespace r {

// Returns one serialized example per row. Omits missing values: NA and, for features of variable
// length, "" and -1. Throws if a column or a required value is missing.
std::vector<std::string> examples_from_r(SEXP data, const std::vector<ExampleFeature>& features);

// Returns the bytes of a raw vector, a list of raw vectors, or a character vector.
std::vector<std::string> bytes_from_r(SEXP x, const char* name);

}  // namespace r
}  // namespace runhooks
