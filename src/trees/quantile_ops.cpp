#include <algorithm>

#include "graph/op_registry.h"
#include "graph/resource_kernel.h"
#include "trees/binner.h"
#include "trees/parallel.h"
#include "trees/quantile_resource.h"

namespace runhooks {

namespace {

QuantileStreams& streams_of(KernelContext& c) { return c.input_resource<QuantileStreams>(0); }

class CreateStreamsKernel : public Kernel {
 public:
  void compute(KernelContext& c) override {
    streams_of(c).create(*c.input(1).data<float>(), *c.input(2).data<int64_t>(),
                         c.op().attr_int("max_elements"));
  }
};

class AreStreamsInitializedKernel : public Kernel {
 public:
  void compute(KernelContext& c) override {
    *c.output(0).data<bool>() = streams_of(c).is_initialized();
  }
};

class MakeSummariesKernel : public Kernel {
 public:
  void compute(KernelContext& c) override {
    const int n = static_cast<int>(c.op().attr_int("num_features"));
    const Tensor& weights = c.input(n);
    const double epsilon = *c.input(n + 1).data<float>();
    for (int f = 0; f < n; ++f) {
      const int64_t rows = c.input(f).num_elements();
      if (weights.num_elements() == rows || weights.num_elements() == 1) continue;
      invalid_argument("`example_weights` must have 1 or ", rows, " elements, not ",
                       weights.num_elements(), ".");
    }
    std::vector<QuantileSummary> summaries(static_cast<size_t>(n));
    parallel_for_throwing(n, [&](int64_t f) {
      summaries[static_cast<size_t>(f)] =
          summary_of(c.input(static_cast<int>(f)), weights, epsilon);
    });
    for (int f = 0; f < n; ++f) {
      const Tensor rows = rows_from_entries(summaries[static_cast<size_t>(f)].entries());
      Tensor& out = c.allocate_output(f, DType::kFloat32, rows.shape());
      std::copy(rows.data<float>(), rows.data<float>() + rows.num_elements(), out.data<float>());
    }
  }

 private:
  static QuantileSummary summary_of(const Tensor& values, const Tensor& weights, double epsilon) {
    return summary_of_values(values.data<float>(), values.num_elements(), weights.data<float>(),
                             weights.num_elements() == 1, epsilon);
  }
};

class AddSummariesKernel : public Kernel {
 public:
  void compute(KernelContext& c) override {
    QuantileStreams& streams = streams_of(c);
    streams.check(c.op().attr_int("num_features"));
    for (int f = 1; f < c.num_inputs(); ++f) {
      streams.add(static_cast<size_t>(f - 1), summary_from_rows(c.input(f), Code::kInvalidArgument,
                                                                str_cat("summary ", f - 1)));
    }
  }
};

class FlushKernel : public Kernel {
 public:
  void compute(KernelContext& c) override {
    const int64_t buckets = *c.input(1).data<int64_t>();
    if (buckets < 1) invalid_argument("num_buckets must be at least 1, not ", buckets, ".");
    streams_of(c).flush(buckets, c.op().attr<bool>("generate_quantiles"));
  }
};

class BoundariesKernel : public Kernel {
 public:
  void compute(KernelContext& c) override {
    const QuantileStreams& streams = streams_of(c);
    streams.check(c.op().attr_int("num_features"));
    for (int f = 0; f < c.num_outputs(); ++f) {
      const std::vector<float>& edges = streams.boundaries(static_cast<size_t>(f));
      Tensor& out =
          c.allocate_output(f, DType::kFloat32, Shape{static_cast<int64_t>(edges.size())});
      std::copy(edges.begin(), edges.end(), out.data<float>());
    }
  }
};

class SetBoundariesKernel : public Kernel {
 public:
  void compute(KernelContext& c) override {
    std::vector<std::vector<float>> boundaries;
    for (int f = 1; f < c.num_inputs(); ++f) {
      const float *begin = c.input(f).data<float>(), *end = begin + c.input(f).num_elements();
      if (!std::is_sorted(begin, end)) {
        invalid_argument("The boundaries of feature ", f - 1, " must be in ascending order.");
      }
      boundaries.emplace_back(begin, end);
    }
    streams_of(c).set_boundaries(std::move(boundaries));
  }
};

class QuantileBucketizeKernel : public Kernel {
 public:
  void compute(KernelContext& c) override {
    const int n = static_cast<int>(c.op().attr_int("num_features"));
    for (int f = 0; f < n; ++f) bucketize(c.input(f), c.input(n + f), c.output(f).data<int32_t>());
  }

