// Inputs that violate an op's definition cause errors that name the op. The error comes when the op
// is added if shapes are known, otherwise when it runs.
#include <limits>

#include "graph/input_set.h"
#include "graph/op_registry.h"
#include "session/session.h"
#include "test.h"

using namespace runhooks;

namespace {

Tensor ints(const std::vector<int32_t>& values) { return Tensor::vector<int32_t>(values); }
Tensor floats(const Shape& shape) { return Tensor::zeros(DType::kFloat32, shape); }
Tensor strings(const std::vector<std::string>& values) {
  return Tensor::strings(Shape{static_cast<int64_t>(values.size())}, values);
}

// Returns output 0 of an op whose inputs are constants, or fed with shapes unknown to the graph.
Tensor run_op(const char* type,
              const std::vector<Tensor>& inputs,
              const AttrMap& attrs,
              bool is_fed) {
  auto graph = std::make_shared<Graph>();
  std::vector<Output> outputs;
  Feeds feeds;
  for (const Tensor& input : inputs) {
    if (!is_fed) {
      outputs.push_back(graph->constant(input));
      continue;
    }
    outputs.push_back(
        graph->op("Placeholder").attr("dtype", input.dtype()).attr("shape", Shape::unknown()));
    feeds.emplace_back(outputs.back(), input);
  }
  Operation* op = graph->create_op(type, outputs, attrs);
  Session session(graph);
  return session.run({op->output(0)}, feeds)[0];
}

void check_error(const char* type,
                 const std::vector<Tensor>& inputs,
                 const char* message,
                 const AttrMap& attrs = {},
                 Code code = Code::kInvalidArgument) {
  for (bool is_fed : {false, true}) {
    runhooks_test::context() = str_cat(type, is_fed ? ", fed" : ", constant");
    CHECK_THROWS(run_op(type, inputs, attrs, is_fed), code, message);
  }
}

std::vector<std::string> string_values(const Tensor& t) {
  std::vector<std::string> values;
  for (int64_t i = 0; i < t.num_elements(); ++i) values.push_back(t.string_at(i));
  return values;
}

void check_strings(const char* type,
                   const std::vector<Tensor>& inputs,
                   const AttrMap& attrs,
                   const std::string& expected) {
  for (bool is_fed : {false, true}) {
    runhooks_test::context() = type;
    CHECK_EQ(str_join(string_values(run_op(type, inputs, attrs, is_fed)), " "), expected);
  }
}

}  // namespace

TEST(op_guards_messages_follow_the_definition) {
  const ArgDef axis = parse_arg("axis: Tidx, scalar");
  CHECK_EQ(axis.type_attr, std::string("Tidx"));
  CHECK_EQ(axis.max_rank, 0);
  const ArgDef tensor_list = parse_arg("xs: N * T, rank >= 1, not empty");
  CHECK_EQ(tensor_list.number_attr, std::string("N"));
  CHECK_EQ(tensor_list.min_rank, 1);
  CHECK(tensor_list.not_empty);
  const ArgDef sizes = parse_arg("size: int32, vector, >= -1, <= 9");
  CHECK(sizes.dtype == DType::kInt32);
  CHECK_EQ(sizes.min_rank, 1);
  CHECK_EQ(sizes.max_rank, 1);
  CHECK_EQ(sizes.values.to_string(), std::string(">= -1 and <= 9"));
  const ArgDef handle = parse_arg("resource: resource, variable of dtype");
  CHECK_EQ(handle.handle_of, std::string("variable"));
  CHECK_EQ(handle.handle_type_attr, std::string("dtype"));
  const AttrDef width = parse_attr("width: int >= -1, <= 5 = -1");
  CHECK_EQ(width.range.minimum, int64_t{-1});
  CHECK_EQ(width.range.maximum, int64_t{5});
  CHECK_EQ(std::get<int64_t>(width.default_value), int64_t{-1});
}

