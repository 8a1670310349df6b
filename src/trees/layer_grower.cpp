#include "trees/layer_grower.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <mutex>
#include <numeric>
#include <utility>

#include "base/status.h"
#include "trees/split_finder.h"

namespace runhooks {

namespace {

// The sum of a number below 2^16 from each of this many rows is below 2^31.
constexpr int64_t kMaxPackedRows = 32768;

const HistogramKernels& histogram_kernels() { return *kernels().histograms; }

// Returns the largest power of two that can multiply numbers up to `largest` without
// overflow of their sum over `rows` rows.
double scale_of(float largest, int64_t rows) {
  if (largest == 0) return 1;
  const double max_scaled =
      std::min<double>(
          1 << 30, std::floor(2147483647.0 / static_cast<double>(std::min(rows, kMaxPackedRows)))) -
      1;
  // 126, because the scale must be finite as a float.
  const int exponent = std::min(static_cast<int>(std::floor(std::log2(max_scaled / largest))), 126);
  return std::ldexp(1.0, exponent);
}

// Returns the largest absolute value. Throws for non-finite numbers.
float max_magnitude(const float* x, int64_t n, const char* quantity, int64_t logits) {
  constexpr int64_t kChunk = 1 << 16;
  std::vector<uint32_t> chunk_maxima(static_cast<size_t>((n + kChunk - 1) / kChunk));
  parallel_for(static_cast<int64_t>(chunk_maxima.size()), [&](int64_t i) {
    chunk_maxima[static_cast<size_t>(i)] =
        histogram_kernels().largest(std::min(kChunk, n - i * kChunk), x + i * kChunk);
  });
  const uint32_t bits = *std::max_element(chunk_maxima.begin(), chunk_maxima.end());
  float result;
  std::memcpy(&result, &bits, sizeof(result));
  if (!std::isfinite(result)) {
    const float* invalid =
        std::find_if(x, x + n, [](float value) { return !std::isfinite(value); });
    invalid_argument("The ", quantity, " of row ", (invalid - x) / logits + 1, " is ", *invalid,
                     "; trees require finite numbers.");
  }
  return result;
}

bool is_better(const LayerSplit& split, const LayerSplit& other) {
  if (split.column < 0 || other.column < 0) return split.column >= 0;
  if (std::abs(split.gain - other.gain) > kEqualGains) return split.gain > other.gain;
  return split.column < other.column;
}

}  // namespace

LayerGrower::LayerGrower(std::unique_ptr<BinnedMatrix> matrix, int32_t logits)
    : matrix_(std::move(matrix)), logits_(logits) {
  for (int64_t chunk = 0; chunk < matrix_->num_chunks(); ++chunk) {
    ids_.emplace_back(static_cast<size_t>(matrix_->chunk_rows(chunk)));
    std::iota(ids_.back().begin(), ids_.back().end(), uint16_t{0});
  }
  segments_.resize(ids_.size());
  packed_.resize(static_cast<size_t>(matrix_->rows() * logits_));
  start_tree();
}

void LayerGrower::start_tree() {
  for (size_t i = 0; i < segments_.size(); ++i) {
    segments_[i] = {{0, 0, static_cast<int32_t>(ids_[i].size())}};
  }
}

std::vector<uint8_t> LayerGrower::goes_left_table(const TreeNode& node) const {
  const int32_t column_index = matrix_->column_of_feature(node.feature_id);
  if (column_index < 0) {
    invalid_argument("A tree uses feature ", node.feature_id, ", which has no column.");
  }
  const BinnedColumn& column = matrix_->column(static_cast<size_t>(column_index));
  std::vector<uint8_t> table(static_cast<size_t>(column.total_bins()));
  for (int32_t bin = 0; bin < column.total_bins(); ++bin) {
    int32_t bucket = bin;
    if (bin == column.bins && column.kind == BinnedColumn::Kind::kMissingEitherSide) {
      bucket = node.feature_id == column.first_feature ? 0 : column.bins - 1;
    } else if (bin == column.bins) {
      bucket = kMissingBucket;
    } else if (column.kind == BinnedColumn::Kind::kCategories) {
      bucket = bin == node.feature_id - column.first_feature;
    }
    table[static_cast<size_t>(bin)] = node.child(bucket) == node.left_id;
  }
  return table;
}

LayerGrower::GoesLeftTables LayerGrower::goes_left_tables(const Tree& tree) const {
  GoesLeftTables tables(tree.nodes.size());
  for (size_t i = 0; i < tables.size(); ++i) {
    if (!tree.nodes[i].is_leaf()) tables[i] = goes_left_table(tree.nodes[i]);
  }
  return tables;
}

bool LayerGrower::is_at_goal(const Tree& tree, int32_t node_id, Goal goal) {
  const TreeNode& node = tree.nodes[static_cast<size_t>(node_id)];
  if (node.is_leaf()) return true;
  return goal == Goal::kParentsOfLeaves &&
         tree.nodes[static_cast<size_t>(node.left_id)].is_leaf() &&
         tree.nodes[static_cast<size_t>(node.right_id)].is_leaf();
}

void LayerGrower::route_chunk(int64_t chunk,
                              const Tree& tree,
                              const GoesLeftTables& tables,
                              Goal goal) {
  const std::vector<Segment>& segments = segments_[static_cast<size_t>(chunk)];
  while (!std::all_of(segments.begin(), segments.end(), [&](const Segment& segment) {
    return is_at_goal(tree, segment.node, goal);
  })) {
    partition_segments(chunk, tree, tables, goal);
  }
}

void LayerGrower::partition_segments(int64_t chunk,
                                     const Tree& tree,
                                     const GoesLeftTables& tables,
                                     Goal goal) {
  std::vector<Segment>& segments = segments_[static_cast<size_t>(chunk)];
  std::vector<Segment> next;
  for (const Segment& segment : segments) {
    if (is_at_goal(tree, segment.node, goal)) {
      next.push_back(segment);
      continue;
    }
    const auto id = static_cast<size_t>(segment.node);
    const TreeNode& node = tree.nodes[id];
    const int32_t middle = partition(chunk, segment, node, tables[id].data());
    if (middle > segment.begin) next.push_back({node.left_id, segment.begin, middle});
    if (middle < segment.end) next.push_back({node.right_id, middle, segment.end});
  }
  segments = std::move(next);
}

namespace {

// Buffers of partition(). Each thread has its own, so that cores do not share cache lines.
struct PartitionBuffers {
  static constexpr size_t kCapacity = BinnedMatrix::kChunkRows + kPartitionPadding;
  std::vector<uint8_t> goes_left = std::vector<uint8_t>(kCapacity);
  std::vector<uint16_t> ids = std::vector<uint16_t>(kCapacity);
  std::vector<uint64_t> rows = std::vector<uint64_t>(kCapacity);
};

}  // namespace

// Partitions a segment and returns the position of the first row that goes right.
int32_t LayerGrower::partition(int64_t chunk,
                               const Segment& segment,
                               const TreeNode& node,
                               const uint8_t* table) {
  thread_local PartitionBuffers buffers;
  const int64_t n = segment.end - segment.begin;
  const int64_t position = chunk * BinnedMatrix::kChunkRows + segment.begin;
  const uint8_t* goes_left = buffers.goes_left.data();
  evaluate_split(chunk, segment, node, table, buffers.goes_left.data());
  const int64_t left = histogram_kernels().partition_row_ids(
      n, goes_left, ids_[static_cast<size_t>(chunk)].data() + segment.begin, buffers.ids.data());
  for (BinnedMatrix::ColumnGroup& group : matrix_->groups()) {
    histogram_kernels().partition_rows(n, goes_left, group.row(position),
                                  reinterpret_cast<uint8_t*>(buffers.rows.data()));
  }
  return segment.begin + static_cast<int32_t>(left);
}

void LayerGrower::evaluate_split(int64_t chunk,
                                 const Segment& segment,
                                 const TreeNode& node,
                                 const uint8_t* table,
                                 uint8_t* goes_left) const {
  const BinnedMatrix::Location location =
      matrix_->location(static_cast<size_t>(matrix_->column_of_feature(node.feature_id)));
  const BinnedMatrix::ColumnGroup& group = matrix_->groups()[static_cast<size_t>(location.group)];
  const uint8_t* bins =
      group.bins_from(chunk * BinnedMatrix::kChunkRows + segment.begin, location.slot);
  (group.is_wide ? histogram_kernels().look_up16 : histogram_kernels().look_up8)(
      segment.end - segment.begin, bins, table, goes_left);
}

float LayerGrower::global_max(const float* x, const char* quantity) const {
  const float local_max = max_magnitude(x, rows() * logits_, quantity, logits_);
  if (!row_partition_.peers) return local_max;
  // Compares bits: as integers, the bits of non-negative floats have the order of the floats.
  uint32_t bits;
  std::memcpy(&bits, &local_max, sizeof bits);
  int64_t max_bits = bits;
  row_partition_.peers->largest(&max_bits, 1);
  bits = static_cast<uint32_t>(max_bits);
  float largest;
  std::memcpy(&largest, &bits, sizeof largest);
  return largest;
}

LayerGrower::Scales LayerGrower::pack(const float* gradients,
                                      const float* hessians,
                                      int64_t layer) {
  const Scales scales = {scale_of(global_max(gradients, "gradient"), global_rows()),
                         scale_of(global_max(hessians, "hessian"), global_rows())};
  const auto size = static_cast<uint32_t>(row_partition_.peers ? row_partition_.peers->size() : 1);
  const auto rank = static_cast<uint32_t>(row_partition_.peers ? row_partition_.peers->rank() : 0);
  parallel_for_throwing(matrix_->num_chunks(), [&](int64_t chunk) {
    const int64_t row = chunk * BinnedMatrix::kChunkRows, first = row * logits_;
    const int64_t count = matrix_->chunk_rows(chunk) * logits_;
    thread_local std::vector<int64_t> by_row;
    by_row.resize(std::max(by_row.size(), static_cast<size_t>(count)));
    const uint32_t at =
        static_cast<uint32_t>(first) * size + rank + static_cast<uint32_t>(layer) * 0x85ebca6bu;
    const PackRules rules = {static_cast<float>(scales.gradient),
                             static_cast<float>(scales.hessian), at, at + 0x1b873593u, size};
    if (size == 1 || logits_ == 1) {
      histogram_kernels().pack(count, gradients + first, hessians + first, &rules, by_row.data());
    } else {
      pack_logits(row, matrix_->chunk_rows(chunk), gradients, hessians, rules, by_row.data());
    }
    histogram_kernels().gather(count / logits_, logits_, ids_[static_cast<size_t>(chunk)].data(),
                               by_row.data(), packed_.data() + first);
  });
  return scales;
}

// Packs the rows of a chunk for several processes and logits. Rounding depends on global numbers:
// those of a row's logits are adjacent, those of this process's rows are not.
void LayerGrower::pack_logits(int64_t first_row,
                              int64_t rows,
                              const float* gradients,
                              const float* hessians,
                              const PackRules& rules,
                              int64_t* packed) const {
  const auto size = static_cast<uint32_t>(row_partition_.peers->size());
  const auto rank = static_cast<uint32_t>(row_partition_.peers->rank());
  PackRules row_rules = rules;
  row_rules.by = 1;
  for (int64_t i = 0; i < rows; ++i) {
    const auto row = static_cast<uint32_t>(first_row + i);
    const uint32_t shift = ((row * size + rank) * static_cast<uint32_t>(logits_)) -
                           (static_cast<uint32_t>(first_row * logits_) * size + rank);
    row_rules.first_gradient = rules.first_gradient + shift;
    row_rules.first_hessian = rules.first_hessian + shift;
    const int64_t at = (first_row + i) * logits_;
    histogram_kernels().pack(logits_, gradients + at, hessians + at, &row_rules,
                             packed + i * logits_);
  }
}

bool LayerGrower::uses_any_column(const std::vector<int32_t>& columns) const {
  return std::any_of(columns.begin(), columns.end(),
                     [this](int32_t column) { return uses_column(static_cast<size_t>(column)); });
}

// Reuses buffers of sums between threads and nodes.
class LayerGrower::SumsPool {
 public:
  // Allocates a zeroed buffer if no buffer of this size is free.
  std::vector<int64_t> take(size_t size) {
    const std::lock_guard<std::mutex> lock(mutex_);
    for (std::vector<int64_t>& sums : free_buffers_) {
      if (sums.size() != size) continue;
      std::vector<int64_t> taken = std::move(sums);
      std::swap(sums, free_buffers_.back());
      free_buffers_.pop_back();
      return taken;
    }
    return std::vector<int64_t>(size);
  }
  void recycle(std::vector<int64_t> sums) {
    const std::lock_guard<std::mutex> lock(mutex_);
    free_buffers_.push_back(std::move(sums));
  }

