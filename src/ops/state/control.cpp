#include "graph/op_registry.h"

namespace runhooks {

RUNHOOKS_REGISTER_OP("NoOp")
    .shape(no_outputs)
    .not_differentiable()
    .endpoint("no_op")
    .summary("Does nothing; groups control dependencies.");

}  // namespace runhooks
