// The check of an operation's inputs against the words of its definition.
#pragma once

#include "graph/op_registry.h"

namespace runhooks {

// Throws where an input's rank, size or values are not what the definition says; then the op's
// shape function, which sees that the inputs go together, gives the outputs' shapes.
void infer_shapes(ShapeContext& c);

// Throws where an input is not there: a tensor without a value, a handle of nothing or of another
// kind of thing, a variable of another type than declared.
void check_inputs_are_there(const KernelContext& c);

// To be called where an exception is handled: throws it again, an Error with the operation's name
// in it. Memory that is not there is an Error too.
[[noreturn]] void rethrow_at(const Operation& op);

}  // namespace runhooks