 private:
  std::mutex mutex_;
  std::vector<std::vector<int64_t>> free_buffers_;
};

// The state of one call of best_splits().
class LayerGrower::SplitSearch {
 public:
  SplitSearch(LayerGrower& grower, const Scales& scales, const SplitCosts& costs)
      : grower_(grower), scales_(scales), costs_(costs) {}

  std::vector<LayerSplit> run(int32_t begin, int32_t end) {
    create_tasks(begin, end);
    parallel_for_throwing(static_cast<int64_t>(tasks_.size()),
                          [&](int64_t i) { add(tasks_[static_cast<size_t>(i)]); });
    if (has_peers()) reduce_and_find_splits();
    std::vector<LayerSplit> best(static_cast<size_t>(end - begin));
    for (int32_t node = begin; node < end; ++node)
      best[static_cast<size_t>(node - begin)].node = node;
    for (const std::unique_ptr<Histogram>& histogram : histograms_) {
      LayerSplit& current = best[static_cast<size_t>(histogram->node - begin)];
      if (is_better(histogram->best, current)) current = std::move(histogram->best);
    }
    best.erase(std::remove_if(best.begin(), best.end(),
                              [](const LayerSplit& split) { return split.column < 0; }),
               best.end());
    return best;
  }

 private:
  struct RowRange {
    int64_t begin, end;  // row positions in the matrix
  };
  // The sums of a node for all columns of a group.
  struct Histogram {
    int32_t node;
    size_t group;
    int pending_tasks = 0;
    int64_t rows = 0;
    std::mutex mutex;
    std::vector<int64_t> gradients, hessians;
    LayerSplit best;
  };
  // Adds some ranges of rows to a histogram.
  struct Task {
    Histogram* histogram;
    size_t first_range, end_range;
  };

