// A model's folder in R: what was trained there, and the record of its runs.
#include "estimators/run_record.h"
#include "r/runhooks_r.h"

using namespace runhooks;
using namespace runhooks::r;

// A named list for each run of the folder, in the order in which they began.
// [[Rcpp::export(rng = false)]]
SEXP cpp_run_rows(Text folder) {
  return border([&]() -> SEXP {
    const std::vector<PlainData> rows = run_rows(folder);
    Rcpp::List list(rows.size());
    for (size_t i = 0; i < rows.size(); ++i) list[i] = plain_to_r(rows[i]);
    return list;
  });
}

// The text of an error of R's that ends a loop, for its record.
// [[Rcpp::export(rng = false)]]
void cpp_note_error(Text text) {
  border([&] { note_foreign_error(text); });
}
