#include <algorithm>
#include <map>
#include <memory>

#include "cluster/group.h"
#include "graph/op_registry.h"
#include "graph/resource_kernel.h"
#include "trees/binner.h"
#include "trees/ensemble_resource.h"
#include "trees/in_memory_trees.h"
#include "trees/lower_in_memory.h"

namespace runhooks {

namespace {

// A feature: its buckets, or numbers that `binner` converts to buckets.
struct Feature {
  const int32_t* buckets = nullptr;
  const float* x = nullptr;
  std::shared_ptr<const Binner> binner;
  int32_t max_bucket = 0;  // the largest bucket of `binner`

  void read(int64_t first, int64_t n, int32_t* out) const {
    if (buckets) {
      std::copy_n(buckets + first, n, out);
    } else {
      binner->find(x + first, n, out);
    }
  }
};

std::vector<Feature> read_features(KernelContext& c) {
  const auto& are_numbers = c.op().attr<std::vector<int64_t>>("are_numbers");
  const auto numbers = static_cast<int>(c.op().attr_int("num_numbers"));
  int bucketized = 2, number = 2 + static_cast<int>(c.op().attr_int("num_bucketized"));
  if (static_cast<int>(are_numbers.size()) != c.num_inputs() - 2 - numbers ||
      std::count(are_numbers.begin(), are_numbers.end(), 0) != number - 2) {
    invalid_argument("are_numbers must have one flag per feature, and ", numbers,
                     " of them must be set.");
  }
  if (are_numbers.empty()) invalid_argument("Trees need at least one feature.");
  std::vector<Feature> features;
  for (const int64_t is_number : are_numbers) {
    Feature feature;
    if (is_number) {
      const Tensor& edges = c.input(number + numbers);
      feature.x = c.input(number++).data<float>();
      feature.binner = std::make_shared<Binner>(
          std::vector<float>(edges.data<float>(), edges.data<float>() + edges.num_elements()));
      feature.max_bucket = static_cast<int32_t>(std::max<int64_t>(edges.num_elements() - 1, 0));
    } else {
      feature.buckets = c.input(bucketized++).data<int32_t>();
    }
    features.push_back(std::move(feature));
  }
  return features;
}

// Maps features to columns of a BinnedMatrix. A group of one-hot features becomes a kCategories
// column unless a row has two of them. With `peers`, all processes create the same columns.
class ColumnBuilder {
 public:
  ColumnBuilder(KernelContext& c, Communicator* peers)
      : features_(read_features(c)),
        predictors_(c.op().attr<std::vector<int64_t>>("predictors")),
        rows_(c.input(2).num_elements()),
        statistics_(features_.size()) {
    const auto& groups = c.op().attr<std::vector<int64_t>>("groups");
    predictors_.resize(features_.size());
    if (groups.size() != features_.size()) {
      invalid_argument("groups must have a number for each of ", features_.size(), " features.");
    }
    const int first_boundaries = c.num_inputs() - static_cast<int>(c.op().attr_int("num_numbers"));
    for (int i = 2; i < first_boundaries; ++i) {
      if (c.input(i).num_elements() == rows_) continue;
      invalid_argument("Feature ", i - 2, " has ", c.input(i).num_elements(),
                       " buckets, but the data have ", rows_, " rows.");
    }
    for_each_column(groups, [&](size_t begin, size_t end, bool is_one_hot) {
      if (is_one_hot) {
        scan_one_hot(begin, end, peers != nullptr);
      } else if (end - begin == 2) {
        scan_missing_pair(begin);
      } else {
        scan(begin);
      }
    });
    if (peers) reduce_statistics(*peers);
    for_each_column(groups, [&](size_t begin, size_t end, bool is_one_hot) {
      if (is_one_hot) {
        add_one_hot(begin, end);
      } else if (end - begin == 2) {
        add_missing_pair(begin);
      } else {
        add_feature(begin);
      }
    });
  }

  std::unique_ptr<BinnedMatrix> matrix() const {
    auto matrix = std::make_unique<BinnedMatrix>(rows_, columns_);
    matrix->fill([this](int32_t column, int64_t first, int64_t n, int32_t* bins) {
      read(columns_[static_cast<size_t>(column)], first, n, bins);
    });
    return matrix;
  }

 private:
  // Statistics of a feature, or of a column of several features, stored for its first feature.
  struct Statistics {
    int64_t bins = 1, has_missing = 0, is_not_one_hot = 0;
  };

