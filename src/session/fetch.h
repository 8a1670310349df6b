// Fetch: a tensor or an operation requested from a run.
#pragma once

#include "graph/operation.h"

namespace runhooks {

// Output `index` of `op`; kRunOnly runs the operation without fetching a value.
struct Fetch {
  static constexpr int kRunOnly = -1;
  Operation* op = nullptr;
  int index = kRunOnly;

  Fetch() = default;
  Fetch(Output output) : op(output.op), index(output.index) {}  // NOLINT: implicit by design
  Fetch(Operation* operation) : op(operation) {}                // NOLINT: implicit by design
  bool is_tensor() const { return index != kRunOnly; }
  bool operator==(const Fetch& other) const { return op == other.op && index == other.index; }
};

}  // namespace runhooks
