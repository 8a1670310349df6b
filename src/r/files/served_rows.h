// What a signature has said of data, row by row as R's users get it.
#pragma once

#include "r/values/values.h"

namespace runhooks {
namespace r {

// Of a named list of arrays: the cells of each output by row; what has no row of its own is the
// same for all. Not protected.

// A tibble with a list column for each output, and `.pred_class` where there are classes.
SEXP served_table(SEXP values);
// A list for each row.
SEXP served_lists(SEXP values);

}  // namespace r
}  // namespace runhooks
