// The user can interrupt each long operation. Interrupts and interrupt checks do not change the
// bits of results.
#include <atomic>
#include <chrono>
#include <cstring>
#include <functional>
#include <random>
#include <thread>

#include "base/cancellation.h"
#include "graph/op_registry.h"
#include "interrupts_test.h"
#include "ops/state/gradient_helpers.h"
#include "session/session.h"
#include "test.h"
#include "threads_test.h"

using namespace runhooks;
using namespace runhooks_test;

namespace {

bool same_bits(const std::vector<Tensor>& a, const std::vector<Tensor>& b) {
  if (a.size() != b.size()) return false;
  for (size_t i = 0; i < a.size(); ++i) {
    if (a[i].shape() != b[i].shape() || a[i].num_bytes() != b[i].num_bytes() ||
        std::memcmp(a[i].raw(), b[i].raw(), a[i].num_bytes()) != 0) {
      return false;
    }
  }
  return true;
}

template <typename T>
Tensor random_tensor(const Shape& shape, unsigned seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<T> draw(-1, 1);
  Tensor x(sizeof(T) == sizeof(float) ? DType::kFloat32 : DType::kFloat64, shape);
  for (int64_t i = 0; i < x.num_elements(); ++i) x.data<T>()[i] = draw(random);
  return x;
}

// Returns x x' + n I, which is symmetric and well-conditioned.
Tensor well_conditioned_matrix(int64_t n) {
  const Tensor half = random_tensor<double>({n, n}, 3);
  Tensor x(DType::kFloat64, {n, n});
  for (int64_t i = 0; i < n; ++i) {
    for (int64_t j = 0; j < n; ++j) {
      x.data<double>()[i * n + j] = half.data<double>()[i * n + j] + half.data<double>()[j * n + i];
    }
    x.data<double>()[i * n + i] += static_cast<double>(4 * n);
  }
  return x;
}

// Runs an operation alone, where it can be interrupted, and after an operation with side effects,
// where it cannot.
void check_interruptible(
    const char* op_name,
    const std::vector<Tensor>& fed,
    const std::function<OpBuilder(Graph&, const std::vector<Output>&)>& build) {
  context() = op_name;
  for (const int threads : {1, 2}) {
    const Threads set(threads);
    const auto graph = std::make_shared<Graph>();
    std::vector<Output> inputs;
    std::vector<std::pair<Output, Tensor>> feeds;
    for (const Tensor& x : fed) {
      inputs.push_back(graph->op("Placeholder").attr("dtype", x.dtype()).attr("shape", x.shape()));
      feeds.emplace_back(inputs.back(), x);
    }
    const Output one = graph->scalar(DType::kFloat32, 1);
    const VariablePtr v = make_variable(*graph, one, "v", VariableOptions());
    Operation* const trace = graph->op("AssignAdd", {v->handle, one});
    Operation* const cancellable = build(*graph, inputs);
    OpBuilder op_after_update = build(*graph, inputs);
    op_after_update.after({trace});
    Operation* const complete_op = op_after_update;
    Session session(graph);
    session.run({Fetch(v->initializer)}, {});
    const auto run = [&](Operation* op) {
      std::vector<Fetch> fetches;
      for (int i = 0; i < op->num_outputs(); ++i) fetches.emplace_back(op->output(i));
      return session.run(fetches, feeds);
    };
    bool stopped = false;
    std::vector<Tensor> results;
    const std::vector<Tensor> expected = run(complete_op);
    // Expects one check in the operation and one after it.
    const int checks = count_interrupt_checks([&] { results = run(cancellable); }, 0, &stopped);
    CHECK(checks >= 2);
    CHECK(same_bits(results, expected));
    count_interrupt_checks([&] { run(cancellable); }, 1, &stopped);
    CHECK(stopped);
    // State between runs must survive an interrupt. Interrupts are checked at time intervals, so
    // there may be no third check.
    count_interrupt_checks([&] { run(cancellable); }, 3, &stopped);
    CHECK(same_bits(run(cancellable), expected));
  }
  context() = "";
}

void check_convolutions(const char* op_name,
                        const Shape& image,
                        const Shape& filter,
                        int64_t stride) {
  const std::vector<int64_t> strides = {1, stride, stride, 1};
  const auto shape_input = [](Graph& g, const Shape& shape) {
    std::vector<int32_t> dims;
    for (const int64_t dim : shape.dims()) dims.push_back(static_cast<int32_t>(dim));
    return g.int_vector(dims);
  };
  const Tensor x = random_tensor<float>(image, 1), w = random_tensor<float>(filter, 2);
  const int64_t height = (image.dim(1) + stride - 1) / stride;
  const int64_t width = (image.dim(2) + stride - 1) / stride;
  const Tensor dy = random_tensor<float>({image.dim(0), height, width, filter.dim(3)}, 4);
  check_interruptible(op_name, {x, w}, [&](Graph& g, const std::vector<Output>& in) {
    return g.op("Conv2D", in).attr("strides", strides).attr("padding", "SAME");
  });
  check_interruptible(op_name, {w, dy}, [&](Graph& g, const std::vector<Output>& in) {
    return g.op("Conv2DBackpropInput", {shape_input(g, image), in[0], in[1]})
        .attr("strides", strides)
        .attr("padding", "SAME");
  });
  check_interruptible(op_name, {x, dy}, [&](Graph& g, const std::vector<Output>& in) {
    return g.op("Conv2DBackpropFilter", {in[0], shape_input(g, filter), in[1]})
        .attr("strides", strides)
        .attr("padding", "SAME");
  });
}

// The kernel below runs until it is interrupted, or for a short time.
std::atomic<bool> waits_to_be_stopped{false};
std::atomic<int> not_stopped{0};

class WaitingKernel : public Kernel {
 public:
  void compute(KernelContext& c) override {
    *c.output(0).data<float>() = 1;
    using Clock = std::chrono::steady_clock;
    const auto limit = waits_to_be_stopped ? std::chrono::seconds(5) : std::chrono::seconds(0);
    const auto end = Clock::now() + limit;
    do {
      std::this_thread::sleep_for(std::chrono::microseconds(200));
      check_cancelled();
    } while (Clock::now() < end);
    if (waits_to_be_stopped) ++not_stopped;
  }
};

}  // namespace

