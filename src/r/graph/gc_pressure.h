// count_small_graph(): counts graphs to decide when to run R's garbage collector, which cannot
// measure their memory.
#pragma once

namespace runhooks {
namespace r {

// Counts the graph of the newest handle as small, because it contains only a batch and predictions.
void count_small_graph();

}  // namespace r
}  // namespace runhooks
