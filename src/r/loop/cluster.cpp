#include "cluster/communicator.h"
#include "estimators/replicas/replica_run.h"
#include "r/values/guarded_entry.h"
#include "r/values/named_values.h"
#include "r/values/values.h"

using namespace runhooks;
using namespace runhooks::r;

namespace {

SEXP rank_to_r() {
  const Communicator& peers = communicator();
  return Rcpp::List::create(Rcpp::_["rank"] = peers.rank(), Rcpp::_["size"] = peers.size(),
                            Rcpp::_["local_rank"] = peers.local_rank(),
                            Rcpp::_["library"] = peers.library());
}

}  // namespace

// Loads an MPI library and initializes it. Returns the rank of this process.
// [[Rcpp::export(rng = false)]]
SEXP cpp_cluster_start(Text path) {
  return guarded_entry([&]() -> SEXP {
    if (communicator().size() == 1) set_communicator(mpi_communicator(path));
    return rank_to_r();
  });
}

// Waits until all processes have started the call that `what` names.
// [[Rcpp::export(rng = false)]]
void cpp_cluster_begin(Text what, Text folder) {
  guarded_entry([&] { begin_collective(what, folder); });
}

// Returns the bytes of all processes, ordered by rank. All processes must make this call with
// the same `what`, the name of the R function.
// [[Rcpp::export(rng = false)]]
SEXP cpp_cluster_gather(Text what, SEXP bytes) {
  return guarded_entry([&]() -> SEXP {
    if (TYPEOF(bytes) != RAWSXP) invalid_argument("`bytes` must be a raw vector.");
    check_same_collective(what);
    return list_to_r(gather_texts(communicator(), std::string(raw_bytes(bytes))), raw_to_r);
  });
}

// [[Rcpp::export(rng = false)]]
void cpp_cluster_finish() {
  guarded_entry([&] {
    end_collective();
    communicator().finish();
  });
}

// Aborts all processes; does nothing for a single process.
// [[Rcpp::export(rng = false)]]
void cpp_cluster_abort(int code) {
  guarded_entry([&] { communicator().abort(code); });
}
