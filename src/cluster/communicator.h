// Communicator, by which the processes of one run speak with each other, and the one of this process.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "tensor/dtype.h"

namespace runhooks {

// Values of which there are to be the means over all processes, and where these go.
struct ReduceBuffer {
  const void* values;
  void* mean;
  int64_t n;
};

// Every function but rank(), size() and abort() is called by all processes, in the same order, or
// nobody goes on. All processes get the same answer.
class Communicator {
 public:
  virtual ~Communicator() = default;
  virtual int rank() const = 0;
  virtual int size() const = 0;
  // Among the processes of this machine.
  virtual int local_rank() const = 0;
  // "Open MPI v4.1.4"; "" where a process is alone.
  virtual std::string library() const = 0;
  bool is_chief() const { return rank() == 0; }

  // The sum over all processes, in place: float32, float64, int32 or int64.
  virtual void add(void* values, int64_t n, DType dtype) = 0;
  // The means of several over all processes, in one message: float32 or float64.
  virtual void average(const std::vector<ReduceBuffer>& parts, DType dtype);
  virtual void largest(int64_t* values, int64_t n) = 0;
  virtual void broadcast(void* bytes, int64_t n, int root) = 0;
  // As many bytes of each process, one behind the other.
  virtual void gather(const void* own, int64_t n, void* all) = 0;
  // Ends all processes, with this status; returns where there is but this one, which R ends.
  virtual void abort(int code) = 0;
  // The script has come to a good end: waits for all others.
  virtual void finish() = 0;

 private:
  // What average() sends, kept from step to step.
  std::vector<float> packed_floats_;
  std::vector<double> packed_doubles_;
};

// Of this process: alone, until one of several is set, or where none is (NULL).
Communicator& communicator();
void set_communicator(std::unique_ptr<Communicator> other);

// A text of process `root`, which all get; of others `text` is not looked at.
std::string broadcast_text(Communicator& all, const std::string& text, int root = 0);
// The texts of all, by their ranks.
std::vector<std::string> gather_texts(Communicator& all, const std::string& own);

// Loads the object at `path` and begins. Errors: it cannot be loaded, or is of another build.
std::unique_ptr<Communicator> mpi_communicator(const std::string& path);

}  // namespace runhooks
