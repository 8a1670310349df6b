// StepStats: how long each operation of a run took, and its export as RunMetadata or Chrome trace.
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
  bool is_input = false;             // waits for elements of a dataset
  std::vector<std::string> inputs;   // names of operations, "^name" for control inputs
  int64_t start_ns = 0, end_ns = 0;  // since the run began
  std::vector<Output> outputs;
};

// Nodes in execution order, on one thread of one device.
struct StepStats {
  static constexpr const char* kDevice = "/job:localhost/replica:0/task:0/device:CPU:0";
  double start_seconds = 0;  // since 1970
  std::vector<NodeStats> nodes;
};

std::string write_run_metadata(const StepStats& stats);

// Returns JSON for chrome://tracing and Perfetto, with one span per operation. `show_dataflow` adds
// arrows from producers to consumers, `show_memory` the bytes held by outputs.
std::string chrome_trace(const StepStats& stats, bool show_dataflow, bool show_memory);

}  // namespace runhooks
