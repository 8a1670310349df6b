#include "estimators/run/run_folder.h"

#include "estimators/run/active_training.h"
#include "estimators/run/run_record.h"
#include "r/values/guarded_entry.h"
#include "r/values/named_values.h"
#include "r/values/values.h"

using namespace runhooks;
using namespace runhooks::r;

// Returns the state of a model directory. With `writes`, also tests whether it is writable.
// [[Rcpp::export(rng = false)]]
SEXP cpp_run_folder(Text path, bool writes) {
  return guarded_entry([&]() -> SEXP {
    const std::shared_ptr<const RunFolder> cached =
        writes ? std::make_shared<const RunFolder>(path) : RunFolder::cached(path);
    const RunFolder& folder = *cached;
    Rcpp::List result = Rcpp::List::create(
        Rcpp::_["has_checkpoint"] = folder.has_checkpoint(),
        Rcpp::_["step"] = static_cast<double>(folder.step()),
        Rcpp::_["checkpoint_id"] = folder.checkpoint_id(),
        Rcpp::_["is_training"] = ActiveTraining::is_in(path),
        Rcpp::_["can_be_written"] = writes && folder.can_be_written(),
        Rcpp::_["has_metadata"] = folder.has_metadata(), Rcpp::_["metadata"] = R_NilValue);
    try {
      result["metadata"] = plain_to_r(folder.metadata());
    } catch (const Error&) {  // invalid attributes: R reports that the file is damaged
    }
    return result;
  });
}

// [[Rcpp::export(rng = false)]]
void cpp_write_metadata(Text folder, SEXP metadata) {
  guarded_entry([&] {
    if (RList(metadata, "the metadata").find("version") == R_NilValue) {
      invalid_argument("The metadata of a model directory need a `version`.");
    }
    RunFolder::write_metadata(folder, plain_from_r(metadata, "The model metadata", "x"));
  });
}

// Returns a named list for each run in the directory, oldest first.
// [[Rcpp::export(rng = false)]]
SEXP cpp_run_rows(Text folder) {
  return guarded_entry([&]() -> SEXP { return list_to_r(run_rows(folder), plain_to_r); });
}

// [[Rcpp::export(rng = false)]]
void cpp_record_loop_error(Text text) {
  guarded_entry([&] { record_foreign_error(text); });
}
