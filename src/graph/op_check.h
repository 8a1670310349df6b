// Checks the inputs of an operation against its definition.
#pragma once

#include "graph/op_registry.h"

namespace runhooks {

// Throws unless the rank, size and values of each input match the op's definition. Then calls the
// op's shape function.
void infer_shapes(ShapeContext& c);

// Throws if an input has no value, or if a handle refers to no resource or to a resource of the
// wrong kind or type.
void check_inputs_available(const KernelContext& c);

// To be called in a catch block. Rethrows the current Error or out-of-memory exception as an Error
// that names the operation; other exceptions are rethrown unchanged.
[[noreturn]] void rethrow_for_op(const Operation& op);

}  // namespace runhooks