  // Calls run(begin, end, is_one_hot) for each one-hot group, kMissingEitherSide pair and feature.
  template <typename Run>
  static void for_each_column(const std::vector<int64_t>& groups, const Run& run) {
    for (size_t i = 0; i < groups.size();) {
      size_t end = i + 1;
      while (groups[i] >= 0 && end < groups.size() && groups[end] == groups[i]) ++end;
      if (groups[i] < 0 && end < groups.size() && groups[end] == kMissingInLastBucket) ++end;
      run(i, end, groups[i] >= 0);
      i = end;
    }
  }

  // Takes the maximum of each statistic over all processes.
  void reduce_statistics(Communicator& peers) {
    std::vector<int64_t> maxima;
    for (const Statistics& s : statistics_) {
      maxima.insert(maxima.end(), {s.bins, s.has_missing, s.is_not_one_hot});
    }
    peers.largest(maxima.data(), static_cast<int64_t>(maxima.size()));
    for (size_t i = 0; i < statistics_.size(); ++i) {
      statistics_[i] = {maxima[3 * i], maxima[3 * i + 1], maxima[3 * i + 2]};
    }
  }

  void scan(size_t index) {
    const Feature& feature = features_[index];
    Statistics& statistics = statistics_[index];
    statistics.bins = feature.max_bucket + 1;
    if (!feature.buckets) return;
    const auto [min, max] = std::minmax_element(feature.buckets, feature.buckets + rows_);
    statistics.bins = std::max(*max, 0) + 1;
    statistics.has_missing = *min < 0;
  }

  // Scans a kMissingEitherSide pair. A value is missing if its bins in the two features differ.
  void scan_missing_pair(size_t feature) {
    constexpr int64_t kChunk = 1 << 12;
    Statistics& statistics = statistics_[feature];
    std::vector<int32_t> first_bins(kChunk), second_bins(kChunk);
    for (int64_t first = 0; first < rows_; first += kChunk) {
      const auto n = static_cast<size_t>(std::min(kChunk, rows_ - first));
      features_[feature].read(first, static_cast<int64_t>(n), first_bins.data());
      features_[feature + 1].read(first, static_cast<int64_t>(n), second_bins.data());
      for (size_t i = 0; i < n; ++i) {
        statistics.bins = std::max<int64_t>(statistics.bins, second_bins[i] + 1);
        statistics.has_missing = statistics.has_missing || first_bins[i] != second_bins[i];
      }
    }
  }

  // Scans a group. Scans its features one by one if this process finds that they are not one-hot,
  // or if another process may find it.
  void scan_one_hot(size_t begin, size_t end, bool has_peers) {
    const bool is_one_hot = is_one_hot_in_this_process(begin, end);
    statistics_[begin].is_not_one_hot = !is_one_hot;
    if (is_one_hot && !has_peers) return;
    for (size_t i = begin; i < end; ++i) scan(i);
  }
  bool is_one_hot_in_this_process(size_t begin, size_t end) const {
    bool is_one_hot = end - begin > 1 && end - begin < BinnedMatrix::kMaxBins;
    for (size_t i = begin; i < end; ++i) is_one_hot = is_one_hot && features_[i].buckets;
    for (int64_t row = 0; is_one_hot && row < rows_; ++row) {
      is_one_hot = category_of(begin, end, row) >= 0;
    }
    return is_one_hot;
  }

  void add_feature(size_t index) {
    BinnedColumn column;
    column.first_feature = static_cast<int32_t>(index);
    column.bins = static_cast<int32_t>(statistics_[index].bins);
    column.has_missing = statistics_[index].has_missing != 0;
    column.predictor = predictor_of(index);
    columns_.push_back(column);
  }

  void add_missing_pair(size_t feature) {
    add_feature(feature);
    columns_.back().kind = BinnedColumn::Kind::kMissingEitherSide;
    columns_.back().features = 2;
  }

  // Features [begin, end) encode one category. Returns the index of the feature that is 1 in the
  // row, end - begin if all are 0, or -1 if they are not one-hot.
  int32_t category_of(size_t begin, size_t end, int64_t row) const {
    auto category = static_cast<int32_t>(end - begin);
    for (size_t i = begin; i < end; ++i) {
      const int32_t bucket = features_[i].buckets[row];
      if (bucket == 0) continue;
      if (bucket != 1 || category != static_cast<int32_t>(end - begin)) return -1;
      category = static_cast<int32_t>(i - begin);
    }
    return category;
  }

  void add_one_hot(size_t begin, size_t end) {
    if (statistics_[begin].is_not_one_hot != 0) {
      for (size_t i = begin; i < end; ++i) add_feature(i);
      return;
    }
    BinnedColumn column;
    column.kind = BinnedColumn::Kind::kCategories;
    column.first_feature = static_cast<int32_t>(begin);
    column.features = static_cast<int32_t>(end - begin);
    column.bins = column.features + 1;  // the last bin is for rows without a category
    column.predictor = predictor_of(begin);
    columns_.push_back(column);
  }

