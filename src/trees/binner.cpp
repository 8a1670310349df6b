#include "trees/binner.h"

#include <cstddef>
#include <limits>

#include "kernels/kernels.h"

namespace runhooks {

namespace {

// Smaller trees are padded to this depth, because the fast search kernels need it.
constexpr int32_t kMinDepth = 4;

// Stores `count` sorted edges from `first` on as a binary search tree with its root at index
// `root`; the children of node i are 2 * i and 2 * i + 1.
void fill_search_tree(const std::vector<float>& sorted,
                      size_t first,
                      size_t count,
                      size_t root,
                      std::vector<float>* tree) {
  if (count == 0) return;
  const size_t half = count / 2;
  (*tree)[root] = sorted[first + half];
  fill_search_tree(sorted, first, half, 2 * root, tree);
  fill_search_tree(sorted, first + half + 1, half, 2 * root + 1, tree);
}

}  // namespace

Binner::Binner(std::vector<float> edges) : depth_(kMinDepth) {
  if (!edges.empty()) edges.pop_back();
  while (edges.size() >= std::size_t{1} << depth_) ++depth_;
  const std::size_t count = (std::size_t{1} << depth_) - 1;
  edges.resize(count, std::numeric_limits<float>::infinity());
  search_tree_.resize(count + 1);
  fill_search_tree(edges, 0, count, 1, &search_tree_);
}

void Binner::find(const float* x, int64_t n, int32_t* bins) const {
  kernels().histograms->find_bins(n, x, depth_, search_tree_.data(), bins);
}

}  // namespace runhooks
