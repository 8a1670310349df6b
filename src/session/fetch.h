// What lives here: Fetch, what a run is asked for.
// Who may use it: session and every layer above it.
// What it must not know: plans, R.
#pragma once

#include "graph/operation.h"

namespace runhooks {

// Output `index` of `op`, or with kRunOnly that the operation runs.
struct Fetch {
  static constexpr int kRunOnly = -1;
  Operation* op = nullptr;
  int index = kRunOnly;

  Fetch() = default;
  Fetch(Output output) : op(output.op), index(output.index) {}  // NOLINT: a tensor is a fetch
  Fetch(Operation* operation) : op(operation) {}                // NOLINT: so is an operation
  bool is_tensor() const { return index != kRunOnly; }
  bool operator==(const Fetch& other) const { return op == other.op && index == other.index; }
};

}  // namespace runhooks