  bool has_peers() const { return grower_.row_partition_.peers != nullptr; }

  void create_tasks(int32_t begin, int32_t end) {
    std::vector<std::vector<RowRange>> by_node(static_cast<size_t>(end - begin));
    for (size_t chunk = 0; chunk < grower_.segments_.size(); ++chunk) {
      const int64_t first = static_cast<int64_t>(chunk) * BinnedMatrix::kChunkRows;
      for (const Segment& s : grower_.segments_[chunk]) {
        if (s.node < begin || s.node >= end) continue;
        by_node[static_cast<size_t>(s.node - begin)].push_back({first + s.begin, first + s.end});
      }
    }
    for (int32_t node = begin; node < end; ++node) {
      const std::vector<RowRange>& node_ranges = by_node[static_cast<size_t>(node - begin)];
      // Skips nodes without rows, unless other processes may have rows of the node.
      if (node_ranges.empty() && !has_peers()) continue;
      const size_t first = ranges_.size();
      ranges_.insert(ranges_.end(), node_ranges.begin(), node_ranges.end());
      for (size_t group = 0; group < grower_.matrix_->groups().size(); ++group) {
        if (!grower_.uses_any_column(grower_.matrix_->groups()[group].columns)) continue;
        histograms_.push_back(std::make_unique<Histogram>());
        histograms_.back()->node = node;
        histograms_.back()->group = group;
        create_histogram_tasks(histograms_.back().get(), first, ranges_.size());
      }
    }
    // Orders tasks by rows, so that each thread sums the rows that it has partitioned: transfers
    // between distant cores are slow.
    std::stable_partition(tasks_.begin(), tasks_.end(), [this](const Task& task) {
      return task.first_range == task.end_range || is_in_first_half(ranges_[task.first_range]);
    });
  }

