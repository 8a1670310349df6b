// Binner finds the bins of numbers, given their upper edges.
#pragma once

#include <cstdint>
#include <vector>

namespace runhooks {

class Binner {
 public:
  // `edges` are the upper edges of the bins, in ascending order.
  explicit Binner(std::vector<float> edges);
  // Sets the bins of n values. As in TensorFlow, values above all edges get the last bin, NaN the
  // first.
  void find(const float* x, int64_t n, int32_t* bins) const;

 private:
  int32_t depth_;                   // depth of the search tree
  std::vector<float> search_tree_;  // the edges, padded with infinity
};

}  // namespace runhooks
