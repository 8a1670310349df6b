// Tests values and gradients at the extremes: NaN, infinity, zeros. Expected values are those of
// TensorFlow 1.15.
#include <algorithm>
#include <limits>

#include "autodiff/gradients.h"
#include "graph/graph_function.h"
#include "nn/nn_functions.h"
#include "session/session.h"
#include "test.h"

using namespace runhooks;
using namespace runhooks_test;

namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInf = std::numeric_limits<double>::infinity();

using Function = std::function<Output(Graph&, Output)>;

Function op(const char* type) {
  return [type](Graph& g, Output x) -> Output { return g.op(type, {x}); };
}
Function times_zero(const char* type) {
  return [type](Graph& g, Output x) -> Output {
    return g.op("Mul", {g.op(type, {x}), g.scalar(x.dtype(), 0)});
  };
}
Function nn(const char* name) {
  return [name](Graph& g, Output x) { return activation(g, name, x); };
}

Tensor vector_of(DType dtype, const std::vector<double>& values) {
  Tensor t(dtype, Shape{static_cast<int64_t>(values.size())});
  for (size_t i = 0; i < values.size(); ++i) {
    if (dtype == DType::kFloat32) t.data<float>()[i] = static_cast<float>(values[i]);
    if (dtype == DType::kFloat64) t.data<double>()[i] = values[i];
  }
  return t;
}

void check_elements(const char* description, const Tensor& actual, const std::vector<double>& expected) {
  CHECK_EQ(actual.num_elements(), static_cast<int64_t>(expected.size()));
  for (size_t i = 0; i < expected.size(); ++i) {
    const double a = actual.number_at(static_cast<int64_t>(i)), b = expected[i];
    const bool agree =
        std::isnan(b) ? std::isnan(a) : a == b || std::fabs(a - b) <= 1e-5 * std::fabs(b);
    if (!agree) fail_at(__FILE__, __LINE__, str_cat(description, "[", i, "] is ", a, ", not ", b));
  }
}

// Checks f and its gradient at `x`, for a scalar and for a row that fills vector registers.
void check_at(const Function& f, double x, double value, double gradient) {
  for (DType dtype : {DType::kFloat32, DType::kFloat64}) {
    for (size_t n : {1, 37}) {
      auto graph = std::make_shared<Graph>();
      const Output p = graph->op("Placeholder").attr("dtype", dtype);
      const Output y = f(*graph, p);
      const Gradient dx = gradients(*graph, {y}, {p})[0];
      Session session(graph);
      const auto actual =
          session.run({y, dx.values}, {{p, vector_of(dtype, std::vector<double>(n, x))}});
      context() = str_cat("x = ", x, ", ", dtype_name(dtype), ", n = ", n);
      check_elements("value", actual[0], std::vector<double>(n, value));
      check_elements("gradient", actual[1], std::vector<double>(n, gradient));
    }
  }
}

std::vector<Tensor> product_and_gradient(const Tensor& x,
                                         const std::vector<int32_t>& axes,
                                         bool keep_dims = false,
                                         const Shape& declared = Shape::unknown()) {
  auto graph = std::make_shared<Graph>();
  const Output p = graph->op("Placeholder").attr("dtype", x.dtype()).attr("shape", declared);
  const Output y = graph->op("Prod", {p, graph->int_vector(axes)}).attr("keep_dims", keep_dims);
  const Gradient dx = gradients(*graph, {y}, {p})[0];
  return Session(graph).run({y, dx.values}, {{p, x}});
}

Value call_function(const char* name, Graph& graph, const Args& args) {
  for (const GraphFunctionDef& def : all_graph_functions()) {
    const auto& names = def.signature.endpoints;
    if (std::find(names.begin(), names.end(), name) != names.end())
      return def.function(graph, args);
  }
  fail(Code::kNotFound, "There is no function '", name, "'.");
}

}  // namespace

TEST(numerics_activations_at_nan) {
  check_at(nn("relu"), kNan, kNan, 0);
  check_at(nn("relu6"), kNan, kNan, 0);
  check_at(nn("elu"), kNan, kNan, 1);
  check_at(nn("selu"), kNan, kNan, 1.050701);
  check_at(nn("leaky_relu"), kNan, kNan, 0.2);
  for (const char* name : {"softplus", "softsign", "sigmoid", "tanh"}) {
    check_at(nn(name), kNan, kNan, kNan);
  }
  check_at(op("Sign"), kNan, 0, 0);
  check_at(op("Abs"), kNan, kNan, 0);
}

TEST(numerics_crelu_at_nan_has_two_nans) {
  auto graph = std::make_shared<Graph>();
  const Output p = graph->op("Placeholder").attr("dtype", DType::kFloat32);
  const Output y = activation(*graph, "crelu", p);
  const Gradient dx = gradients(*graph, {y}, {p})[0];
  const auto actual = Session(graph).run({y, dx.values}, {{p, vector_of(DType::kFloat32, {kNan})}});
  check_elements("value", actual[0], {kNan, kNan});
  check_elements("gradient", actual[1], {0});
}

TEST(numerics_activations_of_large_numbers) {
  for (const double x : {1e30, 1e38}) {
    check_at(nn("swish"), x, x, 1);
    check_at(nn("swish"), -x, 0, 0);
    check_at(nn("softplus"), x, x, 1);
  }
  check_at(nn("swish"), kInf, kInf, kNan);
  check_at(nn("tanh"), kInf, 1, 0);
  check_at(nn("sigmoid"), -kInf, 0, 0);
}

