// Communicator: collective operations among the processes of a run.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "tensor/dtype.h"

namespace runhooks {

// Input and output of Communicator::average(): `n` values, and the memory for their `n` means.
struct ReduceBuffer {
  const void* values;
  void* mean;
  int64_t n;
};

// All processes must call the collective functions (from add() on, except abort()) in the same
// order; otherwise they deadlock. All processes get the same result.
class Communicator {
 public:
  virtual ~Communicator() = default;
  virtual int rank() const = 0;
  virtual int size() const = 0;
  // Rank among the processes of this machine.
  virtual int local_rank() const = 0;
  // Name and version of the MPI library, such as "Open MPI v4.1.4"; "" for a single process.
  virtual std::string library() const = 0;
  bool is_chief() const { return rank() == 0; }

  // Replaces each value by its sum over all processes; `dtype` is float32, float64, int32 or int64.
  virtual void add(void* values, int64_t n, DType dtype) = 0;
  // Averages several buffers over all processes in one message; `dtype` is float32 or float64.
  virtual void average(const std::vector<ReduceBuffer>& buffers, DType dtype);
  // Replaces each value by its maximum over all processes.
  virtual void largest(int64_t* values, int64_t n) = 0;
  // Copies the bytes of process `root` to all processes.
  virtual void broadcast(void* bytes, int64_t n, int root) = 0;
  // Concatenates `n` bytes of each process in order of rank.
  virtual void gather(const void* own, int64_t n, void* all) = 0;
  // Ends all processes with this exit code. With a single process it returns; the caller ends R.
  virtual void abort(int code) = 0;
  // Waits for all processes at the regular end of the script.
  virtual void finish() = 0;

 private:
  // Send buffers of average(), reused in each step.
  std::vector<float> packed_floats_;
  std::vector<double> packed_doubles_;
};

// Get and set the communicator of this process. NULL resets it to one for a single process.
Communicator& communicator();
void set_communicator(std::unique_ptr<Communicator> new_communicator);

// Returns the text of process `root`; ignores `text` in other processes.
std::string broadcast_text(Communicator& comm, const std::string& text, int root = 0);
// Returns the texts of all processes, in order of rank; `own` is the text of this process.
std::vector<std::string> gather_texts(Communicator& comm, const std::string& own);

// Loads the shared object at `path` and starts MPI. Throws if it cannot be loaded, or if it was
// built for another version of runhooks.
std::unique_ptr<Communicator> mpi_communicator(const std::string& path);

}  // namespace runhooks
