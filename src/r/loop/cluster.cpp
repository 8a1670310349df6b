#include "cluster/communicator.h"
#include "estimators/replicas/replica_run.h"
#include "r/values/guarded_entry.h"
#include "r/values/values.h"

using namespace runhooks;
using namespace runhooks::r;

namespace {

SEXP rank_to_r() {
  const Communicator& all = communicator();
  return Rcpp::List::create(Rcpp::_["rank"] = all.rank(), Rcpp::_["size"] = all.size(),
                            Rcpp::_["local_rank"] = all.local_rank(),
                            Rcpp::_["library"] = all.library());
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

// Starts the collective call `what`: a barrier for all processes.
// [[Rcpp::export(rng = false)]]
void cpp_cluster_begin(Text what, Text folder) {
  guarded_entry([&] { begin_collective(what, folder); });
}

// Gathers the bytes of all processes, ordered by rank, after a barrier for `what`.
// [[Rcpp::export(rng = false)]]
SEXP cpp_cluster_gather(Text what, SEXP bytes) {
  return guarded_entry([&]() -> SEXP {
    if (TYPEOF(bytes) != RAWSXP) invalid_argument("`bytes` must be a raw vector.");
    const std::string own(reinterpret_cast<const char*>(RAW(bytes)),
                          static_cast<size_t>(Rf_xlength(bytes)));
    check_same_collective(what);
    const std::vector<std::string> gathered = gather_texts(communicator(), own);
    Rcpp::List all(gathered.size());
    for (size_t i = 0; i < gathered.size(); ++i)
      all[i] = Rcpp::RawVector(gathered[i].begin(), gathered[i].end());
    return all;
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
