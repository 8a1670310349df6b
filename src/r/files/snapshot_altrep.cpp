// An ALTREP object that represents a model's checkpoint files. It reads them only when R serializes
// it.
// clang-format off
#include "r/values/guarded_entry.h"
#include "r/values/named_values.h"
#include "r/values/values.h"
#include <R_ext/Altrep.h>  // must follow R's own headers
// clang-format on

#include "estimators/run/active_training.h"
#include "estimators/run/run_folder.h"
#include "io/files/atomic_file.h"

namespace runhooks {
namespace r {

namespace {

R_altrep_class_t& snapshot_class() {
  static R_altrep_class_t type;
  return type;
}

Files files_from_r(SEXP list) {
  Files files;
  if (TYPEOF(list) == VECSXP && Rf_xlength(list) == 0) return files;
  SEXP names = Rf_getAttrib(list, R_NamesSymbol);
  const bool is_named = TYPEOF(list) == VECSXP && TYPEOF(names) == STRSXP;
  if (!is_named) invalid_argument("The files that are stored with the model cannot be read.");
  for (R_xlen_t i = 0; i < Rf_xlength(list); ++i) {
    SEXP bytes = VECTOR_ELT(list, i);
    if (TYPEOF(bytes) != RAWSXP) {
      invalid_argument("The files that are stored with the model cannot be read.");
    }
    files.emplace_back(utf8_of(STRING_ELT(names, i)), raw_bytes(bytes));
  }
  return files;
}

// Saves a checkpoint to `scratch` if a training runs in the folder. The destructor deletes it.
class TrainingSnapshot {
 public:
  TrainingSnapshot(const std::string& folder, const std::string& scratch) : scratch_(scratch) {
    if (ActiveTraining::is_in(folder))
      checkpoint_ = ActiveTraining::save_snapshot(folder, scratch_);
  }
  ~TrainingSnapshot() {
    if (checkpoint_.empty()) return;
    try {
      for (const std::string& name : list_directory(scratch_)) {
        remove_file(join_path(scratch_, name));
      }
      remove_file(scratch_);
    } catch (const Error&) {  // R deletes its temporary directory at exit
    }
  }
  // Returns the path of the saved checkpoint, or "" if the newest one of the directory is current.
  const std::string& checkpoint() const { return checkpoint_; }

 private:
  std::string scratch_, checkpoint_;
};

// Returns the size limit in bytes that options(runhooks.carried_mb = ) sets; by default 10 MB.
uint64_t max_snapshot_bytes() {
  const double option = Rf_asReal(Rf_GetOption1(Rf_install("runhooks.carried_mb")));
  const double limit = (option >= 0 ? option : 10) * 1024 * 1024;
  return limit < 1e18 ? static_cast<uint64_t>(limit) : UINT64_MAX;
}

// Returns the files, or an empty list if the folder has no checkpoint. R calls this method
// directly, so it raises R errors like an exported function. An error also prevents an incomplete
// snapshot.
SEXP serialized_state(SEXP x) {
  BEGIN_RCPP
  return guarded_entry([&]() -> SEXP {
    SEXP arguments = R_altrep_data1(x);
    const std::string folder = string_from_r(VECTOR_ELT(arguments, 0));
    const TrainingSnapshot snapshot(folder, string_from_r(VECTOR_ELT(arguments, 1)));
    const bool has_no_limit = Rf_asLogical(VECTOR_ELT(arguments, 2)) == TRUE;
    const uint64_t max_bytes = has_no_limit ? UINT64_MAX : max_snapshot_bytes();
    return named_values_to_r(pack_snapshot(folder, max_bytes, snapshot.checkpoint()), raw_to_r);
  });
  END_RCPP
}

// Returns the list of files unchanged. R's default method would add attributes to it.
SEXP unserialize(SEXP, SEXP state, SEXP, int, int) { return state; }

R_xlen_t length(SEXP) { return 0; }

void* data_pointer(SEXP, Rboolean) {
  static Rbyte nothing = 0;
  return &nothing;
}

const void* data_pointer_or_null(SEXP x) { return data_pointer(x, FALSE); }

}  // namespace
}  // namespace r
}  // namespace runhooks

using namespace runhooks;
using namespace runhooks::r;

// [[Rcpp::init]]
void init_snapshot_class(DllInfo* library) {
  R_altrep_class_t type = R_make_altraw_class("carried_files", "runhooks", library);
  R_set_altrep_Serialized_state_method(type, serialized_state);
  R_set_altrep_UnserializeEX_method(type, unserialize);
  R_set_altrep_Length_method(type, length);
  R_set_altvec_Dataptr_method(type, data_pointer);
  R_set_altvec_Dataptr_or_null_method(type, data_pointer_or_null);
  snapshot_class() = type;
}

// Returns an object that R serializes as the files of the newest checkpoint. They include the
// variable values if `all` is true or if the values are small.
// [[Rcpp::export(rng = false)]]
SEXP cpp_snapshot_files(Text folder, Text scratch, bool all) {
  return guarded_entry([&]() -> SEXP {
    Rcpp::Shield<SEXP> arguments(allocate_vector(VECSXP, 3));
    SET_VECTOR_ELT(arguments, 0, text_to_r(folder));
    SET_VECTOR_ELT(arguments, 1, text_to_r(scratch));
    SET_VECTOR_ELT(arguments, 2, Rf_ScalarLogical(all ? TRUE : FALSE));
    return R_new_altrep(snapshot_class(), arguments, R_NilValue);
  });
}

// [[Rcpp::export(rng = false)]]
SEXP cpp_compare_snapshot(Text folder, SEXP files) {
  return guarded_entry([&]() -> SEXP {
    const SnapshotStatus status = compare_snapshot(folder, files_from_r(files));
    // During training the weights are newer than the newest checkpoint.
    const bool is_newest = status.is_newest && !ActiveTraining::is_in(folder);
    return Rcpp::List::create(Rcpp::_["checkpoint"] = status.checkpoint,
                              Rcpp::_["newest_step"] = static_cast<double>(status.newest_step),
                              Rcpp::_["is_newest"] = is_newest, Rcpp::_["is_there"] = status.exists,
                              Rcpp::_["has_values"] = status.has_values);
  });
}

// [[Rcpp::export(rng = false)]]
void cpp_unpack_snapshot(Text folder, SEXP files, Text from) {
  guarded_entry([&] { unpack_snapshot(folder, files_from_r(files), from); });
}
