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

// Sums of up to so many rows with numbers below 2^16 stay below 2^31.
constexpr int64_t kPackedRows = 32768;

const HistogramKernels& histograms() { return *kernels().histograms; }

// The largest power of two for which the sum of so many scaled numbers does not overflow.
double scale_of(float largest, int64_t rows) {
  if (largest == 0) return 1;
  const double most =
      std::min<double>(
          1 << 30, std::floor(2147483647.0 / static_cast<double>(std::min(rows, kPackedRows)))) -
      1;
  // the scale must be finite as a float
  const int exponent = std::min(static_cast<int>(std::floor(std::log2(most / largest))), 126);
  return std::ldexp(1.0, exponent);
}

float largest_of(const float* x, int64_t n, const char* what, int64_t logits) {
  constexpr int64_t kChunk = 1 << 16;
  std::vector<uint32_t> most(static_cast<size_t>((n + kChunk - 1) / kChunk));
  parallel_for(static_cast<int64_t>(most.size()), [&](int64_t i) {
    most[static_cast<size_t>(i)] =
        histograms().largest(std::min(kChunk, n - i * kChunk), x + i * kChunk);
  });
  const uint32_t bits = *std::max_element(most.begin(), most.end());
  float result;
  std::memcpy(&result, &bits, sizeof(result));
  if (!std::isfinite(result)) {
    const float* bad = std::find_if(x, x + n, [](float value) { return !std::isfinite(value); });
    invalid_argument("The ", what, " of row ", (bad - x) / logits + 1, " is ", *bad,
                     "; trees require finite numbers.");
  }
  return result;
}

