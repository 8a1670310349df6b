#include <algorithm>
#include <vector>

#include "cluster/group.h"
#include "graph/op_registry.h"
#include "trees/lower_distributed.h"
#include "trees/parallel.h"
#include "trees/quantile_resource.h"

namespace runhooks {

namespace {

// Sums stay doubles until they include all rows, so that the result equals that of one process.
class StatsSummaryOfAllKernel : public Kernel {
 public:
  void compute(KernelContext& c) override {
    Communicator& all = group_of(c.op());
    const Tensor& summary = c.output(0);
    begin_ = c.input(0).data<int32_t>()[0];
    end_ = c.input(0).data<int32_t>()[1];
    if (begin_ < 0 || begin_ > end_ || end_ > summary.shape().dim(1)) {
      invalid_argument("Nodes ", begin_, " to ", end_, " are invalid; the summary has ",
                       summary.shape().dim(1), " nodes.");
    }
    const int64_t features = summary.shape().dim(0);
    buckets_ = summary.shape().dim(2);
    width_ = summary.shape().dim(3);
    const int64_t each = (end_ - begin_) * buckets_ * width_;
    sums_.assign(static_cast<size_t>(features * each), 0.0);
    parallel_for_throwing(features, [&](int64_t f) { add(c, f, sums_.data() + f * each); });
    all.add(sums_.data(), features * each, DType::kFloat64);
    write(c, features, each);
  }

 private:
  void add(const KernelContext& c, int64_t feature, double* sums) const {
    const int64_t rows = c.input(1).num_elements();
    const int64_t num_g = c.input(2).shape().dim(1), num_h = c.input(3).shape().dim(1);
    const Tensor& given = c.input(4 + static_cast<int>(feature));
    if (given.num_elements() != rows || c.input(2).shape().dim(0) != rows ||
        c.input(3).shape().dim(0) != rows) {
      invalid_argument("Gradients, hessians and feature ", feature, " must have ", rows,
                       " rows, one for each node id.");
    }
    const auto *nodes = c.input(1).data<int32_t>(), *buckets = given.data<int32_t>();
    const auto *g = c.input(2).data<float>(), *h = c.input(3).data<float>();
    for (int64_t row = 0; row < rows; ++row, g += num_g, h += num_h) {
      if (buckets[row] < 0 || buckets[row] >= buckets_) {
        invalid_argument("Feature ", feature, " has bucket ", buckets[row], " in row ", row + 1,
                         " of the batch; buckets are 0 to ", buckets_ - 1, ".");
      }
      if (nodes[row] < begin_ || nodes[row] >= end_) continue;
      double* at = sums + ((nodes[row] - begin_) * buckets_ + buckets[row]) * width_;
      for (int64_t k = 0; k < num_g; ++k) at[k] += static_cast<double>(g[k]);
      for (int64_t k = 0; k < num_h; ++k) at[num_g + k] += static_cast<double>(h[k]);
    }
  }

  void write(KernelContext& c, int64_t features, int64_t each) const {
    const int64_t of_feature = c.output(0).num_elements() / std::max<int64_t>(features, 1);
    auto* out = c.output(0).data<float>();
    std::fill_n(out, c.output(0).num_elements(), 0.0f);
    for (int64_t f = 0; f < features; ++f) {
      std::transform(sums_.data() + f * each, sums_.data() + (f + 1) * each,
                     out + f * of_feature + begin_ * buckets_ * width_,
                     [](double x) { return static_cast<float>(x); });
    }
  }

  int32_t begin_ = 0, end_ = 0;
  int64_t buckets_ = 1, width_ = 2;
  std::vector<double> sums_;
};

// Each process summarizes some features over the rows of all processes, in single-process order.
class QuantileSummariesOfAllKernel : public Kernel {
 public:
  void compute(KernelContext& c) override {
    Communicator& all = group_of(c.op());
    const auto features = static_cast<int>(c.op().attr_int("num_features"));
    const auto num_weights = static_cast<int>(c.op().attr_int("num_weights"));
    const double epsilon = *c.input(features + num_weights).data<float>();
    const std::vector<float> weights =
        num_weights == 0 ? std::vector<float>{1} : gather_values(c.input(features), all);
    const auto size = static_cast<size_t>(all.size());
    std::vector<std::vector<float>> own(static_cast<size_t>(features));
    for (int f = 0; f < features; ++f) {
      std::vector<float> values = gather_values(c.input(f), all);
      if (f % all.size() == all.rank()) own[static_cast<size_t>(f)] = std::move(values);
    }
    std::vector<std::vector<QuantileEntry>> made(own.size());
    parallel_for_throwing(features, [&](int64_t feature) {
      const auto f = static_cast<size_t>(feature);
      if (f % size != static_cast<size_t>(all.rank())) return;
      if (num_weights != 0 && weights.size() != own[f].size()) {
        invalid_argument("`example_weights` must have ", own[f].size(), " elements, not ",
                         weights.size(), ".");
      }
      made[f] = summary_of_values(own[f].data(), static_cast<int64_t>(own[f].size()),
                                  weights.data(), num_weights == 0, epsilon)
                    .entries();
    });
    set_output_values(c, made, all);
  }

