// Restores precision that float32 loses in the derivatives of the softmax loss.
#pragma once

#include <vector>

#include "graph/graph.h"

namespace runhooks {

// The first derivatives of an example, [batch, k], sum to 0, as do those in each row of second
// derivatives. The largest of each (p - 1 of the label's class, and p * (1 - p)) suffers
// cancellation as p approaches 1. It is replaced by minus the sum of the others, which are exact,
// so that their ratio, a Newton step, is meaningful.
void restore_softmax_sums(Graph& graph,
                          const Output& logits,
                          Output* gradients,
                          std::vector<Output>* second_rows);

}  // namespace runhooks