bool is_better(const LayerSplit& split, const LayerSplit& than) {
  if (split.column < 0 || than.column < 0) return split.column >= 0;
  if (std::abs(split.gain - than.gain) > kEqualGains) return split.gain > than.gain;
  return split.column < than.column;
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

std::vector<uint8_t> LayerGrower::table_of(const TreeNode& node) const {
  const int32_t number = matrix_->column_of_feature(node.feature_id);
  if (number < 0) {
    invalid_argument("A tree uses feature ", node.feature_id, ", which has no column.");
  }
  const BinnedColumn& column = matrix_->column(static_cast<size_t>(number));
  std::vector<uint8_t> table(static_cast<size_t>(column.all_bins()));
  for (int32_t bin = 0; bin < column.all_bins(); ++bin) {
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

LayerGrower::Tables LayerGrower::tables_of(const Tree& tree) const {
  Tables tables(tree.nodes.size());
  for (size_t i = 0; i < tables.size(); ++i) {
    if (!tree.nodes[i].is_leaf()) tables[i] = table_of(tree.nodes[i]);
  }
  return tables;
}

bool LayerGrower::is_at_goal(const Tree& tree, int32_t number, Goal goal) {
  const TreeNode& node = tree.nodes[static_cast<size_t>(number)];
  if (node.is_leaf()) return true;
  return goal == Goal::kParentsOfLeaves &&
         tree.nodes[static_cast<size_t>(node.left_id)].is_leaf() &&
         tree.nodes[static_cast<size_t>(node.right_id)].is_leaf();
}

void LayerGrower::follow_chunk(int64_t chunk, const Tree& tree, const Tables& tables, Goal goal) {
  const std::vector<Segment>& segments = segments_[static_cast<size_t>(chunk)];
  while (!std::all_of(segments.begin(), segments.end(), [&](const Segment& segment) {
    return is_at_goal(tree, segment.node, goal);
  })) {
    partition_layer(chunk, tree, tables, goal);
  }
}

void LayerGrower::partition_layer(int64_t chunk,
                                  const Tree& tree,
                                  const Tables& tables,
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

// Thread-local buffers avoid transfers of cache lines between cores.
struct ThreadBuffers {
  static constexpr size_t kCapacity = BinnedMatrix::kChunkRows + kPartedBeyond;
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
  thread_local ThreadBuffers spare;
  const int64_t n = segment.end - segment.begin;
  const int64_t place = chunk * BinnedMatrix::kChunkRows + segment.begin;
  const uint8_t* goes_left = spare.goes_left.data();
  evaluate_split(chunk, segment, node, table, spare.goes_left.data());
  const int64_t left = histograms().part_ids(
      n, goes_left, ids_[static_cast<size_t>(chunk)].data() + segment.begin, spare.ids.data());
  for (BinnedMatrix::Group& group : matrix_->groups()) {
    histograms().part_rows(n, goes_left, group.row(place),
                           reinterpret_cast<uint8_t*>(spare.rows.data()));
  }
  return segment.begin + static_cast<int32_t>(left);
}

void LayerGrower::evaluate_split(int64_t chunk,
                                 const Segment& segment,
                                 const TreeNode& node,
                                 const uint8_t* table,
                                 uint8_t* goes_left) const {
  const BinnedMatrix::Place place =
      matrix_->place(static_cast<size_t>(matrix_->column_of_feature(node.feature_id)));
  const BinnedMatrix::Group& group = matrix_->groups()[static_cast<size_t>(place.group)];
  const uint8_t* bins =
      group.bins_from(chunk * BinnedMatrix::kChunkRows + segment.begin, place.slot);
  (group.is_wide ? histograms().look_up16 : histograms().look_up8)(segment.end - segment.begin,
                                                                   bins, table, goes_left);
}

float LayerGrower::global_max(const float* x, const char* what) const {
  const float own = largest_of(x, rows() * logits_, what, logits_);
  if (!all_.peers) return own;
  // compare as bits, which have the same order for non-negative numbers
  uint32_t bits;
  std::memcpy(&bits, &own, sizeof bits);
  int64_t most = bits;
  all_.peers->largest(&most, 1);
  bits = static_cast<uint32_t>(most);
  float largest;
  std::memcpy(&largest, &bits, sizeof largest);
  return largest;
}

LayerGrower::Scales LayerGrower::pack(const float* gradients,
                                      const float* hessians,
                                      int64_t layer) {
  const Scales scales = {scale_of(global_max(gradients, "gradient"), global_rows()),
                         scale_of(global_max(hessians, "hessian"), global_rows())};
  const auto by = static_cast<uint32_t>(all_.peers ? all_.peers->size() : 1);
  const auto rank = static_cast<uint32_t>(all_.peers ? all_.peers->rank() : 0);
  parallel_for_throwing(matrix_->num_chunks(), [&](int64_t chunk) {
    const int64_t row = chunk * BinnedMatrix::kChunkRows, first = row * logits_;
    const int64_t count = matrix_->chunk_rows(chunk) * logits_;
    thread_local std::vector<int64_t> by_row;
    by_row.resize(std::max(by_row.size(), static_cast<size_t>(count)));
    const uint32_t at =
        static_cast<uint32_t>(first) * by + rank + static_cast<uint32_t>(layer) * 0x85ebca6bu;
    const PackRules rules = {static_cast<float>(scales.gradient),
                             static_cast<float>(scales.hessian), at, at + 0x1b873593u, by};
    if (by == 1 || logits_ == 1) {
      histograms().pack(count, gradients + first, hessians + first, &rules, by_row.data());
    } else {
      pack_logits(row, matrix_->chunk_rows(chunk), gradients, hessians, rules, by_row.data());
    }
    histograms().gather(count / logits_, logits_, ids_[static_cast<size_t>(chunk)].data(),
                        by_row.data(), packed_.data() + first);
  });
  return scales;
}

// With several processes the logits of a row are adjacent, and those of the next row are not.
void LayerGrower::pack_logits(int64_t first_row,
                              int64_t rows,
                              const float* gradients,
                              const float* hessians,
                              const PackRules& rules,
                              int64_t* packed) const {
  const auto size = static_cast<uint32_t>(all_.peers->size());
  const auto rank = static_cast<uint32_t>(all_.peers->rank());
  PackRules own = rules;
  own.by = 1;
  for (int64_t i = 0; i < rows; ++i) {
    const auto row = static_cast<uint32_t>(first_row + i);
    const uint32_t shift = ((row * size + rank) * static_cast<uint32_t>(logits_)) -
                           (static_cast<uint32_t>(first_row * logits_) * size + rank);
    own.first_gradient = rules.first_gradient + shift;
    own.first_hessian = rules.first_hessian + shift;
    const int64_t at = (first_row + i) * logits_;
    histograms().pack(logits_, gradients + at, hessians + at, &own, packed + i * logits_);
  }
}

bool LayerGrower::uses_any(const std::vector<int32_t>& columns) const {
  return std::any_of(columns.begin(), columns.end(),
                     [this](int32_t column) { return uses(static_cast<size_t>(column)); });
}

class LayerGrower::SumsPool {
 public:
  // Allocates a zeroed buffer if none of this size is free.
  std::vector<int64_t> take(size_t size) {
    const std::lock_guard<std::mutex> lock(mutex_);
    for (std::vector<int64_t>& sums : free_buffers_) {
      if (sums.size() != size) continue;
      std::vector<int64_t> found = std::move(sums);
      std::swap(sums, free_buffers_.back());
      free_buffers_.pop_back();
      return found;
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

// One call of best_splits(). A job is the histogram of a node and a column group.
class LayerGrower::Layer {
 public:
  Layer(LayerGrower& grower, const Scales& scales, const SplitCosts& costs)
      : grower_(grower), scales_(scales), costs_(costs) {}

  std::vector<LayerSplit> run(int32_t begin, int32_t end) {
    create_jobs(begin, end);
    parallel_for_throwing(static_cast<int64_t>(pieces_.size()),
                          [&](int64_t i) { add(pieces_[static_cast<size_t>(i)]); });
    if (has_peers()) reduce_and_find_splits();
    std::vector<LayerSplit> best(static_cast<size_t>(end - begin));
    for (int32_t node = begin; node < end; ++node)
      best[static_cast<size_t>(node - begin)].node = node;
    for (const std::unique_ptr<Job>& job : jobs_) {
      LayerSplit& current = best[static_cast<size_t>(job->node - begin)];
      if (is_better(job->best, current)) current = std::move(job->best);
    }
    best.erase(std::remove_if(best.begin(), best.end(),
                              [](const LayerSplit& split) { return split.column < 0; }),
               best.end());
    return best;
  }

 private:
  struct Run {
    int64_t begin, end;  // positions
  };
  struct Job {
    int32_t node;
    size_t group;
    int pieces = 0;
    int64_t rows = 0;
    std::mutex mutex;
    std::vector<int64_t> gradients, hessians;
    LayerSplit best;
  };
  struct Piece {
    Job* job;
    size_t first_run, end_run;
  };

  bool has_peers() const { return grower_.all_.peers != nullptr; }

  void create_jobs(int32_t begin, int32_t end) {
    std::vector<std::vector<Run>> by_node(static_cast<size_t>(end - begin));
    for (size_t chunk = 0; chunk < grower_.segments_.size(); ++chunk) {
      const int64_t first = static_cast<int64_t>(chunk) * BinnedMatrix::kChunkRows;
      for (const Segment& s : grower_.segments_[chunk]) {
        if (s.node < begin || s.node >= end) continue;
        by_node[static_cast<size_t>(s.node - begin)].push_back({first + s.begin, first + s.end});
      }
    }
    for (int32_t node = begin; node < end; ++node) {
      const std::vector<Run>& own = by_node[static_cast<size_t>(node - begin)];
      // other processes may have rows of this node
      if (own.empty() && !has_peers()) continue;
      const size_t first = runs_.size();
      runs_.insert(runs_.end(), own.begin(), own.end());
      for (size_t group = 0; group < grower_.matrix_->groups().size(); ++group) {
        if (!grower_.uses_any(grower_.matrix_->groups()[group].columns)) continue;
        jobs_.push_back(std::make_unique<Job>());
        jobs_.back()->node = node;
        jobs_.back()->group = group;
        create_segments(jobs_.back().get(), first, runs_.size());
      }
    }
    // Each thread sums the rows that it has partitioned: transfers between distant cores are slow.
    std::stable_partition(pieces_.begin(), pieces_.end(), [this](const Piece& piece) {
      return piece.first_run == piece.end_run || is_in_first_half(runs_[piece.first_run]);
    });
  }

  void create_segments(Job* job, size_t first, size_t end) {
    int64_t rows = 0;
    size_t from = first;
    for (size_t i = first; i < end; ++i) {
      const int64_t more = runs_[i].end - runs_[i].begin;
      const bool crosses_halves =
          i > from && is_in_first_half(runs_[i - 1]) != is_in_first_half(runs_[i]);
      if (rows + more > kPackedRows || crosses_halves) {
        add_segment(job, from, i);
        from = i;
        rows = 0;
      }
      rows += more;
      job->rows += more;
    }
    add_segment(job, from, end);
  }
  void add_segment(Job* job, size_t first, size_t end) {
    pieces_.push_back({job, first, end});
    ++job->pieces;
  }
  bool is_in_first_half(const Run& run) const { return 2 * run.begin < grower_.rows(); }

  void add(const Piece& piece) {
    Job& job = *piece.job;
    const BinnedMatrix::Group& group = grower_.matrix_->groups()[job.group];
    const int64_t logits = grower_.logits_, features = static_cast<int64_t>(group.columns.size());
    const size_t size = static_cast<size_t>(features * group.bins * logits);
    std::vector<int64_t> sums = free_buffers_.take(size);
    for (size_t i = piece.first_run; i < piece.end_run; ++i) {
      const int64_t from = runs_[i].begin, n = runs_[i].end - from;
      const uint8_t* rows = group.row(from);
      const int64_t* packed = grower_.packed_.data() + from * logits;
      if (group.is_wide) {
        histograms().add16(n, features, group.bins, logits, rows, packed, sums.data());
      } else {
        histograms().add8(n, features, logits, rows, packed, sums.data());
      }
    }
    const std::lock_guard<std::mutex> lock(job.mutex);
    const bool are_first = job.gradients.empty();
    if (are_first) {
      job.gradients = spare_totals_.take(size);
      job.hessians = spare_totals_.take(size);
    }
    histograms().flush(static_cast<int64_t>(size), are_first, sums.data(), job.gradients.data(),
                       job.hessians.data());
    free_buffers_.recycle(std::move(sums));
    if (--job.pieces == 0 && !has_peers()) find_best_split(job);
  }

  // All-reduces the sums of a layer in one message.
  void reduce_and_find_splits() {
    std::vector<int64_t> sums;
    for (const std::unique_ptr<Job>& job : jobs_) {
      sums.push_back(job->rows);
      sums.insert(sums.end(), job->gradients.begin(), job->gradients.end());
      sums.insert(sums.end(), job->hessians.begin(), job->hessians.end());
    }
    grower_.all_.peers->add(sums.data(), static_cast<int64_t>(sums.size()), DType::kInt64);
    const int64_t* at = sums.data();
    for (const std::unique_ptr<Job>& job : jobs_) {
      job->rows = *at++;
      for (std::vector<int64_t>* own : {&job->gradients, &job->hessians}) {
        std::copy_n(at, own->size(), own->data());
        at += own->size();
      }
    }
    parallel_for_throwing(static_cast<int64_t>(jobs_.size()), [&](int64_t i) {
      Job& job = *jobs_[static_cast<size_t>(i)];
      if (job.rows > 0) find_best_split(job);
    });
  }

  void find_best_split(Job& job) {
    const BinnedMatrix::Group& group = grower_.matrix_->groups()[job.group];
    job.best.node = job.node;
    const size_t stride = static_cast<size_t>(group.bins * grower_.logits_);
    for (size_t slot = 0; slot < group.columns.size(); ++slot) {
      if (!grower_.uses(static_cast<size_t>(group.columns[slot]))) continue;
      const BinSums sums = {job.gradients.data() + slot * stride,
                            job.hessians.data() + slot * stride, grower_.logits_,
                            1 / scales_.gradient, 1 / scales_.hessian};
      find_split(group.columns[slot],
                 grower_.matrix_->column(static_cast<size_t>(group.columns[slot])), sums, costs_,
                 &job.best);
    }
    spare_totals_.recycle(std::move(job.gradients));
    spare_totals_.recycle(std::move(job.hessians));
  }

  LayerGrower& grower_;
  const Scales scales_;
  const SplitCosts& costs_;
  std::vector<Run> runs_;
  std::vector<Piece> pieces_;
  std::vector<std::unique_ptr<Job>> jobs_;
  SumsPool free_buffers_;  // zeroed, as flush() leaves them
  SumsPool spare_totals_;  // with any contents
};

std::vector<LayerSplit> LayerGrower::best_splits(int32_t begin,
                                                 int32_t end,
                                                 const float* gradients,
                                                 const float* hessians,
                                                 int64_t layer,
                                                 const SplitCosts& costs) {
  const Scales scales = pack(gradients, hessians, layer);
  return Layer(*this, scales, costs).run(begin, end);
}

}  // namespace runhooks
