// Conversion of a signature's outputs to one cell per row.
#pragma once

#include "r/values/values.h"

namespace runhooks {
namespace r {

// Outputs without a row dimension are repeated for each row. Results are not protected from R's
// collector.

// Returns a tibble with a list column per output, and `.pred_class` for classifiers.
SEXP served_table(SEXP values);
// Returns a list with one named list per row.
SEXP served_lists(SEXP values);

}  // namespace r
}  // namespace runhooks