  void read(const BinnedColumn& column, int64_t first, int64_t n, int32_t* bins) const {
    const auto feature = static_cast<size_t>(column.first_feature);
    if (column.kind == BinnedColumn::Kind::kOrdered) {
      features_[feature].read(first, n, bins);
      return;
    }
    if (column.kind == BinnedColumn::Kind::kMissingEitherSide) {
      std::vector<int32_t> second_bins(static_cast<size_t>(n));
      features_[feature].read(first, n, bins);
      features_[feature + 1].read(first, n, second_bins.data());
      for (int64_t i = 0; i < n; ++i)
        bins[i] = bins[i] == second_bins[static_cast<size_t>(i)] ? bins[i] : -1;
      return;
    }
    const size_t end = feature + static_cast<size_t>(column.features);
    for (int64_t i = 0; i < n; ++i) bins[i] = category_of(feature, end, first + i);
  }

  int32_t predictor_of(size_t feature) const { return static_cast<int32_t>(predictors_[feature]); }

  std::vector<Feature> features_;
  std::vector<int64_t> predictors_;
  int64_t rows_;
  std::vector<Statistics> statistics_;
  std::vector<BinnedColumn> columns_;
};

class InMemoryFillKernel : public Kernel {
 public:
  void compute(KernelContext& c) override {
    auto& trees = c.input_resource<InMemoryTrees>(0);
    Communicator* peers = c.op().attr_int(kGroupSize) > 1 ? &group_of(c.op()) : nullptr;
    // Set even if the rows are not binned yet, because the loss needs the number of rows of all
    // processes.
    if (peers) trees.set_row_partition({peers, global_rows(c, *peers)});
    if (!*c.input(1).data<bool>()) return;
    const InMemoryTreeOptions options = {static_cast<int32_t>(c.op().attr_int("logits_dimension")),
                                         c.op().attr<bool>("is_by_tree")};
    trees.fill(ColumnBuilder(c, peers).matrix(), options);
  }

