// Conversion of a signature's outputs to one cell per row.
#pragma once

#include "r/values/values.h"

namespace runhooks {
namespace r {

// An output without a row dimension is repeated for each row. Results are not protected.

// A tibble with a list column per output, and `.pred_class` for classifiers.
SEXP served_table(SEXP values);
// One list per row.
SEXP served_lists(SEXP values);

}  // namespace r
}  // namespace runhooks