RUNHOOKS_REGISTER_OP("_TestWaiting")
    .input("x: float")
    .output("y: float")
    .shape([](ShapeContext& c) { c.set_output(0, Shape()); })
    .kernel(kernel_of<WaitingKernel>())
    .not_differentiable()
    .summary("for tests");

TEST(interrupt_of_work_on_other_threads) {
  const Threads two(2);
  const auto graph = std::make_shared<Graph>();
  const Output x = graph->op("Placeholder").attr("dtype", DType::kFloat32);
  std::vector<Fetch> fetches;
  for (const char* name : {"a", "b"}) {
    const Output waiting = graph->op("_TestWaiting", {x}).named(name);
    fetches.emplace_back(waiting);
  }
  Session session(graph);
  const Tensor fed = random_tensor<float>({1 << 16}, 1);
  const auto run = [&] { session.run(fetches, {{x, fed}}); };
  for (int i = 0; i < 8; ++i) run();  // from now on, threads share independent operations
  waits_to_be_stopped = true;
  bool stopped = false;
  count_interrupt_checks(run, 20, &stopped);
  waits_to_be_stopped = false;
  CHECK(stopped);
  CHECK_EQ(not_stopped.load(), 0);
  run();
}

TEST(interrupt_within_products_of_transposed_matrices) {
  const Tensor a = random_tensor<float>({1024, 1100}, 1), b = random_tensor<float>({1024, 1024}, 2);
  for (const bool turned : {false, true}) {
    check_interruptible("MatMul", {a, b}, [&](Graph& g, const std::vector<Output>& in) {
      return g.op("MatMul", in).attr("transpose_a", true).attr("transpose_b", turned);
    });
  }
  const Tensor many = random_tensor<float>({4000, 8, 8}, 1);
  check_interruptible("BatchMatMul", {many, many}, [&](Graph& g, const std::vector<Output>& in) {
    return g.op("BatchMatMulV2", in);
  });
}