TEST(numerics_zero_gradients_stay_zero) {
  check_at(times_zero("Sqrt"), 0, 0, 0);
  check_at(times_zero("Sqrt"), -1, kNan, 0);
  check_at(times_zero("Rsqrt"), 0, kNan, 0);
  check_at(times_zero("Reciprocal"), 0, kNan, 0);
  check_at(op("Sqrt"), 0, 0, kInf);
  check_at(op("Sqrt"), 4, 2, 0.25);
}

TEST(numerics_product_multiplies_the_others) {
  const Tensor x = vector_of(DType::kFloat64, {0, 2, 3, 4, 5, 6});
  auto actual = product_and_gradient(x, {0});
  check_elements("product", actual[0], {0});
  check_elements("gradient", actual[1], {720, 0, 0, 0, 0, 0});
  for (const Shape& declared : {Shape{2, 3}, Shape::unknown()}) {
    const Tensor matrix = vector_of(DType::kFloat64, {0, 2, 0, 4, 5, 6}).reshaped(Shape{2, 3});
    actual = product_and_gradient(matrix, {1}, false, declared);
    check_elements("gradient by rows", actual[1], {0, 0, 0, 30, 24, 20});
    CHECK_EQ(actual[1].shape(), (Shape{2, 3}));
    actual = product_and_gradient(matrix, {-2}, true, declared);
    check_elements("gradient by columns", actual[1], {4, 5, 6, 0, 2, 0});
    actual = product_and_gradient(x.reshaped(Shape{1, 3, 2}), {2, 0}, false,
                                  declared.has_rank() ? Shape{1, 3, 2} : declared);
    check_elements("gradient along two axes", actual[1], {2, 0, 4, 3, 6, 5});
  }
  // The product overflows, but the gradients do not.
  actual = product_and_gradient(vector_of(DType::kFloat32, {1e25, 1e20, 1e-5}), {0});
  check_elements("gradient", actual[1], {1e15, 1e20, kInf});
}

TEST(numerics_bucketize_compares_integers_with_fractions) {
  auto graph = std::make_shared<Graph>();
  const std::vector<float> edges = {-1.5f, 0.5f, 2.0f, 2.5f};
  const Output y =
      graph->op("Bucketize", {graph->constant(Tensor::vector<int64_t>({-2, -1, 0, 1, 2, 3}))})
          .attr("boundaries", edges);
  const Tensor actual = Session(graph).run({y}, {})[0];
  check_elements("bucket", actual, {0, 1, 1, 2, 3, 4});
  const Output large =
      graph
          ->op("Bucketize",
               {graph->constant(Tensor::vector<int32_t>({16777215, 16777216, 16777217}))})
          .attr("boundaries", std::vector<float>{16777216.0f});
  check_elements("bucket", Session(graph).run({large}, {})[0], {0, 1, 1});
  const Output nan = graph->op("Bucketize", {graph->constant(vector_of(DType::kFloat32, {kNan}))})
                         .attr("boundaries", edges);
  check_elements("bucket", Session(graph).run({nan}, {})[0], {4});
}

TEST(numerics_extremes_with_nan) {
  auto graph = std::make_shared<Graph>();
  for (DType dtype : {DType::kFloat32, DType::kFloat64}) {
    const Output a = graph->constant(vector_of(dtype, {1, kNan, kNan}));
    const Output b = graph->constant(vector_of(dtype, {kNan, 1, kNan}));
    const Output rows = graph->constant(vector_of(dtype, {kNan, 2, kNan, 5}));
    const Output none = graph->constant(vector_of(dtype, {kNan, kNan}));
    const Output axis = graph->scalar(DType::kInt32, 0);
    const Output maximum = graph->op("Maximum", {a, b}), minimum = graph->op("Minimum", {a, b});
    const Output first = graph->op("ArgMax", {rows, axis}),
                 last = graph->op("ArgMin", {rows, axis});
    const Output nothing = graph->op("ArgMax", {none, axis});
    const auto actual = Session(graph).run({maximum, minimum, first, last, nothing}, {});
    check_elements("maximum", actual[0], {kNan, kNan, kNan});
    check_elements("minimum", actual[1], {kNan, kNan, kNan});
    CHECK_EQ(actual[2].number_at(0), 3.0);
    CHECK_EQ(actual[3].number_at(0), 1.0);
    CHECK_EQ(actual[4].number_at(0), 0.0);
  }
}

TEST(numerics_global_norm_of_doubles_clips_doubles) {
  auto graph = std::make_shared<Graph>();
  auto list = std::make_shared<ValueList>();
  list->push_back(Value::of(graph->constant(vector_of(DType::kFloat64, {3, 4}))));
  Args args("clip_by_global_norm");
  args.set("t_list", Value::of(list));
  args.set("clip_norm", Value::of(1.0));
  const Value result = call_function("clip_by_global_norm", *graph, args);
  const ValueList& values = **result.get_if<std::shared_ptr<ValueList>>();
  const ValueList& clipped = **values[0].get_if<std::shared_ptr<ValueList>>();
  const auto actual =
      Session(graph).run({*clipped[0].get_if<Output>(), *values[1].get_if<Output>()});
  CHECK(actual[0].dtype() == DType::kFloat64);
  check_elements("clipped", actual[0], {0.6, 0.8});
  check_elements("norm", actual[1], {5});
}
