// StepStats, how long each operation of one run took, and its forms: RunMetadata, a Chrome trace.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tensor/dtype.h"
#include "tensor/shape.h"

namespace runhooks {

struct NodeStats {
  struct Output {
    int slot = 0;
    DType dtype = DType::kInvalid;
    Shape shape;
    int64_t bytes = 0;
  };
  std::string name, op;
  bool is_input = false;             // it waits for the elements of a dataset
  std::vector<std::string> inputs;   // names of operations, "^name" for control inputs
  int64_t start_ns = 0, end_ns = 0;  // since the run began
  std::vector<Output> outputs;
};

// The nodes are in the order in which they ran, on one thread of one device.
struct StepStats {
  static constexpr const char* kDevice = "/job:localhost/replica:0/task:0/device:CPU:0";
  double start_seconds = 0;  // since 1970
  std::vector<NodeStats> nodes;
};

// A serialized tensorflow.RunMetadata, as TensorBoard's profile of a graph reads it.
std::string write_run_metadata(const StepStats& stats);

// The JSON that chrome://tracing and Perfetto open: a span an operation, with `show_dataflow`
// arrows from producers to consumers, with `show_memory` the bytes that the outputs hold.
std::string chrome_trace(const StepStats& stats, bool show_dataflow, bool show_memory);

}  // namespace runhooks
