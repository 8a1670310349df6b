// Communicator over MPI, loaded from a shared object. Processes on one machine reduce in shared
// memory instead.
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

// Buffer size per process. Large buffers need fewer barriers than small ones.
constexpr int64_t kBufferBytes = 2 << 20;
// Total size of the buffers of all processes.
constexpr int64_t kMaxBufferBytes = 64 << 20;
// Polls of a waiting process before it yields its core. If it yields too early, another program may
// occupy the core, and all processes wait for this one. With more processes than cores, it must
// yield early.
constexpr int64_t kSpinBeforeYield = 2000000, kSpinOversubscribed = 100;

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
      fail(Code::kUnimplemented, "Cannot reduce values of type ", dtype_name(dtype), ".");
  }
}

class MpiCommunicator : public Communicator {
 public:
  explicit MpiCommunicator(const Calls& calls) : calls_(calls) {
    int local_size = 1;
    if (calls_.start(&rank_, &size_, &local_rank_, &local_size) == 0) {
      fail(Code::kFailedPrecondition, "MPI (", library(),
           ") was started for a single thread by other code; runhooks needs at least "
           "MPI_THREAD_SERIALIZED.");
    }
    if (size_ > 1 && agree_on_shared_memory(local_size)) create_shared_memory();
  }
  int rank() const override { return rank_; }
  int size() const override { return size_; }
  int local_rank() const override { return local_rank_; }
  std::string library() const override {
    char text[160];
    calls_.library(text, sizeof text);
    std::string version(text);
    const std::string label = " Version:";
    if (version.find(label) != std::string::npos) version.erase(version.find(label), label.size());
    return version.substr(0, version.find(','));
  }
  void add(void* values, int64_t n, DType dtype) override {
    if (all_reduce_) return all_reduce_->add(values, n, dtype);
    calls_.add(values, n, mpi_type(dtype));
  }
  void average(const std::vector<ReduceBuffer>& buffers, DType dtype) override {
    if (all_reduce_) return all_reduce_->average(buffers, dtype);
    Communicator::average(buffers, dtype);
  }
  void largest(int64_t* values, int64_t n) override {
    if (all_reduce_) return all_reduce_->largest(values, n);
    calls_.largest(values, n);
  }
  void broadcast(void* bytes, int64_t n, int root) override { calls_.broadcast(bytes, n, root); }
  void gather(const void* own, int64_t n, void* all) override { calls_.gather(own, n, all); }
  void abort(int code) override { calls_.abort(code); }
  void finish() override { calls_.finish(); }

 private:
  // TRUE if all processes are on one machine, and none has disabled shared memory.
  bool agree_on_shared_memory(int local_size) {
    const char* setting = std::getenv("RUNHOOKS_SHARED_MEMORY");
    int64_t is_disabled = local_size != size_ || (setting && std::string(setting) == "no");
    calls_.largest(&is_disabled, 1);
    return !is_disabled;
  }
  void create_shared_memory() {
    const int64_t buffer_bytes = std::min(kBufferBytes, kMaxBufferBytes / (2 * size_) / 128 * 128);
    memory_ = shared_memory(*this, SharedMemoryAllReduce::memory_bytes(buffer_bytes, size_));
    if (!memory_) return;
    const int64_t spin_limit = size_ <= processors() ? kSpinBeforeYield : kSpinOversubscribed;
    all_reduce_ = std::make_unique<SharedMemoryAllReduce>(memory_->bytes(), buffer_bytes, rank_,
                                                          size_, spin_limit, calls_.progress);
  }

  const Calls& calls_;
  int rank_ = 0, size_ = 1, local_rank_ = 0;
  std::unique_ptr<SharedMemory> memory_;  // NULL if processes reduce through MPI
  std::unique_ptr<SharedMemoryAllReduce> all_reduce_;
};

#ifdef _WIN32
const Calls& load_mpi_calls(const std::string& path) {
  fail(Code::kUnimplemented, "MPI is not supported on Windows; cannot load '", path, "'.");
}
#else
// Uses RTLD_GLOBAL, because MPI's plugins look up MPI's symbols globally. The object is never
// closed, because MPI runs until the process ends.
const Calls& load_mpi_calls(const std::string& path) {
  void* object = dlopen(path.c_str(), RTLD_NOW | RTLD_GLOBAL);
  if (!object) fail(Code::kFailedPrecondition, "Cannot load MPI: ", dlerror());
  void* symbol = dlsym(object, RUNHOOKS_MPI_SYMBOL);
  if (!symbol) fail(Code::kFailedPrecondition, "'", path, "' is not an MPI module of runhooks.");
  const Calls& calls = *reinterpret_cast<const Calls* (*)()>(symbol)();
  if (calls.version != RUNHOOKS_MPI_CALLS_VERSION) {
    fail(Code::kFailedPrecondition, "'", path, "' was built for another version of runhooks.");
  }
  return calls;
}
#endif

}  // namespace

std::unique_ptr<Communicator> mpi_communicator(const std::string& path) {
  return std::make_unique<MpiCommunicator>(load_mpi_calls(path));
}

}  // namespace runhooks
