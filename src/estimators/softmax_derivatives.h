// What lives here: what float32 has lost of the derivatives of a softmax's loss by its logits.
// Who may use it: models that divide one derivative by the other.
// What it must not know: trees, heads.
#pragma once

#include <vector>

#include "graph/graph.h"

namespace runhooks {

// The derivatives of each example [batch, k], and a row [batch, k] of the second ones for each logit,
// add up to 0. The largest of each, p - 1 of the label's class and p * (1 - p), are differences of
// numbers near 1 as p comes near to it: they are set to what the others, which are exact, say. So
// the ratio of both, a Newton step, is no quotient of roundings.
void restore_softmax_sums(Graph& graph,
                          const Output& logits,
                          Output* gradients,
                          std::vector<Output>* second_rows);

}  // namespace runhooks
