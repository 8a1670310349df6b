// The processes of a run in R: how they begin, meet and end.
#include "cluster/communicator.h"
#include "estimators/replica_run.h"
#include "r/values/guarded_entry.h"
#include "r/values/values.h"

using namespace runhooks;
using namespace runhooks::r;

namespace {

SEXP place_to_r() {
  const Communicator& all = communicator();
  return Rcpp::List::create(Rcpp::_["rank"] = all.rank(), Rcpp::_["size"] = all.size(),
                            Rcpp::_["local_rank"] = all.local_rank(),
                            Rcpp::_["library"] = all.library());
}

}  // namespace

// Loads the shared object of an MPI and begins; what this process is among all.
// [[Rcpp::export(rng = false)]]
SEXP cpp_cluster_start(Text path) {
  return guarded_entry([&]() -> SEXP {
    if (communicator().size() == 1) set_communicator(mpi_communicator(path));
    return place_to_r();
  });
}

// The beginning of `what`, at which all processes meet.
// [[Rcpp::export(rng = false)]]
void cpp_cluster_begin(Text what, Text folder) {
  guarded_entry([&] { begin_collective(what, folder); });
}

// The bytes of all processes, by their ranks, once all have come to `what`.
// [[Rcpp::export(rng = false)]]
SEXP cpp_cluster_gather(Text what, SEXP bytes) {
  return guarded_entry([&]() -> SEXP {
    if (TYPEOF(bytes) != RAWSXP) invalid_argument("Processes gather bytes.");
    const std::string own(reinterpret_cast<const char*>(RAW(bytes)),
                          static_cast<size_t>(Rf_xlength(bytes)));
    meet(what);
    const std::vector<std::string> said = gather_texts(communicator(), own);
    Rcpp::List all(said.size());
    for (size_t i = 0; i < said.size(); ++i) all[i] = Rcpp::RawVector(said[i].begin(), said[i].end());
    return all;
  });
}

// The good end of a script.
// [[Rcpp::export(rng = false)]]
void cpp_cluster_finish() {
  guarded_entry([&] {
    end_collective();
    communicator().finish();
  });
}

// Ends all processes; returns where there is but this one.
// [[Rcpp::export(rng = false)]]
void cpp_cluster_abort(int code) {
  guarded_entry([&] { communicator().abort(code); });
}