TEST(op_guards_wrong_ranks_and_sizes) {
  const Tensor empty = ints({}), one = Tensor::scalar<int32_t>(1);
  check_error("ExpandDims", {floats({2}), empty}, "Input 'dim' of 'ExpandDims' Op must not be");
  check_error("ArgMax", {floats({2}), empty}, "Input 'dimension' of 'ArgMax' Op must be a scalar");
  check_error("OneHot", {ints({1}), empty, floats({}), floats({})}, "'depth'");
  check_error("Range", {empty, one, one}, "'start'");
  check_error("ConcatV2", {floats({2}), floats({2}), ints({0, 1})}, "'axis'", {{"N", int64_t{2}}});
  check_error("ScatterNd", {ints({0, 1}).reshaped(Shape{2, 1}), floats({2, 3}), ints({2})},
              "updates must have shape (2,)");
  check_error("UnsortedSegmentSum", {floats({2, 3}), ints({0, 1, 1}), Tensor::scalar<int32_t>(2)},
              "must begin with");
  check_error("Pad", {floats({2, 2}), ints({1, 1, 1, 1})}, "'paddings'");
  check_error("Pad", {floats({2}), ints({-1, 0}).reshaped(Shape{1, 2})}, ">= 0; got -1");
  check_error("SumDuplicateRows", {floats({2, 2}), ints({0, 1, 2})}, "not compatible");
  check_error("DynamicStitch", {ints({-1}), floats({1, 2})}, ">= 0", {{"N", int64_t{1}}});
  check_error("DynamicStitch", {ints({0, 1}), floats({1, 2})}, "must begin", {{"N", int64_t{1}}});
  check_error("SparseSegmentSumGrad",
              {floats({1, 2}), ints({0, 1}), ints({0, 7}), Tensor::scalar<int32_t>(2)},
              "indices[1] = 7");
  check_error("SparseToDense", {ints({0, 1}), ints({2, 2}), floats({2}), floats({})},
              "do not fit an output of 2");
  check_error("GatherNd", {floats({2}), Tensor::scalar<int32_t>(0)}, "at least 1 dimension");
  check_error("SparseSoftmaxCrossEntropyWithLogits", {floats({2, 0}), ints({0, 0})},
              "at least one class");
}

TEST(op_guards_sizes_that_overflow) {
  const int64_t large = int64_t{1} << 31;
  const Tensor huge = Tensor::vector<int64_t>({large, large});
  check_error("Fill", {huge, floats({})}, "too many elements", {}, Code::kResourceExhausted);
  const Tensor too_large = Tensor::vector<int64_t>({int64_t{1} << 50});
  check_error("Fill", {too_large, floats({})}, "Cannot allocate", {}, Code::kResourceExhausted);
  check_error(
      "Range",
      {Tensor::scalar<int64_t>(std::numeric_limits<int64_t>::min()),
       Tensor::scalar<int64_t>(std::numeric_limits<int64_t>::max()), Tensor::scalar<int64_t>(1)},
      "", {}, Code::kResourceExhausted);
  CHECK_EQ((Shape{0, int64_t{1} << 40}.num_elements()), int64_t{0});
}

TEST(op_guards_integers_that_overflow) {
  const auto smallest = Tensor::scalar<int32_t>(std::numeric_limits<int32_t>::min());
  const auto minus_one = Tensor::scalar<int32_t>(-1);
  for (bool is_fed : {false, true}) {
    CHECK_EQ(run_op("FloorDiv", {smallest, minus_one}, {}, is_fed).data<int32_t>()[0],
             std::numeric_limits<int32_t>::min());
    CHECK_EQ(run_op("FloorMod", {smallest, minus_one}, {}, is_fed).data<int32_t>()[0], 0);
  }
}

TEST(op_guards_strings_come_with_their_dictionary) {
  const Tensor a = strings({"a", "b"}), b = strings({"c", "a"});
  const AttrMap two = {{"N", int64_t{2}}};
  check_strings("Pack", {a, b}, two, "a b c a");
  check_strings("ConcatV2", {a, b, Tensor::scalar<int32_t>(0)}, two, "a b c a");
  check_strings("GatherV2", {a, ints({1, 1}), Tensor::scalar<int32_t>(0)}, {}, "b b");
  check_strings("Slice", {a, ints({1}), ints({1})}, {}, "b");
  check_strings("Pad", {a, ints({1, 2}).reshaped(Shape{1, 2})}, {}, " a b  ");
  check_strings("DynamicStitch", {ints({3}), ints({0}), strings({"x"}), strings({"y"})}, two,
                "y   x");
  check_strings("ZerosLike", {a}, {}, " ");
  check_strings("SparseToDense",
                {ints({1}), ints({3}), Tensor::string_scalar("v"), Tensor::string_scalar("-")}, {},
                "- v -");
}