  void create_histogram_tasks(Histogram* histogram, size_t first, size_t end) {
    int64_t rows = 0;
    size_t from = first;
    for (size_t i = first; i < end; ++i) {
      const int64_t n = ranges_[i].end - ranges_[i].begin;
      const bool crosses_halves =
          i > from && is_in_first_half(ranges_[i - 1]) != is_in_first_half(ranges_[i]);
      if (rows + n > kMaxPackedRows || crosses_halves) {
        add_task(histogram, from, i);
        from = i;
        rows = 0;
      }
      rows += n;
      histogram->rows += n;
    }
    add_task(histogram, from, end);
  }
  void add_task(Histogram* histogram, size_t first, size_t end) {
    tasks_.push_back({histogram, first, end});
    ++histogram->pending_tasks;
  }
  bool is_in_first_half(const RowRange& range) const { return 2 * range.begin < grower_.rows(); }

  void add(const Task& task) {
    Histogram& histogram = *task.histogram;
    const BinnedMatrix::ColumnGroup& group = grower_.matrix_->groups()[histogram.group];
    const int64_t logits = grower_.logits_, features = static_cast<int64_t>(group.columns.size());
    const size_t size = static_cast<size_t>(features * group.bins * logits);
    std::vector<int64_t> sums = task_sums_.take(size);
    for (size_t i = task.first_range; i < task.end_range; ++i) {
      const int64_t from = ranges_[i].begin, n = ranges_[i].end - from;
      const uint8_t* rows = group.row(from);
      const int64_t* packed = grower_.packed_.data() + from * logits;
      if (group.is_wide) {
        histogram_kernels().add16(n, features, group.bins, logits, rows, packed, sums.data());
      } else {
        histogram_kernels().add8(n, features, logits, rows, packed, sums.data());
      }
    }
    const std::lock_guard<std::mutex> lock(histogram.mutex);
    const bool are_first = histogram.gradients.empty();
    if (are_first) {
      histogram.gradients = histogram_sums_.take(size);
      histogram.hessians = histogram_sums_.take(size);
    }
    histogram_kernels().flush(static_cast<int64_t>(size), are_first, sums.data(),
                              histogram.gradients.data(), histogram.hessians.data());
    task_sums_.recycle(std::move(sums));
    if (--histogram.pending_tasks == 0 && !has_peers()) find_best_split(histogram);
  }

