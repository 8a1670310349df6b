// LayerGrower, the best splits of a layer's nodes over all rows of a BinnedMatrix.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "cluster/communicator.h"
#include "trees/binned_matrix.h"
#include "trees/ensemble.h"
#include "trees/parallel.h"
#include "trees/split_costs.h"

namespace runhooks {

// What a leaf's split would be. Without a column there is none.
struct LayerSplit {
  int32_t node = 0;
  int32_t column = -1, feature = -1, threshold = 0;
  bool missing_goes_right = false;
  double gain = 0;
  std::vector<float> left, right;  // contributions, not yet times the learning rate
};

// Where several processes have rows: who adds up what they have, and how many rows all have. Row i
// of process r counts as row i * size + r of all, whose sums are those of one process with all
// rows.
struct RowPartition {
  Communicator* peers = nullptr;  // NULL: this process has all
  int64_t rows = 0;
};

// Rows lie in chunks; those of a chunk are kept in the order of their nodes, those of a node in any.
// All sums are of whole numbers, the gradients and hessians times a power of two: what comes out has
// the same bits for any number of threads and any order of the rows.
class LayerGrower {
 public:
  LayerGrower(std::unique_ptr<BinnedMatrix> matrix, int32_t logits);

  // Splits are those of the rows of all from here on; of one logit.
  void share(const RowPartition& all) { all_ = all; }
  const RowPartition& all() const { return all_; }

  int64_t rows() const { return matrix_->rows(); }
  int64_t rows_of_all() const { return all_.peers ? all_.rows : rows(); }
  int32_t logits() const { return logits_; }
  const BinnedMatrix& matrix() const { return *matrix_; }

  // All rows in the root of a new tree.
  void start_tree();
  // Brings the rows to the leaves of a tree whose questions above them have not changed; on several
  // threads then(chunk) for each chunk, while its rows are near.
  template <typename Then>
  void follow(const Tree& tree, const Then& then);
  void follow(const Tree& tree) {
    follow(tree, [](int64_t) {});
  }
  // For a tree that does not grow any more, without bringing rows to its last leaves; afterwards another
  // one must start. run(nodes, rows, which[], how many, what they count from): row i is in nodes[which[i]].
  template <typename Run>
  void each_leaf(const Tree& tree, const Run& run);
  // The best split of each leaf [begin, end), of equals by the first column, with gradients and hessians by row
  // and logit. `layer` counts all layers: the rounding of a layer is not that of the next one.
  // Throws a kInvalidArgument error where a gradient or hessian is not finite.
  std::vector<LayerSplit> best_splits(int32_t begin,
                                      int32_t end,
                                      const float* gradients,
                                      const float* hessians,
                                      int64_t layer,
                                      const SplitCosts& costs);

  // run(node, rows of it, how many, what they count from, their first place) for pieces of all
  // rows, on several threads.
  template <typename Run>
  void each_piece(const Run& run) const;
  // The same of one chunk, on this thread.
  template <typename Run>
  void each_piece_of(int64_t chunk, const Run& run) const;

 private:
  // For each bin of a node's column 1 where it goes left; of leaves nothing.
  using Tables = std::vector<std::vector<uint8_t>>;
  struct Segment {
    int32_t node;
    int32_t begin, end;  // in the chunk
  };
  struct Scales {
    double gradient, hessian;
  };
  class SpareSums;
  class Layer;

  float largest_of_all(const float* x, const char* what) const;
  Scales pack(const float* gradients, const float* hessians, int64_t layer);
  Tables tables_of(const Tree& tree) const;
  std::vector<uint8_t> table_of(const TreeNode& node) const;
  // Of those of a chunk that are not in leaves, all or only those which do not come to leaves next.
  enum class Goal { kLeaves, kParentsOfLeaves };
  void follow_chunk(int64_t chunk, const Tree& tree, const Tables& tables, Goal goal);
  void part_layer(int64_t chunk, const Tree& tree, const Tables& tables, Goal goal);
  static bool is_there(const Tree& tree, int32_t node, Goal goal);
  int32_t part(int64_t chunk, const Segment& segment, const TreeNode& node, const uint8_t* table);
  // Of rows that are in a node, whether they go left.
  void ask(int64_t chunk, const Segment& segment, const TreeNode& node, const uint8_t* table,
           uint8_t* goes_left) const;

  std::unique_ptr<BinnedMatrix> matrix_;
  int32_t logits_;
  RowPartition all_;
  std::vector<std::vector<uint16_t>> ids_;      // by chunk: of rows in it
  std::vector<std::vector<Segment>> segments_;  // of a chunk, in order
  std::vector<int64_t> packed_;                 // by place, then logit
};

template <typename Then>
void LayerGrower::follow(const Tree& tree, const Then& then) {
  const Tables tables = tables_of(tree);
  parallel_for_throwing(matrix_->num_chunks(), [&](int64_t chunk) {
    follow_chunk(chunk, tree, tables, Goal::kLeaves);
    then(chunk);
  });
}

template <typename Run>
void LayerGrower::each_leaf(const Tree& tree, const Run& run) {
  const Tables tables = tables_of(tree);
  parallel_for_throwing(matrix_->num_chunks(), [&](int64_t chunk) {
    follow_chunk(chunk, tree, tables, Goal::kParentsOfLeaves);
    std::vector<uint8_t> goes_left(static_cast<size_t>(matrix_->chunk_rows(chunk)));
    each_piece_of(chunk, [&](int32_t number, const uint16_t* ids, int64_t n, int64_t first, int64_t at) {
      const TreeNode& node = tree.nodes[static_cast<size_t>(number)];
      std::array<int32_t, 2> nodes = {number, number};
      if (node.is_leaf()) {
        std::fill_n(goes_left.begin(), n, uint8_t{0});
      } else {
        nodes = {node.right_id, node.left_id};
        const auto begin = static_cast<int32_t>(at - first);
        ask(chunk, {number, begin, begin + static_cast<int32_t>(n)}, node,
            tables[static_cast<size_t>(number)].data(), goes_left.data());
      }
      run(nodes, ids, goes_left.data(), n, first);
    });
  });
}

template <typename Run>
void LayerGrower::each_piece_of(int64_t chunk, const Run& run) const {
  const int64_t first = chunk * BinnedMatrix::kChunkRows;
  for (const Segment& segment : segments_[static_cast<size_t>(chunk)]) {
    run(segment.node, ids_[static_cast<size_t>(chunk)].data() + segment.begin,
        segment.end - segment.begin, first, first + segment.begin);
  }
}

template <typename Run>
void LayerGrower::each_piece(const Run& run) const {
  parallel_for_throwing(matrix_->num_chunks(), [&](int64_t chunk) { each_piece_of(chunk, run); });
}

}  // namespace runhooks
