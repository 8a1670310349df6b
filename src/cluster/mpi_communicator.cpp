// The Communicator by MPI, whose functions a shared object has.
#include "base/status.h"
#include "cluster/communicator.h"
#include "cluster/mpi_calls.h"

#ifndef _WIN32
#include <dlfcn.h>
#endif

namespace runhooks {

namespace {

using Calls = runhooks_mpi_calls;

int mpi_type(DType dtype) {
  switch (dtype) {
    case DType::kFloat32:
      return RUNHOOKS_MPI_FLOAT;
    case DType::kFloat64:
      return RUNHOOKS_MPI_DOUBLE;
    case DType::kInt32:
      return RUNHOOKS_MPI_INT32;
    case DType::kInt64:
      return RUNHOOKS_MPI_INT64;
    default:
      fail(Code::kUnimplemented, "Processes cannot add values of type ", dtype_name(dtype), ".");
  }
}

class MpiCommunicator : public Communicator {
 public:
  explicit MpiCommunicator(const Calls& calls) : calls_(calls) {
    if (calls_.start(&rank_, &size_, &local_rank_) == 0) {
      fail(Code::kFailedPrecondition, "This MPI (", library(),
           ") was begun by somebody else, for one thread alone; runhooks calls it from several, by "
           "turns.");
    }
  }
  int rank() const override { return rank_; }
  int size() const override { return size_; }
  int local_rank() const override { return local_rank_; }
  std::string library() const override {
    char text[160];
    calls_.library(text, sizeof text);
    std::string full(text);
    const std::string word = " Version:";
    if (full.find(word) != std::string::npos) full.erase(full.find(word), word.size());
    return full.substr(0, full.find(','));
  }
  void add(void* values, int64_t n, DType dtype) override { calls_.add(values, n, mpi_type(dtype)); }
  void largest(int64_t* values, int64_t n) override { calls_.largest(values, n); }
  void broadcast(void* bytes, int64_t n, int root) override { calls_.broadcast(bytes, n, root); }
  void gather(const void* own, int64_t n, void* all) override { calls_.gather(own, n, all); }
  void abort(int code) override { calls_.abort(code); }
  void finish() override { calls_.finish(); }

 private:
  const Calls& calls_;
  int rank_ = 0, size_ = 1, local_rank_ = 0;
};

#ifdef _WIN32
const Calls& load(const std::string& path) {
  fail(Code::kUnimplemented, "Several processes by MPI are not for Windows; '", path,
       "' is not loaded.");
}
#else
// MPI's own modules look for its symbols among those of all. It is never closed: what it has begun
// goes on to the end of the process.
const Calls& load(const std::string& path) {
  void* object = dlopen(path.c_str(), RTLD_NOW | RTLD_GLOBAL);
  if (!object) fail(Code::kFailedPrecondition, "MPI cannot be loaded: ", dlerror());
  void* symbol = dlsym(object, RUNHOOKS_MPI_SYMBOL);
  if (!symbol) fail(Code::kFailedPrecondition, "'", path, "' is no MPI of runhooks.");
  const Calls& calls = *reinterpret_cast<const Calls* (*)()>(symbol)();
  if (calls.version != RUNHOOKS_MPI_CALLS_VERSION) {
    fail(Code::kFailedPrecondition, "'", path, "' is of another version of runhooks.");
  }
  return calls;
}
#endif

}  // namespace

std::unique_ptr<Communicator> mpi_communicator(const std::string& path) {
  return std::make_unique<MpiCommunicator>(load(path));
}

}  // namespace runhooks
