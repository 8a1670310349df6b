// The Communicator by MPI, whose functions a shared object has; processes of one machine add by memory
// that they share.
#include <algorithm>
#include <cstdlib>

#include "base/machine.h"
#include "base/status.h"
#include "cluster/communicator.h"
#include "cluster/mpi_calls.h"
#include "cluster/shared_memory.h"
#include "cluster/shared_memory_all_reduce.h"

#ifndef _WIN32
#include <dlfcn.h>
#endif

namespace runhooks {

namespace {

using Calls = runhooks_mpi_calls;

// Of each process: what no nearer cache holds is fetched faster than what lies in that of another core,
// so that one large piece takes less time than several small ones.
constexpr int64_t kRoomBytes = 2 << 20;
// Of all together.
constexpr int64_t kMostRoomBytes = 64 << 20;
// How often a process looks for the others before it leaves its core: for some 1 ms, since strangers who
// get it keep it for milliseconds, in which the others wait and leave theirs; where there are more
// processes than cores, for no longer than a small message takes.
constexpr int64_t kSpinBeforeSleep = 2000000, kPatienceInCrowd = 100;

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
    int local_size = 1;
    if (calls_.start(&rank_, &size_, &local_rank_, &local_size) == 0) {
      fail(Code::kFailedPrecondition, "This MPI (", library(),
           ") was begun by somebody else, for one thread alone; runhooks calls it from several, by "
           "turns.");
    }
    if (size_ > 1 && agreed_to_share(local_size)) share();
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
  void add(void* values, int64_t n, DType dtype) override {
    if (sums_) return sums_->add(values, n, dtype);
    calls_.add(values, n, mpi_type(dtype));
  }
  void average(const std::vector<ReduceBuffer>& parts, DType dtype) override {
    if (sums_) return sums_->average(parts, dtype);
    Communicator::average(parts, dtype);
  }
  void largest(int64_t* values, int64_t n) override {
    if (sums_) return sums_->largest(values, n);
    calls_.largest(values, n);
  }
  void broadcast(void* bytes, int64_t n, int root) override { calls_.broadcast(bytes, n, root); }
  void gather(const void* own, int64_t n, void* all) override { calls_.gather(own, n, all); }
  void abort(int code) override { calls_.abort(code); }
  void finish() override { calls_.finish(); }

 private:
  // Where all are on one machine, unless one of them is told not to.
  bool agreed_to_share(int local_size) {
    const char* said = std::getenv("RUNHOOKS_SHARED_MEMORY");
    int64_t is_against = local_size != size_ || (said && std::string(said) == "no");
    calls_.largest(&is_against, 1);
    return !is_against;
  }
  void share() {
    const int64_t room = std::min(kRoomBytes, kMostRoomBytes / (2 * size_) / 128 * 128);
    memory_ = shared_memory(*this, SharedMemoryAllReduce::memory_bytes(room, size_));
    if (!memory_) return;
    const int64_t patience = size_ <= processors() ? kSpinBeforeSleep : kPatienceInCrowd;
    sums_ = std::make_unique<SharedMemoryAllReduce>(memory_->bytes(), room, rank_, size_, patience,
                                         calls_.progress);
  }

  const Calls& calls_;
  int rank_ = 0, size_ = 1, local_rank_ = 0;
  std::unique_ptr<SharedMemory> memory_;  // NULL: processes of several machines
  std::unique_ptr<SharedMemoryAllReduce> sums_;
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
