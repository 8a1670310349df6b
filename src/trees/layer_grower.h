// What lives here: LayerGrower, the best splits of a layer's nodes over all rows of a BinnedMatrix.
// Who may use it: the op that grows trees in memory, benches, tests.
// What it must not know: losses, graphs, R.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
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
struct RowsOfAll {
  Communicator* peers = nullptr;  // NULL: this process has all
  int64_t rows = 0;
};

// Rows lie in chunks; those of a chunk are kept in the order of their nodes. All sums are of whole
// numbers, the gradients and hessians times a power of two: what comes out has the same bits for
// any number of threads and any order of the rows.
class LayerGrower {
 public:
  LayerGrower(std::unique_ptr<BinnedMatrix> matrix, int32_t logits);

  // Splits are those of the rows of all from here on; of one logit.
  void share(const RowsOfAll& all) { all_ = all; }
  const RowsOfAll& all() const { return all_; }

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
  class Layer;

  float largest_of_all(const float* x, const char* what) const;
  Scales pack(const float* gradients, const float* hessians, int64_t layer);
  // Where a chunk's rows are put aside.
  struct Spare {
    std::vector<uint8_t> goes_left, rows;
    std::vector<uint16_t> ids;
  };
  class Borrowed;

  Tables tables_of(const Tree& tree) const;
  std::vector<uint8_t> table_of(const TreeNode& node) const;
  void follow_chunk(int64_t chunk, const Tree& tree, const Tables& tables);
  int32_t part(const Segment& segment, int64_t first, const TreeNode& node, const uint8_t* table,
               Spare& spare);

  std::unique_ptr<BinnedMatrix> matrix_;
  int32_t logits_;
  RowsOfAll all_;
  std::vector<uint16_t> ids_;                   // of rows, in their chunk
  std::vector<std::vector<Segment>> segments_;  // of a chunk, in order
  std::vector<int64_t> packed_;                 // by place, then logit
  std::mutex spare_mutex_;
  std::vector<std::unique_ptr<Spare>> spare_;  // one for each thread that has needed it
};

template <typename Then>
void LayerGrower::follow(const Tree& tree, const Then& then) {
  const Tables tables = tables_of(tree);
  each_on_threads(matrix_->num_chunks(), [&](int64_t chunk) {
    follow_chunk(chunk, tree, tables);
    then(chunk);
  });
}

template <typename Run>
void LayerGrower::each_piece_of(int64_t chunk, const Run& run) const {
  const int64_t first = chunk * BinnedMatrix::kChunkRows;
  for (const Segment& segment : segments_[static_cast<size_t>(chunk)]) {
    run(segment.node, ids_.data() + first + segment.begin, segment.end - segment.begin, first,
        first + segment.begin);
  }
}

template <typename Run>
void LayerGrower::each_piece(const Run& run) const {
  each_on_threads(matrix_->num_chunks(), [&](int64_t chunk) { each_piece_of(chunk, run); });
}

}  // namespace runhooks
