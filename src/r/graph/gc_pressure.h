// count_small_graph(): accounting of graphs, whose memory R's garbage collector cannot measure.
#pragma once

namespace runhooks {
namespace r {

// Counts the graph of the last new handle as small: it holds only one batch and its predictions.
void count_small_graph();

}  // namespace r
}  // namespace runhooks
