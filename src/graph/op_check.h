// Checks of the inputs of an operation against its definition, and the op name in error messages.
#pragma once

#include "graph/op_registry.h"

namespace runhooks {

// Checks the rank, size and values of each input, then calls the shape function, which checks that
// the inputs are compatible with each other.
void infer_shapes(ShapeContext& c);

// Throws for a tensor without a value, a handle without a resource or with one of another kind, and
// a variable of another type than declared.
void check_inputs_are_there(const KernelContext& c);

// Call this in a catch block. Rethrows the exception, with the operation's name added to an Error.
// Allocation failures become kResourceExhausted errors.
[[noreturn]] void rethrow_at(const Operation& op);

}  // namespace runhooks
