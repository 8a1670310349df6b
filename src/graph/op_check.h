// Checks the inputs of an operation against its definition.
#pragma once

#include "graph/op_registry.h"

namespace runhooks {

// Throws unless the rank, size and values of each input match the definition. Then calls the op's
// shape function.
void infer_shapes(ShapeContext& c);

// Throws if an input has no value, or if a handle refers to nothing or to a resource of another
// kind or type.
void check_inputs_are_there(const KernelContext& c);

// Call in an exception handler: rethrows the exception as an Error that names the operation.
// Out-of-memory is an Error too.
[[noreturn]] void rethrow_at(const Operation& op);

}  // namespace runhooks
