// Restores precision that float32 loses in the derivatives of the softmax loss.
#pragma once

#include <vector>

#include "graph/graph.h"

namespace runhooks {

// The first derivatives of an example, [batch, k], sum to 0, and so does each row of the second
// derivatives. The element with the largest magnitude (p - 1 for the label's class, or p * (1 - p))
// suffers cancellation as p approaches 1. Replaces it by minus the sum of the other elements, which
// are exact, so that a Newton step, the ratio of both derivatives, is accurate.
void restore_softmax_sums(Graph& graph,
                          const Output& logits,
                          Output* gradients,
                          std::vector<Output>* hessian_rows);

}  // namespace runhooks
