// LayerGrower finds the best splits of a layer over all rows of a BinnedMatrix.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "cluster/communicator.h"
#include "trees/binned_matrix.h"
#include "trees/ensemble.h"
#include "trees/parallel.h"
#include "trees/split_costs.h"

namespace runhooks {

// The best split of a leaf; column -1 means none.
struct LayerSplit {
  int32_t node = 0;
  int32_t column = -1, feature = -1, threshold = 0;
  bool missing_goes_right = false, left_is_empty = false, right_is_empty = false;
  double gain = 0;
  std::vector<float> left, right;  // contributions without the learning rate
};

// Row i of process r of `size` processes has the global number i * size + r. Random rounding
// depends on this number, so sums equal those of one process.
struct RowPartition {
  Communicator* peers = nullptr;  // NULL if this process has all rows
  int64_t rows = 0;               // number of rows of all processes
};

// Rows are grouped by node within chunks. Gradients and hessians are summed as scaled integers, so
// results are bit-identical for any number of threads and any order of rows.
class LayerGrower {
 public:
  LayerGrower(std::unique_ptr<BinnedMatrix> matrix, int32_t logits);

  // Makes splits use the rows of all processes.
  void set_row_partition(const RowPartition& partition) { row_partition_ = partition; }
  const RowPartition& row_partition() const { return row_partition_; }

  int64_t rows() const { return matrix_->rows(); }
  int64_t global_rows() const { return row_partition_.peers ? row_partition_.rows : rows(); }
  int32_t logits() const { return logits_; }
  const BinnedMatrix& matrix() const { return *matrix_; }
  // Restricts splits to the columns whose flag is set; an empty vector allows all.
  void use_columns(std::vector<bool> is_used) { used_columns_ = std::move(is_used); }
  bool uses_column(size_t column) const { return used_columns_.empty() || used_columns_[column]; }

  // Moves all rows to the root.
  void start_tree();
  // Moves the rows to the leaves of `tree`. Splits of previous calls must not have changed. Calls
  // then(chunk) for each chunk on several threads, while its rows are in the processor cache.
  template <typename Then>
  void route_rows(const Tree& tree, const Then& then);
  // Visits the leaves of a finished tree without moving rows to the last layer; call start_tree()
  // afterwards. In run(nodes, ids, side, n, first), row first + ids[i] is in node nodes[side[i]].
  template <typename Run>
  void each_leaf(const Tree& tree, const Run& run);
  // Returns the best splits of leaves [begin, end); among equal splits the first column wins.
  // `layer` is the number of the layer in the ensemble and seeds the random rounding. Throws
  // kInvalidArgument for a non-finite gradient or hessian.
  std::vector<LayerSplit> best_splits(int32_t begin,
                                      int32_t end,
                                      const float* gradients,
                                      const float* hessians,
                                      int64_t layer,
                                      const SplitCosts& costs);

  // Calls run(node, ids, n, first, position) for segments of all rows on several threads: row first
  // + ids[i] is stored at position + i.
  template <typename Run>
  void each_segment(const Run& run) const;
  // Calls run() for the segments of one chunk, on this thread.
  template <typename Run>
  void each_segment_of_chunk(int64_t chunk, const Run& run) const;

 private:
  // tables[node][bin] is 1 if the node's split sends the bin left. A leaf has an empty table.
  using GoesLeftTables = std::vector<std::vector<uint8_t>>;
  // The rows of a chunk that are in `node`, as positions in the chunk.
  struct Segment {
    int32_t node;
    int32_t begin, end;
  };
  // Factors that turn derivatives into integers.
  struct Scales {
    double gradient, hessian;
  };
  class SumsPool;
  class SplitSearch;

  float global_max(const float* x, const char* quantity) const;
  Scales pack(const float* gradients, const float* hessians, int64_t layer);
  GoesLeftTables goes_left_tables(const Tree& tree) const;
  std::vector<uint8_t> goes_left_table(const TreeNode& node) const;
  // The nodes to which routing moves rows.
  enum class Goal { kLeaves, kParentsOfLeaves };
  bool uses_any_column(const std::vector<int32_t>& columns) const;
  void pack_logits(int64_t first_row,
                   int64_t rows,
                   const float* gradients,
                   const float* hessians,
                   const PackRules& rules,
                   int64_t* packed) const;
  void route_chunk(int64_t chunk, const Tree& tree, const GoesLeftTables& tables, Goal goal);
  void partition_segments(int64_t chunk, const Tree& tree, const GoesLeftTables& tables, Goal goal);
  static bool is_at_goal(const Tree& tree, int32_t node, Goal goal);
  int32_t partition(int64_t chunk,
                    const Segment& segment,
                    const TreeNode& node,
                    const uint8_t* table);
  // Sets goes_left[i] for each row of a segment of `node`.
  void evaluate_split(int64_t chunk,
                      const Segment& segment,
                      const TreeNode& node,
                      const uint8_t* table,
                      uint8_t* goes_left) const;

  std::unique_ptr<BinnedMatrix> matrix_;
  int32_t logits_;
  RowPartition row_partition_;
  std::vector<bool> used_columns_;
  std::vector<std::vector<uint16_t>> ids_;      // for each chunk, row numbers within it
  std::vector<std::vector<Segment>> segments_;  // for each chunk, in order of position
  std::vector<int64_t> packed_;                 // gradient and hessian, by position and logit
};

template <typename Then>
void LayerGrower::route_rows(const Tree& tree, const Then& then) {
  const GoesLeftTables tables = goes_left_tables(tree);
  parallel_for_throwing(matrix_->num_chunks(), [&](int64_t chunk) {
    route_chunk(chunk, tree, tables, Goal::kLeaves);
    then(chunk);
  });
}

template <typename Run>
void LayerGrower::each_leaf(const Tree& tree, const Run& run) {
  const GoesLeftTables tables = goes_left_tables(tree);
  parallel_for_throwing(matrix_->num_chunks(), [&](int64_t chunk) {
    route_chunk(chunk, tree, tables, Goal::kParentsOfLeaves);
    std::vector<uint8_t> goes_left(static_cast<size_t>(matrix_->chunk_rows(chunk)));
    each_segment_of_chunk(
        chunk, [&](int32_t number, const uint16_t* ids, int64_t n, int64_t first, int64_t at) {
          const TreeNode& node = tree.nodes[static_cast<size_t>(number)];
          std::array<int32_t, 2> nodes = {number, number};
          if (node.is_leaf()) {
            std::fill_n(goes_left.begin(), n, uint8_t{0});
          } else {
            nodes = {node.right_id, node.left_id};
            const auto begin = static_cast<int32_t>(at - first);
            evaluate_split(chunk, {number, begin, begin + static_cast<int32_t>(n)}, node,
                           tables[static_cast<size_t>(number)].data(), goes_left.data());
          }
          run(nodes, ids, goes_left.data(), n, first);
        });
  });
}

template <typename Run>
void LayerGrower::each_segment_of_chunk(int64_t chunk, const Run& run) const {
  const int64_t first = chunk * BinnedMatrix::kChunkRows;
  for (const Segment& segment : segments_[static_cast<size_t>(chunk)]) {
    run(segment.node, ids_[static_cast<size_t>(chunk)].data() + segment.begin,
        segment.end - segment.begin, first, first + segment.begin);
  }
}

template <typename Run>
void LayerGrower::each_segment(const Run& run) const {
  parallel_for_throwing(matrix_->num_chunks(),
                        [&](int64_t chunk) { each_segment_of_chunk(chunk, run); });
}

}  // namespace runhooks
