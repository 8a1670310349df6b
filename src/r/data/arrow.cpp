#include "data/data_fingerprint.h"
#include "io/formats/arrow_stream.h"
#include "r/values/guarded_entry.h"
#include "r/values/handles.h"
#include "r/values/values.h"

using namespace runhooks;
using namespace runhooks::r;

namespace {

const HandleKind kArrow("runhooks_arrow_reader");

SEXP stream_tag() { return Rf_install("runhooks_arrow_stream"); }

// Returns the stream of an external pointer. Checks the class or the tag, because the memory of
// other pointers is not a stream.
ArrowArrayStream* stream_of(SEXP pointer) {
  const bool is_stream =
      TYPEOF(pointer) == EXTPTRSXP &&
      (Rf_inherits(pointer, "nanoarrow_array_stream") || R_ExternalPtrTag(pointer) == stream_tag());
  void* address = is_stream ? R_ExternalPtrAddr(pointer) : nullptr;
  if (!address) invalid_argument("An external pointer to an Arrow stream is expected.");
  return static_cast<ArrowArrayStream*>(address);
}

}  // namespace

// Returns an external pointer to an empty ArrowArrayStream. An R package exports its stream to it.
// [[Rcpp::export(rng = false)]]
SEXP cpp_new_arrow_stream() {
  return guarded_entry([]() -> SEXP {
    Rcpp::Shield<SEXP> pointer(R_MakeExternalPtr(new ArrowArrayStream(), stream_tag(), R_NilValue));
    R_RegisterCFinalizerEx(
        pointer,
        [](SEXP x) {
          auto* stream = static_cast<ArrowArrayStream*>(R_ExternalPtrAddr(x));
          if (stream && stream->release) stream->release(stream);
          delete stream;
          R_ClearExternalPtr(x);
        },
        TRUE);
    return pointer;
  });
}

// Moves the stream from `pointer` into a new reader. The stream in `pointer` is then released.
// [[Rcpp::export(rng = false)]]
SEXP cpp_arrow_reader(SEXP pointer) {
  return guarded_entry(
      [&] { return make_handle(std::make_shared<ArrowReader>(stream_of(pointer)), kArrow); });
}

// [[Rcpp::export(rng = false)]]
SEXP cpp_arrow_columns(SEXP reader) {
  return guarded_entry([&]() -> SEXP {
    const ArrowReader& arrow_reader = *from_handle<ArrowReader>(reader, kArrow);
    std::vector<std::string> dtypes;
    for (const DType dtype : arrow_reader.dtypes()) dtypes.push_back(dtype_name(dtype));
    return Rcpp::List::create(Rcpp::_["names"] = arrow_reader.names(), Rcpp::_["dtypes"] = dtypes);
  });
}

// [[Rcpp::export(rng = false)]]
SEXP cpp_arrow_next(SEXP reader) {
  return guarded_entry([&]() -> SEXP {
    std::vector<Tensor> columns;
    if (!from_handle<ArrowReader>(reader, kArrow)->next(&columns)) return R_NilValue;
    Rcpp::Shield<SEXP> list(allocate_vector(VECSXP, static_cast<R_xlen_t>(columns.size())));
    DataFingerprint content;
    for (size_t k = 0; k < columns.size(); ++k) {
      content.add(columns[k]);
      SET_VECTOR_ELT(list, static_cast<R_xlen_t>(k), tensor_to_r(columns[k]));
    }
    return Rcpp::List::create(
        Rcpp::_["columns"] = SEXP(list),
        Rcpp::_["content"] = str_cat(static_cast<unsigned long>(content.fingerprint())));
  });
}