  // All-reduces the sums of a layer in one message.
  void reduce_and_find_splits() {
    std::vector<int64_t> sums;
    for (const std::unique_ptr<Histogram>& histogram : histograms_) {
      sums.push_back(histogram->rows);
      sums.insert(sums.end(), histogram->gradients.begin(), histogram->gradients.end());
      sums.insert(sums.end(), histogram->hessians.begin(), histogram->hessians.end());
    }
    grower_.row_partition_.peers->add(sums.data(), static_cast<int64_t>(sums.size()),
                                      DType::kInt64);
    const int64_t* at = sums.data();
    for (const std::unique_ptr<Histogram>& histogram : histograms_) {
      histogram->rows = *at++;
      for (std::vector<int64_t>* own : {&histogram->gradients, &histogram->hessians}) {
        std::copy_n(at, own->size(), own->data());
        at += own->size();
      }
    }
    parallel_for_throwing(static_cast<int64_t>(histograms_.size()), [&](int64_t i) {
      Histogram& histogram = *histograms_[static_cast<size_t>(i)];
      if (histogram.rows > 0) find_best_split(histogram);
    });
  }

  void find_best_split(Histogram& histogram) {
    const BinnedMatrix::ColumnGroup& group = grower_.matrix_->groups()[histogram.group];
    histogram.best.node = histogram.node;
    const size_t stride = static_cast<size_t>(group.bins * grower_.logits_);
    for (size_t slot = 0; slot < group.columns.size(); ++slot) {
      if (!grower_.uses_column(static_cast<size_t>(group.columns[slot]))) continue;
      const BinSums sums = {histogram.gradients.data() + slot * stride,
                            histogram.hessians.data() + slot * stride, grower_.logits_,
                            1 / scales_.gradient, 1 / scales_.hessian};
      find_split(group.columns[slot],
                 grower_.matrix_->column(static_cast<size_t>(group.columns[slot])), sums, costs_,
                 &histogram.best);
    }
    histogram_sums_.recycle(std::move(histogram.gradients));
    histogram_sums_.recycle(std::move(histogram.hessians));
  }

  LayerGrower& grower_;
  const Scales scales_;
  const SplitCosts& costs_;
  std::vector<RowRange> ranges_;
  std::vector<Task> tasks_;
  std::vector<std::unique_ptr<Histogram>> histograms_;
  SumsPool task_sums_;       // zeroed, as flush() leaves them
  SumsPool histogram_sums_;  // buffers with any contents
};

std::vector<LayerSplit> LayerGrower::best_splits(int32_t begin,
                                                 int32_t end,
                                                 const float* gradients,
                                                 const float* hessians,
                                                 int64_t layer,
                                                 const SplitCosts& costs) {
  const Scales scales = pack(gradients, hessians, layer);
  return SplitSearch(*this, scales, costs).run(begin, end);
}

}  // namespace runhooks