TEST(op_guards_more_than_64_inputs) {
  auto graph = std::make_shared<Graph>();
  std::vector<Output> inputs(64, graph->constant(Tensor::scalar<float>(1)));
  const Output fed = graph->op("Placeholder").attr("dtype", DType::kFloat32).attr("shape", Shape());
  inputs.push_back(fed);
  const Output sum = graph->op("AddN", inputs);
  Session session(graph);
  for (float x : {1.0f, 5.0f, 9.0f}) {
    CHECK_EQ(session.run({sum}, {{fed, Tensor::scalar<float>(x)}})[0].data<float>()[0], 64 + x);
  }
  // Concatenates 70 inputs, so that the shape depends on a value after the 64th input.
  std::vector<Output> parts(70, graph->constant(floats({1, 1})));
  const Output axis = graph->op("Placeholder").attr("dtype", DType::kInt32).attr("shape", Shape());
  parts.push_back(axis);
  const Output joined = graph->op("ConcatV2", parts);
  for (int32_t at : {0, 1, 0}) {
    const Tensor joined_value = session.run({joined}, {{axis, Tensor::scalar<int32_t>(at)}})[0];
    CHECK_EQ(joined_value.shape().dim(at), int64_t{70});
  }
}

TEST(op_guards_input_set) {
  InputSet small_set, large_set;
  small_set.insert(3);
  large_set.insert(3);
  CHECK(small_set.is_subset_of(large_set));
  large_set.insert(200);
  CHECK(large_set.contains(200) && !large_set.contains(136) && !large_set.contains(8));
  CHECK(small_set.is_subset_of(large_set) && !large_set.is_subset_of(small_set));
}

TEST(op_guards_handles) {
  auto graph = std::make_shared<Graph>();
  const Output handle =
      graph->op("VarHandleOp").attr("dtype", DType::kFloat32).attr("shape", Shape());
  const Output table =
      graph->op("HashTableV2").attr("key_dtype", DType::kInt64).attr("value_dtype", DType::kInt64);
  const Output plain =
      graph->op("Placeholder").attr("dtype", DType::kResource).attr("shape", Shape());
  const Output one = graph->scalar(DType::kInt32, 1);
  Session session(graph);
  Operation* other_type = graph->op("AssignVariableOp", {handle, one});
  CHECK_THROWS(session.run(other_type), Code::kInvalidArgument, "wrong dtype");
  Operation* of_table = graph->op("AssignVariableOp", {table, one});
  CHECK_THROWS(session.run(of_table), Code::kInvalidArgument, "must refer to a variable");
  const Output read = graph->op("ReadVariableOp", {plain}).attr("dtype", DType::kFloat32);
  CHECK_THROWS(session.run({read}, {{plain, Tensor(DType::kResource, Shape())}}),
               Code::kInvalidArgument, "is a plain value");
  const Output identity = graph->op("Identity", {handle});
  CHECK_THROWS(session.run(identity), Code::kInvalidArgument, "is a handle");
  CHECK_THROWS(graph->op("AssignVariableOp", {one, one}).build(), Code::kInvalidArgument,
               "expected type of resource");
}

TEST(op_guards_as_string_takes_no_format) {
  check_error("AsString", {floats({1})}, "Fill argument not supported",
              {{"fill", std::string("s")}});
  check_error("AsString", {floats({1})}, "one or fewer", {{"fill", std::string("%n")}});
  check_strings("AsString", {ints({7})}, {{"fill", std::string("0")}, {"width", int64_t{3}}},
                "007");
  check_strings(
      "AsString", {Tensor::vector<double>({1e300})}, {{"precision", int64_t{0}}},
      run_op("AsString", {Tensor::vector<double>({1e300})}, {{"precision", int64_t{0}}}, true)
          .string_at(0));
  CHECK_EQ(run_op("AsString", {floats({1})}, {{"width", int64_t{500}}}, true).string_at(0).size(),
           size_t{500});
}

TEST(op_guards_as_string_forgets_old_strings) {
  auto graph = std::make_shared<Graph>();
  const Output x = graph->op("Placeholder").attr("dtype", DType::kInt64).attr("shape", Shape());
  const Output text = graph->op("AsString", {x});
  Session session(graph);
  int32_t max_size = 0;
  for (int64_t i = 0; i < 20000; ++i) {
    const Tensor result = session.run({text}, {{x, Tensor::scalar<int64_t>(i)}})[0];
    CHECK_EQ(result.string_at(0), std::to_string(i));
    max_size = std::max(max_size, result.dictionary()->size());
  }
  CHECK(max_size < 10000);
}

TEST(op_guards_no_classes_have_no_loss) {
  for (bool is_fed : {false, true}) {
    const Tensor loss =
        run_op("SoftmaxCrossEntropyWithLogits", {floats({3, 0}), floats({3, 0})}, {}, is_fed);
    for (int i = 0; i < 3; ++i) CHECK_EQ(loss.data<float>()[i], 0.0f);
  }
}
