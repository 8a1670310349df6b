// Elementwise ops with broadcasting, compared with a loop over single elements.
#include "session/session.h"
#include "test.h"

using namespace runhooks;
using namespace runhooks_test;

namespace {

// Returns a tensor of distinct integers, so that each result of an op identifies its operands.
Tensor consecutive_numbers(DType dtype, const Shape& shape, int64_t first) {
  Tensor t(dtype, shape);
  for (int64_t i = 0; i < t.num_elements(); ++i) {
    const int64_t value = first + i;
    if (dtype == DType::kFloat32) t.data<float>()[i] = static_cast<float>(value);
    if (dtype == DType::kFloat64) t.data<double>()[i] = static_cast<double>(value);
    if (dtype == DType::kInt32) t.data<int32_t>()[i] = static_cast<int32_t>(value);
    if (dtype == DType::kInt64) t.data<int64_t>()[i] = value;
    if (dtype == DType::kBool) t.data<bool>()[i] = value % 3 == 0;
  }
  return t;
}

// Returns the index of the element of an operand from which element `i` of the result is computed.
int64_t operand_index(const Shape& operand, const Shape& out, int64_t i) {
  int64_t offset = 0, stride = 1;
  for (int axis = out.rank() - 1; axis >= 0; --axis) {
    const int64_t index = i % out.dim(axis);
    i /= out.dim(axis);
    const int operand_axis = axis - (out.rank() - operand.rank());
    if (operand_axis < 0) continue;
    if (operand.dim(operand_axis) != 1) offset += index * stride;
    stride *= operand.dim(operand_axis);
  }
  return offset;
}

struct OperandShapes {
  Shape a, b, out;
};

// Shapes of two operands and the result. Operands are repeated as scalars, rows and columns. Some
// repeated blocks exceed the kernel's buffer, and some results are computed by several threads.
const std::vector<OperandShapes>& operand_shapes() {
  static const std::vector<OperandShapes> all = {
      {Shape{}, Shape{}, Shape{}},
      {Shape{1000}, Shape{}, Shape{1000}},
      {Shape{}, Shape{257}, Shape{257}},
      {Shape{3, 700}, Shape{3, 1}, Shape{3, 700}},
      {Shape{3, 1}, Shape{3, 700}, Shape{3, 700}},
      {Shape{100, 3}, Shape{3}, Shape{100, 3}},
      {Shape{3}, Shape{100, 3}, Shape{100, 3}},
      {Shape{100, 1}, Shape{100, 3}, Shape{100, 3}},
      {Shape{100, 3}, Shape{100, 1}, Shape{100, 3}},
      {Shape{9, 64}, Shape{64}, Shape{9, 64}},
      {Shape{65}, Shape{9, 65}, Shape{9, 65}},
      {Shape{70, 1}, Shape{1, 66}, Shape{70, 66}},
      {Shape{7, 1, 5}, Shape{9, 1}, Shape{7, 9, 5}},
      {Shape{2, 300, 1}, Shape{300, 4}, Shape{2, 300, 4}},
      {Shape{40000}, Shape{1}, Shape{40000}},
      {Shape{2, 1}, Shape{2, 20000}, Shape{2, 20000}},
      {Shape{0, 3}, Shape{3}, Shape{0, 3}},
  };
  return all;
}

Tensor run_binary_op(const char* op, const Tensor& a, const Tensor& b) {
  auto graph = std::make_shared<Graph>();
  const Output x = graph->op("Placeholder").attr("dtype", a.dtype());
  const Output y = graph->op("Placeholder").attr("dtype", b.dtype());
  const Output z = graph->op(op, {x, y});
  Session session(graph);
  return session.run({z}, {{x, a}, {y, b}})[0];
}

template <typename F>
void check_op(const char* op, DType dtype, F expected) {
  for (const OperandShapes& o : operand_shapes()) {
    context() = str_cat(op, " of ", dtype_name(dtype), " ", o.a, " and ", o.b);
    const Tensor a = consecutive_numbers(dtype, o.a, 10), b = consecutive_numbers(dtype, o.b, 300);
    const Tensor z = run_binary_op(op, a, b);
    CHECK(z.shape() == o.out);
    for (int64_t i = 0; i < z.num_elements(); ++i) {
      const double x = a.number_at(operand_index(o.a, o.out, i));
      const double y = b.number_at(operand_index(o.b, o.out, i));
      if (z.number_at(i) != expected(x, y)) {
        fail_at(__FILE__, __LINE__, str_cat("element ", i, " is ", z.number_at(i)));
      }
    }
  }
}

}  // namespace

TEST(broadcasting_matches_a_loop_over_elements) {
  for (DType dtype : {DType::kFloat32, DType::kFloat64, DType::kInt32, DType::kInt64}) {
    check_op("Sub", dtype, [](double x, double y) { return x - y; });
    check_op("Less", dtype, [](double x, double y) { return x < y ? 1.0 : 0.0; });
  }
  check_op("NotEqual", DType::kBool, [](double x, double y) { return x != y ? 1.0 : 0.0; });
  check_op("LogicalAnd", DType::kBool, [](double x, double y) { return x * y; });
}