 private:
  static std::vector<float> gather_values(const Tensor& x, Communicator& all) {
    const auto size = static_cast<size_t>(all.size());
    std::vector<int64_t> rows(size);
    const int64_t own = x.num_elements();
    all.gather(&own, sizeof own, rows.data());
    const auto most = static_cast<size_t>(*std::max_element(rows.begin(), rows.end()));
    std::vector<float> sent(most), got(most * size), values;
    std::copy_n(x.data<float>(), own, sent.data());
    all.gather(sent.data(), static_cast<int64_t>(most * sizeof(float)), got.data());
    values.reserve(got.size());
    for (size_t i = 0; i < most; ++i) {
      for (size_t rank = 0; rank < size; ++rank) {
        if (static_cast<int64_t>(i) < rows[rank]) values.push_back(got[rank * most + i]);
      }
    }
    return values;
  }

  // All-reduces the summaries: entries of other processes are 0 here.
  static void set_output_values(KernelContext& c,
                                const std::vector<std::vector<QuantileEntry>>& made,
                                Communicator& all) {
    std::vector<int64_t> sizes;
    for (const auto& entries : made) sizes.push_back(static_cast<int64_t>(entries.size()));
    all.add(sizes.data(), static_cast<int64_t>(sizes.size()), DType::kInt64);
    std::vector<float> packed;
    for (size_t f = 0; f < made.size(); ++f) {
      const Tensor rows = as_rows(made[f]);
      const size_t before = packed.size();
      packed.resize(before + static_cast<size_t>(4 * sizes[f]), 0.0f);
      std::copy_n(rows.data<float>(), rows.num_elements(), packed.data() + before);
    }
    all.add(packed.data(), static_cast<int64_t>(packed.size()), DType::kFloat32);
    const float* at = packed.data();
    for (size_t f = 0; f < made.size(); ++f) {
      Tensor& out = c.allocate_output(static_cast<int>(f), DType::kFloat32, Shape{sizes[f], 4});
      std::copy_n(at, 4 * sizes[f], out.data<float>());
      at += 4 * sizes[f];
    }
  }
};

}  // namespace

RUNHOOKS_REGISTER_OP("BoostedTreesStatsSummaryOfAll")
    .input("node_id_range: int32, vector")
    .input("node_ids: int32, vector")
    .input("gradients: float, rank 2")
    .input("hessians: float, rank 2")
    .input("bucketized_features_list: num_features * int32, rank >= 1")
    .output("stats_summary: float")
    .attr("max_splits: int >= 1")
    .attr("num_buckets: int >= 1")
    .attr("num_features: int >= 1")
    .attr("group_size: int >= 1")
    .shape([](ShapeContext& c) {
      const Shape g = c.with_rank(2, 2), h = c.with_rank(3, 2);
      c.set_output(0, Shape{c.op().attr_int("num_features"), c.op().attr_int("max_splits"),
                            c.op().attr_int("num_buckets"), sum_of_dims(g.dim(1), h.dim(1))});
    })
    .kernel(kernel_of<StatsSummaryOfAllKernel>())
    .stateful()
    .not_differentiable()
    .lower(lower_distributed_stats)
    .endpoint("raw_ops.BoostedTreesStatsSummaryOfAll")
    .summary(
        "Sums of gradients and hessians by feature, node and bucket over the rows of all "
        "processes; zero for nodes outside of the range.");

RUNHOOKS_REGISTER_OP("BoostedTreesQuantileSummariesOfAll")
    .input("float_values: num_features * float, rank >= 1")
    .input("example_weights: num_weights * float")
    .input("epsilon: float, scalar")
    .output("summaries: num_features * float")
    .attr("num_features: int >= 1")
    .attr("num_weights: int >= 0 = 0")
    .attr("group_size: int >= 1")
    .shape([](ShapeContext& c) {
      for (size_t i = 0; i < c.outputs().size(); ++i)
        c.set_output(static_cast<int>(i), Shape{-1, 4});
    })
    .kernel(kernel_of<QuantileSummariesOfAllKernel>())
    .allocates_outputs()
    .stateful()
    .not_differentiable()
    .lower(lower_distributed_quantiles)
    .endpoint("raw_ops.BoostedTreesQuantileSummariesOfAll")
    .summary("Quantile summaries of the values of all processes in a batch.");

}  // namespace runhooks
