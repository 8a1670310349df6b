// What R's collector is told of graphs that it cannot weigh.
#pragma once

namespace runhooks {
namespace r {

// The graph that R has been given last holds little, as one of a prediction does: nothing but a
// batch and what is computed of it.
void note_small_graph();

}  // namespace r
}  // namespace runhooks