 private:
  static void bucketize(const Tensor& x, const Tensor& edges, int32_t* out) {
    // Finding the bucket of a value takes about 16 operations. Small batches stay on one thread.
    constexpr int64_t kChunk = 1 << 12, kOperations = 16;
    const Binner binner({edges.data<float>(), edges.data<float>() + edges.num_elements()});
    parallel_for_chunks(x.num_elements(), kChunk, kOperations, [&](int64_t first, int64_t count) {
      binner.find(x.data<float>() + first, count, out + first);
    });
  }
};

}  // namespace

RUNHOOKS_REGISTER_OP("BoostedTreesQuantileStreamResourceHandleOp")
    .output("resource: resource")
    .attr("container: string = ''")
    .attr("shared_name: string = ''")
    .shape(scalar_shape)
    .kernel(resource_handle_kernel)
    .owns_resource(QuantileStreams::make)
    .stateful()
    .not_differentiable()
    .endpoint("raw_ops.BoostedTreesQuantileStreamResourceHandleOp")
    .summary("A resource of quantile streams.");

RUNHOOKS_REGISTER_OP("BoostedTreesCreateQuantileStreamResource")
    .input("quantile_stream_resource_handle: resource, quantile streams")
    .input("epsilon: float, scalar")
    .input("num_streams: int64, scalar")
    .attr("max_elements: int = 1099511627776")
    .shape(no_outputs)
    .kernel(kernel_of<CreateStreamsKernel>())
    .mutates(0)
    .stateful()
    .not_differentiable()
    .endpoint("raw_ops.BoostedTreesCreateQuantileStreamResource")
    .summary("Creates quantile streams unless they exist.");

RUNHOOKS_REGISTER_OP("IsBoostedTreesQuantileStreamResourceInitialized")
    .input("quantile_stream_resource_handle: resource, quantile streams")
    .output("is_initialized: bool")
    .shape(scalar_shape)
    .kernel(kernel_of<AreStreamsInitializedKernel>())
    .stateful()
    .not_differentiable()
    .endpoint("raw_ops.IsBoostedTreesQuantileStreamResourceInitialized")
    .summary("Whether quantile streams have been created.");

RUNHOOKS_REGISTER_OP("BoostedTreesMakeQuantileSummaries")
    .input("float_values: num_features * float, rank >= 1")
    .input("example_weights: float, rank <= 1")
    .input("epsilon: float, scalar")
    .output("summaries: num_features * float")
    .attr("num_features: int >= 0")
    .shape([](ShapeContext& c) {
      for (size_t i = 0; i < c.outputs().size(); ++i)
        c.set_output(static_cast<int>(i), Shape{-1, 4});
    })
    .kernel(kernel_of<MakeSummariesKernel>())
    .allocates_outputs()
    .not_differentiable()
    .endpoint("raw_ops.BoostedTreesMakeQuantileSummaries")
    .summary("The quantile summary of each feature in a batch.")
    .example("e[4] e[4] e[4] e | num_features=2");

RUNHOOKS_REGISTER_OP("BoostedTreesQuantileStreamResourceAddSummaries")
    .input("quantile_stream_resource_handle: resource, quantile streams")
    .input("summaries: num_features * float, rank 2")
    .attr("num_features: int >= 0")
    .shape(no_outputs)
    .kernel(kernel_of<AddSummariesKernel>())
    .mutates(0)
    .stateful()
    .not_differentiable()
    .endpoint("raw_ops.BoostedTreesQuantileStreamResourceAddSummaries")
    .summary("Adds a quantile summary to each stream.");

RUNHOOKS_REGISTER_OP("BoostedTreesQuantileStreamResourceFlush")
    .input("quantile_stream_resource_handle: resource, quantile streams")
    .input("num_buckets: int64, scalar")
    .attr("generate_quantiles: bool = false")
    .shape(no_outputs)
    .kernel(kernel_of<FlushKernel>())
    .mutates(0)
    .stateful()
    .not_differentiable()
    .endpoint("raw_ops.BoostedTreesQuantileStreamResourceFlush")
    .summary("Computes bucket boundaries from the streams and empties them.");

RUNHOOKS_REGISTER_OP("BoostedTreesQuantileStreamResourceGetBucketBoundaries")
    .input("quantile_stream_resource_handle: resource, quantile streams")
    .output("bucket_boundaries: num_features * float")
    .attr("num_features: int >= 0")
    .shape([](ShapeContext& c) {
      for (size_t i = 0; i < c.outputs().size(); ++i) c.set_output(static_cast<int>(i), Shape{-1});
    })
    .kernel(kernel_of<BoundariesKernel>())
    .allocates_outputs()
    .stateful()
    .not_differentiable()
    .endpoint("raw_ops.BoostedTreesQuantileStreamResourceGetBucketBoundaries")
    .summary("The bucket boundaries of quantile streams.");

RUNHOOKS_REGISTER_OP("BoostedTreesQuantileStreamResourceDeserialize")
    .input("quantile_stream_resource_handle: resource, quantile streams")
    .input("bucket_boundaries: num_streams * float, vector")
    .attr("num_streams: int >= 1")
    .shape(no_outputs)
    .kernel(kernel_of<SetBoundariesKernel>())
    .mutates(0)
    .stateful()
    .not_differentiable()
    .endpoint("raw_ops.BoostedTreesQuantileStreamResourceDeserialize")
    .summary("Restores the bucket boundaries of quantile streams.");

RUNHOOKS_REGISTER_OP("BoostedTreesBucketize")
    .input("float_values: num_features * float, rank >= 1")
    .input("bucket_boundaries: num_features * float, vector")
    .output("buckets: num_features * int32")
    .attr("num_features: int >= 0")
    .shape([](ShapeContext& c) {
      for (size_t i = 0; i < c.outputs().size(); ++i) {
        c.set_output(static_cast<int>(i), c.input(static_cast<int>(i)));
      }
    })
    .kernel(kernel_of<QuantileBucketizeKernel>())
    .not_differentiable()
    .endpoint("raw_ops.BoostedTreesBucketize")
    .summary("The bucket of each value.")
    .example("e[4] e[4] e[1] e[0] | num_features=2");

}  // namespace runhooks