 private:
  static int64_t global_rows(const KernelContext& c, Communicator& peers) {
    int64_t rows = c.input(2).num_elements();
    peers.add(&rows, 1, DType::kInt64);
    return rows;
  }
};

void check_rows(const InMemoryTrees& trees, const Tensor& input, const char* input_name) {
  if (!trees.is_filled()) fail(Code::kFailedPrecondition, "The data have not been binned.");
  if (input.shape().rank() > 0 && input.shape().dim(0) == trees.rows()) return;
  fail(Code::kFailedPrecondition, "The binned data have ", trees.rows(), " rows, but the ",
       input_name, " have shape ", input.shape(),
       ". Trees in memory need the same rows in each step.");
}

class InMemoryLogitsKernel : public Kernel {
 public:
  void compute(KernelContext& c) override {
    auto& trees = c.input_resource<InMemoryTrees>(1);
    const auto& ensemble = c.input_resource<EnsembleResource>(0);
    const int64_t rows = c.input(2).shape().dim(0);
    const int64_t width = c.op().attr_int("logits_dimension");
    float* out = c.allocate_output(0, DType::kFloat32, Shape{rows, width}).data<float>();
    if (!trees.is_filled() && ensemble.ensemble().trees.empty()) {
      std::fill_n(out, rows * width, 0.0f);
      return;
    }
    check_rows(trees, c.input(2), "features");
    trees.each_logits(ensemble, [out, width](int64_t first, int64_t n, const float* logits) {
      std::copy_n(logits, n * width, out + first * width);
    });
  }
};

class GrowLayerKernel : public Kernel {
 public:
  void compute(KernelContext& c) override {
    auto& trees = c.input_resource<InMemoryTrees>(1);
    if (c.op().attr_int(kGroupSize) > 1) group_of(c.op());
    check_rows(trees, c.input(2), "gradients");
    check_rows(trees, c.input(3), "hessians");
    for (const int i : {2, 3}) {
      if (c.input(i).shape().dim(1) == trees.logits()) continue;
      invalid_argument("Trees with ", trees.logits(), " logits need derivatives by each, not by ",
                       c.input(i).shape().dim(1), ".");
    }
    const auto float_attr = [&c](const char* name) { return c.op().attr<float>(name); };
    const SplitCosts costs = {float_attr("l1"), float_attr("l2"), float_attr("tree_complexity"),
                              float_attr("min_node_weight"), c.op().attr<bool>("weighs_sides")};
    LayerGrowthOptions growth;
    growth.max_depth = static_cast<int32_t>(c.op().attr_int("max_depth"));
    growth.pruning = pruning_from_number(c.op().attr_int("pruning_mode"));
    growth.stop_when_no_split = c.op().attr<bool>("stop_when_no_split");
    const TreeSampling sampling = {float_attr("sample_size"), c.op().attr_int("mtry"),
                                   static_cast<uint64_t>(c.op().attr_int("seed"))};
    growth.finishes_single_roots = sampling.is_used();
    trees.grow(c.input_resource<EnsembleResource>(0), c.input(2).data<float>(),
               c.input(3).data<float>(), costs, growth, sampling, float_attr("learning_rate"));
  }
};

}  // namespace

RUNHOOKS_REGISTER_OP("BoostedTreesInMemoryHandle")
    .output("resource: resource")
    .shape(scalar_shape)
    .kernel(resource_handle_kernel)
    .lower(lower_in_memory_handle)
    .owns_resource(InMemoryTrees::make)
    .stateful()
    .not_differentiable()
    .endpoint("raw_ops.BoostedTreesInMemoryHandle")
    .summary("Binned data in memory for growing trees.");

RUNHOOKS_REGISTER_OP("BoostedTreesInMemoryFill")
    .input("data: resource, trees in memory")
    .input("are_boundaries_ready: bool, scalar")
    .input("bucketized_features: num_bucketized * int32, vector")
    .input("numbers: num_numbers * float, vector")
    .input("boundaries: num_numbers * float, vector")
    .attr("num_bucketized: int >= 0")
    .attr("num_numbers: int >= 0")
    .attr("are_numbers: list(int)")
    .attr("groups: list(int)")
    .attr("predictors: list(int) = []")
    .attr("buckets: string")
    .attr("logits_dimension: int = 1")
    .attr("is_by_tree: bool = false")
    .attr("group_size: int = 1")
    .shape(no_outputs)
    .kernel(kernel_of<InMemoryFillKernel>())
    .lower(lower_to_no_op)
    .mutates(0)
    .stateful()
    .not_differentiable()
    .endpoint("raw_ops.BoostedTreesInMemoryFill")
    .summary(
        "Bins the data in memory once the boundaries are ready. Each feature is given as buckets "
        "or as numbers; `buckets` has the names of all bucket tensors, separated by commas. "
        "One-hot features of a column share a group. Group -2 marks a feature that differs from "
        "the previous one only in the bucket of missing values.");

RUNHOOKS_REGISTER_OP("BoostedTreesInMemoryLogits")
    .input("tree_ensemble_handle: resource, tree ensemble")
    .input("data: resource, trees in memory")
    .input("rows: T, rank >= 1")
    .output("logits: float")
    .attr("T: type")
    .attr("logits_dimension: int = 1")
    .shape([](ShapeContext& c) {
      c.set_output(0, Shape{c.input(2).has_rank() ? c.input(2).dim(0) : Shape::kUnknownDim,
                            c.op().attr_int("logits_dimension")});
    })
    .kernel(kernel_of<InMemoryLogitsKernel>())
    .lower(lower_in_memory_logits)
    .mutates(1)
    .stateful()
    .not_differentiable()
    .endpoint("raw_ops.BoostedTreesInMemoryLogits")
    .summary("The logits of all rows in memory with the current trees.");

RUNHOOKS_REGISTER_OP("BoostedTreesInMemoryGrowLayer")
    .input("tree_ensemble_handle: resource, tree ensemble")
    .input("data: resource, trees in memory")
    .input("gradients: float, rank 2")
    .input("hessians: float, rank 2")
    .attr("l1: float")
    .attr("l2: float")
    .attr("tree_complexity: float")
    .attr("min_node_weight: float")
    .attr("learning_rate: float")
    .attr("max_depth: int >= 1")
    .attr("pruning_mode: int >= 0")
    .attr("stop_when_no_split: bool = false")
    .attr("weighs_sides: bool = false")
    .attr("num_buckets: int >= 1")
    .attr("sample_size: float = 1")
    .attr("mtry: int = 0")
    .attr("seed: int = 0")
    .attr("group_size: int = 1")
    .shape(no_outputs)
    .kernel(kernel_of<GrowLayerKernel>())
    .lower(lower_grow_layer)
    .mutates(0)
    .mutates(1)
    .stateful()
    .not_differentiable()
    .endpoint("raw_ops.BoostedTreesInMemoryGrowLayer")
    .summary(
        "Adds a layer of the best splits over all rows in memory to the last tree. If no leaf "
        "can be split, the tree stays as it is, or `stop_when_no_split` finishes it.");

}  // namespace runhooks
