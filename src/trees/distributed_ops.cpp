// Ops that compute histograms and quantiles over the rows of all processes of a distributed
// training.
#include <algorithm>
#include <vector>

#include "cluster/group.h"
#include "graph/op_registry.h"
#include "trees/lower_distributed.h"
#include "trees/parallel.h"
#include "trees/quantile_resource.h"

namespace runhooks {

namespace {

// Sums gradients and hessians over the rows of all processes. The sums remain doubles until they
// are complete, so that the result equals that of one process.
class StatsSummaryOfAllKernel : public Kernel {
 public:
  void compute(KernelContext& c) override {
    Communicator& peers = group_of(c.op());
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
    const int64_t sums_per_feature = (end_ - begin_) * buckets_ * width_;
    sums_.assign(static_cast<size_t>(features * sums_per_feature), 0.0);
    parallel_for_throwing(features,
                          [&](int64_t f) { add(c, f, sums_.data() + f * sums_per_feature); });
    peers.add(sums_.data(), features * sums_per_feature, DType::kFloat64);
    write(c, features, sums_per_feature);
  }

 private:
  void add(const KernelContext& c, int64_t feature, double* sums) const {
    const int64_t rows = c.input(1).num_elements();
    const int64_t num_g = c.input(2).shape().dim(1), num_h = c.input(3).shape().dim(1);
    const Tensor& bucket_tensor = c.input(4 + static_cast<int>(feature));
    if (bucket_tensor.num_elements() != rows || c.input(2).shape().dim(0) != rows ||
        c.input(3).shape().dim(0) != rows) {
      invalid_argument("Gradients, hessians and feature ", feature, " must have ", rows,
                       " rows, one for each node id.");
    }
    const auto *nodes = c.input(1).data<int32_t>(), *buckets = bucket_tensor.data<int32_t>();
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

  void write(KernelContext& c, int64_t features, int64_t sums_per_feature) const {
    const int64_t outputs_per_feature = c.output(0).num_elements() / std::max<int64_t>(features, 1);
    auto* out = c.output(0).data<float>();
    std::fill_n(out, c.output(0).num_elements(), 0.0f);
    for (int64_t f = 0; f < features; ++f) {
      std::transform(sums_.data() + f * sums_per_feature, sums_.data() + (f + 1) * sums_per_feature,
                     out + f * outputs_per_feature + begin_ * buckets_ * width_,
                     [](double x) { return static_cast<float>(x); });
    }
  }

  int32_t begin_ = 0, end_ = 0;
  int64_t buckets_ = 1, width_ = 2;
  std::vector<double> sums_;
};

// Computes quantile summaries. Each process summarizes some of the features over the rows of all
// processes, in the order that a single process would read them.
class QuantileSummariesOfAllKernel : public Kernel {
 public:
  void compute(KernelContext& c) override {
    Communicator& peers = group_of(c.op());
    const auto features = static_cast<int>(c.op().attr_int("num_features"));
    const auto num_weights = static_cast<int>(c.op().attr_int("num_weights"));
    const double epsilon = *c.input(features + num_weights).data<float>();
    const std::vector<float> weights =
        num_weights == 0 ? std::vector<float>{1} : gather_values(c.input(features), peers);
    const auto size = static_cast<size_t>(peers.size());
    std::vector<std::vector<float>> values(static_cast<size_t>(features));
    for (int f = 0; f < features; ++f) {
      std::vector<float> gathered = gather_values(c.input(f), peers);
      if (f % peers.size() == peers.rank()) values[static_cast<size_t>(f)] = std::move(gathered);
    }
    std::vector<std::vector<QuantileEntry>> summaries(values.size());
    parallel_for_throwing(features, [&](int64_t feature) {
      const auto f = static_cast<size_t>(feature);
      if (f % size != static_cast<size_t>(peers.rank())) return;
      if (num_weights != 0 && weights.size() != values[f].size()) {
        invalid_argument("`example_weights` must have ", values[f].size(), " elements, not ",
                         weights.size(), ".");
      }
      summaries[f] = summary_of_values(values[f].data(), static_cast<int64_t>(values[f].size()),
                                       weights.data(), num_weights == 0, epsilon)
                         .entries();
    });
    set_output_values(c, summaries, peers);
  }

 private:
  static std::vector<float> gather_values(const Tensor& x, Communicator& peers) {
    const auto size = static_cast<size_t>(peers.size());
    std::vector<int64_t> rows(size);
    const int64_t own = x.num_elements();
    peers.gather(&own, sizeof own, rows.data());
    const auto max_rows = static_cast<size_t>(*std::max_element(rows.begin(), rows.end()));
    std::vector<float> send_buffer(max_rows), receive_buffer(max_rows * size), values;
    std::copy_n(x.data<float>(), own, send_buffer.data());
    peers.gather(send_buffer.data(), static_cast<int64_t>(max_rows * sizeof(float)),
                 receive_buffer.data());
    values.reserve(receive_buffer.size());
    for (size_t i = 0; i < max_rows; ++i) {
      for (size_t rank = 0; rank < size; ++rank) {
        if (static_cast<int64_t>(i) < rows[rank])
          values.push_back(receive_buffer[rank * max_rows + i]);
      }
    }
    return values;
  }

  // Sums the outputs of all processes. Summaries that another process computed are 0 here.
  static void set_output_values(KernelContext& c,
                                const std::vector<std::vector<QuantileEntry>>& summaries,
                                Communicator& peers) {
    std::vector<int64_t> sizes;
    for (const auto& entries : summaries) sizes.push_back(static_cast<int64_t>(entries.size()));
    peers.add(sizes.data(), static_cast<int64_t>(sizes.size()), DType::kInt64);
    std::vector<float> packed;
    for (size_t f = 0; f < summaries.size(); ++f) {
      const Tensor rows = rows_from_entries(summaries[f]);
      const size_t before = packed.size();
      packed.resize(before + static_cast<size_t>(4 * sizes[f]), 0.0f);
      std::copy_n(rows.data<float>(), rows.num_elements(), packed.data() + before);
    }
    peers.add(packed.data(), static_cast<int64_t>(packed.size()), DType::kFloat32);
    const float* at = packed.data();
    for (size_t f = 0; f < summaries.size(); ++f) {
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
