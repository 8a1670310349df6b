// The checkpoint that a model in a temporary folder takes along where it is saved: an R object that
// stands for the files and reads them when it is serialized, and not before.
// clang-format off
#include "r/values/border.h"
#include "r/values/values.h"
#include <R_ext/Altrep.h>  // wants R's own headers before it
// clang-format on

#include "estimators/run_folder.h"
#include "io/files/atomic_file.h"
#include "r/files/carried_checkpoint.h"

namespace runhooks {
namespace r {

namespace {

R_altrep_class_t& carried_class() {
  static R_altrep_class_t type;
  return type;
}

// Not protected.
SEXP files_to_r(const Files& files) {
  Rcpp::List list(files.size());
  Rcpp::CharacterVector names(files.size());
  for (size_t i = 0; i < files.size(); ++i) {
    Rcpp::RawVector bytes(files[i].second.size());
    std::copy(files[i].second.begin(), files[i].second.end(), bytes.begin());
    list[static_cast<R_xlen_t>(i)] = bytes;
    names[static_cast<R_xlen_t>(i)] = files[i].first;
  }
  list.names() = names;
  return list;
}

Files files_from_r(SEXP list) {
  Files files;
  SEXP names = Rf_getAttrib(list, R_NamesSymbol);
  const bool is_named = TYPEOF(list) == VECSXP && TYPEOF(names) == STRSXP;
  if (!is_named) invalid_argument("The model carries no files that can be read.");
  for (R_xlen_t i = 0; i < Rf_xlength(list); ++i) {
    SEXP bytes = VECTOR_ELT(list, i);
    if (TYPEOF(bytes) != RAWSXP) invalid_argument("The model carries no files that can be read.");
    files.emplace_back(utf8_of(STRING_ELT(names, i)),
                       std::string(reinterpret_cast<const char*>(RAW(bytes)),
                                   static_cast<size_t>(Rf_xlength(bytes))));
  }
  return files;
}

// NULL, where nothing can be read: then R writes the empty vector that it sees.
SEXP serialized_state(SEXP x) {
  try {
    const Files files = files_to_carry(string_from_r(R_altrep_data1(x)));
    return files.empty() ? nullptr : files_to_r(files);
  } catch (...) {
    return nullptr;
  }
}

// In another process it is the files. The plain method would give them the attributes of what they
// were saved for, which has none.
SEXP unserialize(SEXP, SEXP state, SEXP, int, int) { return state; }

R_xlen_t length(SEXP) { return 0; }

void* data_pointer(SEXP, Rboolean) {
  static Rbyte nothing = 0;
  return &nothing;
}

const void* data_pointer_or_null(SEXP x) { return data_pointer(x, FALSE); }

}  // namespace

SEXP carried_files(const std::string& folder) {
  Rcpp::Shield<SEXP> path(Rf_ScalarString(Rf_mkCharCE(folder.c_str(), CE_UTF8)));
  return R_new_altrep(carried_class(), path, R_NilValue);
}

}  // namespace r
}  // namespace runhooks

using namespace runhooks;
using namespace runhooks::r;

// [[Rcpp::init]]
void init_carried_class(DllInfo* library) {
  R_altrep_class_t type = R_make_altraw_class("carried_files", "runhooks", library);
  R_set_altrep_Serialized_state_method(type, serialized_state);
  R_set_altrep_UnserializeEX_method(type, unserialize);
  R_set_altrep_Length_method(type, length);
  R_set_altvec_Dataptr_method(type, data_pointer);
  R_set_altvec_Dataptr_or_null_method(type, data_pointer_or_null);
  carried_class() = type;
}

// [[Rcpp::export(rng = false)]]
void cpp_write_carried_files(Text folder, SEXP files) {
  border([&] { write_carried_files(folder, files_from_r(files)); });
}