TEST(interrupt_within_convolutions) {
  check_convolutions("a convolution", {12, 32, 32, 32}, {3, 3, 32, 32}, 1);
  check_convolutions("one that leaves cells out", {40, 32, 32, 32}, {3, 3, 32, 32}, 2);
}

TEST(interrupt_within_depthwise_convolutions) {
  const std::vector<int64_t> strides = {1, 1, 1, 1};
  const Tensor x = random_tensor<float>({64, 32, 32, 64}, 1);
  const Tensor w = random_tensor<float>({3, 3, 64, 1}, 2);
  check_interruptible("depthwise", {x, w}, [&](Graph& g, const std::vector<Output>& in) {
    return g.op("DepthwiseConv2dNative", in).attr("strides", strides).attr("padding", "SAME");
  });
}

TEST(interrupt_within_pooling) {
  const std::vector<int64_t> size = {1, 3, 3, 1}, strides = {1, 1, 1, 1};
  const auto pool = [&](OpBuilder op) {
    return op.attr("ksize", size).attr("strides", strides).attr("padding", "SAME");
  };
  // Tests large images, and many small ones.
  for (const Shape& shape : {Shape{1, 400, 400, 16}, Shape{4096, 6, 6, 16}}) {
    const Tensor x = random_tensor<float>(shape, 1), dy = random_tensor<float>(shape, 2);
    std::vector<int32_t> dims;
    for (const int64_t dim : shape.dims()) dims.push_back(static_cast<int32_t>(dim));
    for (const char* type : {"MaxPool", "AvgPool"}) {
      check_interruptible(
          type, {x}, [&](Graph& g, const std::vector<Output>& in) { return pool(g.op(type, in)); });
    }
    for (const char* type : {"MaxPoolGrad", "MaxPoolGradGrad"}) {
      check_interruptible(type, {x, x, dy}, [&](Graph& g, const std::vector<Output>& in) {
        return pool(g.op(type, in));
      });
    }
    check_interruptible("AvgPoolGrad", {dy}, [&](Graph& g, const std::vector<Output>& in) {
      return pool(g.op("AvgPoolGrad", {g.int_vector(dims), in[0]}));
    });
  }
}

TEST(interrupt_within_sorting_and_resizing) {
  check_interruptible("TopKV2", {random_tensor<float>({1, 200000}, 1)},
                      [](Graph& g, const std::vector<Output>& in) {
                        return g.op("TopKV2", {in[0], g.scalar(DType::kInt32, 1000)});
                      });
  check_interruptible("ResizeBilinear", {random_tensor<float>({1, 100, 100, 3}, 1)},
                      [](Graph& g, const std::vector<Output>& in) {
                        return g.op("ResizeBilinear", {in[0], g.int_vector({150, 150})});
                      });
}

TEST(interrupt_within_linear_algebra) {
  const Tensor a = well_conditioned_matrix(120), b = random_tensor<double>({120, 120}, 5);
  const Tensor tall = random_tensor<double>({150, 110}, 6);
  const auto check = [](const char* type, const std::vector<Tensor>& fed) {
    check_interruptible(type, fed,
                        [&](Graph& g, const std::vector<Output>& in) { return g.op(type, in); });
  };
  for (const char* type : {"Cholesky", "MatrixInverse", "MatrixDeterminant", "LogMatrixDeterminant",
                           "SelfAdjointEigV2"}) {
    check(type, {a});
  }
  for (const char* type : {"Qr", "Svd"}) check(type, {tall});
  for (const char* type : {"MatrixSolve", "MatrixTriangularSolve"}) check(type, {a, b});
}
