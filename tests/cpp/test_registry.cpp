// Tests requirements on every op: a valid definition, an example, shapes that its kernel respects,
// and a correct gradient.
#include <algorithm>
#include <cctype>
#include <random>
#include <set>

#include "autodiff/gradients.h"
#include "op_example.h"
#include "session/session.h"
#include "test.h"

using namespace runhooks;
using namespace runhooks_test;

namespace {

// Whether the op uses lists of tensors, or functions. test_control_flow.cpp tests these ops.
bool uses_lists_or_functions(const OpDef& def) {
  const auto is_list = [](const ArgDef& arg) { return arg.dtype == DType::kVariant; };
  return def.calls_functions || std::any_of(def.inputs.begin(), def.inputs.end(), is_list) ||
         std::any_of(def.outputs.begin(), def.outputs.end(), is_list);
}

// Whether the op takes the contents of files or protocol buffers, which random values cannot
// provide. test_example.cpp and test-input_parsing-examples.R test these ops.
bool needs_file_contents(const OpDef& def) {
  return def.type.rfind("ParseExample", 0) == 0 || def.type == "ParseSingleExample" ||
         def.type == "DecodePng" || def.type == "EncodePng";
}

// Whether the op may have no example. Most such ops need a session with state. test_plan.cpp and
// test_data.cpp test them.
bool may_lack_example(const OpDef& def) {
  return needs_file_contents(def) || def.is_stateful || def.type == "Const" || def.type == "NoOp" ||
         uses_lists_or_functions(def);
}

// Whether another test registers the op.
bool is_test_op(const OpDef& def) { return def.summary == "for tests"; }

bool takes_float(const OpDef& def) {
  for (const ArgDef& arg : def.inputs) {
    if (is_floating(arg.dtype)) return true;
    const AttrDef* attr = arg.type_attr.empty() ? nullptr : def.find_attr(arg.type_attr);
    if (!attr) continue;
    if (attr->allowed_types.empty()) return true;
    for (DType t : attr->allowed_types) {
      if (is_floating(t)) return true;
    }
  }
  return false;
}

Feeds feeds_of(const OpExample& example) {
  Feeds feeds;
  for (size_t i = 0; i < example.placeholders.size(); ++i) {
    feeds.emplace_back(example.placeholders[i], example.values[i]);
  }
  return feeds;
}

// Returns the weighted sum of the elements of all floating-point outputs, with random weights.
Output weighted_total(OpExample& example, std::mt19937& random) {
  Graph& g = *example.graph;
  std::vector<Output> sums;
  std::uniform_real_distribution<double> uniform(0.5, 1.5);
  for (int i = 0; i < example.op->num_outputs(); ++i) {
    const Output y = example.op->output(i);
    if (y.dtype() != DType::kFloat64 || !y.shape().is_fully_defined()) continue;
    Tensor weights(DType::kFloat64, y.shape());
    std::vector<int32_t> axes;
    for (int64_t k = 0; k < weights.num_elements(); ++k)
      weights.data<double>()[k] = uniform(random);
    for (int k = 0; k < y.shape().rank(); ++k) axes.push_back(k);
    const Output weighted = g.op("Mul", {y, g.constant(weights)});
    sums.push_back(g.op("Sum", {weighted, g.int_vector(axes)}));
  }
  return sums.empty() ? Output() : static_cast<Output>(g.op("AddN", sums));
}

// Compares the gradients with finite differences. Returns FALSE if there is nothing to
// differentiate.
bool check_gradients(OpExample& example, std::mt19937& random) {
  const Output total = weighted_total(example, random);
  if (!total) return false;
  std::vector<Output> xs;
  std::vector<size_t> placeholder_indices;
  for (size_t i = 0; i < example.placeholders.size(); ++i) {
    if (example.placeholders[i].dtype() != DType::kFloat64) continue;
    xs.push_back(example.placeholders[i]);
    placeholder_indices.push_back(i);
  }
  const std::vector<Gradient> grads = gradients(*example.graph, {total}, xs);
  Session session(example.graph);
  Feeds feeds = feeds_of(example);
  for (size_t k = 0; k < xs.size(); ++k) {
    Tensor symbolic = grads[k].is_none()
                          ? Tensor::zeros(DType::kFloat64, xs[k].shape())
                          : session.run({dense_gradient(*example.graph, grads[k])}, feeds)[0];
    CHECK_EQ(symbolic.shape(), xs[k].shape());
    Tensor value = feeds[placeholder_indices[k]].second.copy();
    for (int64_t i = 0; i < value.num_elements(); ++i) {
      const double x = value.data<double>()[i], h = 1e-6;
      double results[2];
      for (int side = 0; side < 2; ++side) {
        value.data<double>()[i] = x + (side == 0 ? h : -h);
        feeds[placeholder_indices[k]].second = value.copy();
        results[side] = session.run({total}, feeds)[0].data<double>()[0];
      }
      value.data<double>()[i] = x;
      feeds[placeholder_indices[k]].second = value.copy();
      const double numeric = (results[0] - results[1]) / (2 * h);
      // The finite difference can be undefined, for example for the mean of no elements.
      if (std::isnan(numeric)) continue;
      CHECK_NEAR(symbolic.data<double>()[i], numeric, 1e-6 * (1 + std::fabs(numeric)) * 10);
    }
  }
  return !xs.empty();
}

// Returns variants of an example whose random inputs have sizes of 0 or 1: one in which all sizes
// are replaced, and one for each distinct size.
std::vector<std::string> edge_size_variants(const std::string& text) {
  const size_t inputs = std::min(text.find('|'), text.size());
  std::vector<std::pair<size_t, size_t>> places;  // position and length of each size
  for (size_t i = 0; i + 1 < inputs; ++i) {
    if (text[i + 1] != '[' || std::string("fpubomden").find(text[i]) == std::string::npos) continue;
    for (size_t position = i + 2; position < inputs && text[position] != ']'; ++position) {
      size_t length = 0;
      while (std::isdigit(static_cast<unsigned char>(text[position + length]))) ++length;
      if (length > 0) places.emplace_back(position, length);
      position += length > 0 ? length - 1 : 0;
    }
  }
  std::set<std::string> sizes = {""};
  for (const auto& [position, length] : places) sizes.insert(text.substr(position, length));
  std::set<std::string> variants;
  for (const std::string& size : sizes) {
    for (const char* edge : {"0", "1"}) {
      std::string variant = text;
      for (auto place = places.rbegin(); place != places.rend(); ++place) {
        const bool is_replaced = size.empty() || text.substr(place->first, place->second) == size;
        if (is_replaced) variant.replace(place->first, place->second, edge);
      }
      if (variant != text) variants.insert(variant);
    }
  }
  return {variants.begin(), variants.end()};
}

// Ops whose gradients cannot be compared with finite differences here. Gradients of look-ups have
// no derivative. LRN and ResizeBilinear only support float32. test_control_flow.cpp checks loops,
// test_plan.cpp variables, and test-tensor_sparse.R SparseSlice, whose output size depends on
// values.
const std::vector<std::string> kUncheckedGradients = {"FusedEmbeddingLookupGrad",
                                                      "FusedEmbeddingLookupWeightsGrad",
                                                      "If",
                                                      "LRN",
                                                      "ReadVariableOp",
                                                      "ResizeBilinear",
                                                      "ResourceGather",
                                                      "SparseSlice",
                                                      "StatelessIf",
                                                      "StatelessWhile",
                                                      "TensorListFromTensor",
                                                      "TensorListGetItem",
                                                      "TensorListPopBack",
                                                      "TensorListPushBack",
                                                      "TensorListResize",
                                                      "TensorListSetItem",
                                                      "TensorListStack",
                                                      "While"};

// Compares the derivative of the gradient along one direction with finite differences. Hessians and
// gradient penalties need it. Ops without second derivatives must raise an error.
enum class SecondDerivative { kNone, kCorrect, kWrong };
SecondDerivative check_second_derivative(OpExample& example, std::mt19937& random) {
  const Output total = weighted_total(example, random);
  std::vector<Output> xs;
  for (const Output& x : example.placeholders) {
    if (x.dtype() == DType::kFloat64) xs.push_back(x);
  }
  if (!total || xs.empty()) return SecondDerivative::kNone;
  Graph& g = *example.graph;
  const std::vector<Gradient> first = gradients(g, {total}, xs);
  std::vector<Output> parts;
  std::uniform_real_distribution<double> uniform(0.5, 1.5);
  for (const Gradient& gradient : first) {
    if (gradient.is_none()) continue;
    const Output dense = dense_gradient(g, gradient);
    parts.push_back(g.op("Sum", {g.op("Mul", {dense, g.scalar(DType::kFloat64, uniform(random))}),
                                 g.op("Range", {g.scalar(DType::kInt32, 0), g.op("Rank", {dense}),
                                                g.scalar(DType::kInt32, 1)})}));
  }
  if (parts.empty()) return SecondDerivative::kNone;
  const Output directional_derivative = g.op("AddN", parts);
  const std::vector<Gradient> second = gradients(g, {directional_derivative}, xs);
  Session session(example.graph);
  Feeds feeds = feeds_of(example);
  for (size_t k = 0, position = 0; k < xs.size(); ++k, ++position) {
    while (feeds[position].first != xs[k]) ++position;
    const Tensor symbolic = second[k].is_none()
                                ? Tensor::zeros(DType::kFloat64, xs[k].shape())
                                : session.run({dense_gradient(g, second[k])}, feeds)[0];
    const Tensor before = feeds[position].second;
    for (int64_t i = 0; i < before.num_elements(); ++i) {
      double results[2];
      for (int side = 0; side < 2; ++side) {
        Tensor value = before.copy();
        value.data<double>()[i] += side == 0 ? 1e-5 : -1e-5;
        feeds[position].second = value;
        results[side] = session.run({directional_derivative}, feeds)[0].data<double>()[0];
      }
      feeds[position].second = before;
      const double numeric = (results[0] - results[1]) / 2e-5;
      const double error = std::fabs(symbolic.data<double>()[i] - numeric);
      if (!(error < 1e-4 * (1 + std::fabs(numeric)))) return SecondDerivative::kWrong;
    }
  }
  return SecondDerivative::kCorrect;
}

}  // namespace

TEST(registry_definitions_are_valid) {
  CHECK(all_ops().size() > 50);
  for (const auto& entry : all_ops()) {
    const OpDef& def = entry.second;
    if (is_test_op(def)) continue;
    context() = entry.first;
    CHECK_EQ(def.type, entry.first);  // differs if two registrations have the same name
    CHECK(!def.summary.empty());
    CHECK(static_cast<bool>(def.shape_fn));
    CHECK(def.forwards || def.kernel_factory || def.outputs.empty());
    CHECK(may_lack_example(def) || !def.examples.empty());
    CHECK(!takes_float(def) || def.gradient_fn || def.not_differentiable);
  }
}

TEST(registry_outputs_have_the_inferred_shapes) {
  std::mt19937 random(20260101);
  for (const auto& entry : all_ops()) {
    for (const std::string& text : entry.second.examples) {
      for (DType dtype : {DType::kFloat32, DType::kFloat64, DType::kInt32, DType::kInt64}) {
        context() = entry.first + " " + text + " " + dtype_name(dtype);
        OpExample example;
        try {
          example = build_example(entry.second, text, dtype, random);
        } catch (const Error& error) {
          // The only valid error is that the op does not accept the type.
          const bool is_type = error.message().find("allowed values") != std::string::npos ||
                               error.message().find("does not match") != std::string::npos;
          if (dtype == DType::kFloat64 || !is_type) throw;
          continue;
        }
        Session session(example.graph);
        std::vector<Fetch> fetches;
        for (int i = 0; i < example.op->num_outputs(); ++i)
          fetches.push_back(example.op->output(i));
        const std::vector<Tensor> results = session.run(fetches, feeds_of(example));
        for (size_t i = 0; i < results.size(); ++i) {
          const Output output = example.op->output(static_cast<int>(i));
          CHECK(results[i].dtype() == output.dtype());
          CHECK(output.shape().is_compatible_with(results[i].shape()));
        }
      }
    }
  }
}

TEST(registry_gradients_agree_with_finite_differences) {
  const unsigned seed = 20260102;
  std::mt19937 random(seed);
  std::vector<std::string> unchecked;
  for (const auto& entry : all_ops()) {
    if (!entry.second.gradient_fn || is_test_op(entry.second)) continue;
    bool is_checked = false;
    for (const std::string& text : entry.second.examples) {
      context() = str_cat(entry.first, " ", text, " (seed ", seed, ")");
      OpExample example = build_example(entry.second, text, DType::kFloat64, random);
      try {
        is_checked = check_gradients(example, random) || is_checked;
      } catch (const Error& error) {
        if (error.code() != Code::kUnimplemented) throw;
      }
    }
    if (!is_checked) unchecked.push_back(entry.first);
  }
  context() = "ops whose gradient differences do not check";
  CHECK_EQ(str_join(unchecked, " "), str_join(kUncheckedGradients, " "));
}

// If an op accepts sizes of 1 and 0, its shape function and its gradient must accept them, too.
TEST(registry_empty_and_single_dimensions) {
  const unsigned seed = 20260104;
  std::mt19937 random(seed);
  int accepted = 0, differentiated = 0;
  for (const auto& entry : all_ops()) {
    if (is_test_op(entry.second)) continue;
    for (const std::string& original : entry.second.examples) {
      for (const std::string& text : edge_size_variants(original)) {
        context() = str_cat(entry.first, " ", text, " (seed ", seed, ")");
        OpExample example;
        std::vector<Tensor> results;
        try {
          example = build_example(entry.second, text, DType::kFloat64, random);
          Session session(example.graph);
          std::vector<Fetch> fetches;
          for (int i = 0; i < example.op->num_outputs(); ++i) {
            fetches.push_back(example.op->output(i));
          }
          results = session.run(fetches, feeds_of(example));
        } catch (const Error&) {
          continue;  // indices and axes of the example do not fit these sizes
        }
        ++accepted;
        for (size_t i = 0; i < results.size(); ++i) {
          const Output output = example.op->output(static_cast<int>(i));
          CHECK(output.shape().is_compatible_with(results[i].shape()));
        }
        if (!entry.second.gradient_fn) continue;
        try {
          differentiated += check_gradients(example, random);
        } catch (const Error& error) {
          // With an empty table, only the gradient checks the indices.
          const bool is_empty = std::all_of(results.begin(), results.end(),
                                            [](const Tensor& y) { return y.num_elements() == 0; });
          const bool is_index = is_empty && error.code() == Code::kInvalidArgument;
          if (error.code() != Code::kUnimplemented && !is_index) throw;
        }
      }
    }
  }
  CHECK(accepted > 400);
  CHECK(differentiated > 250);
}

TEST(registry_second_derivatives_agree_with_differences) {
  const unsigned seed = 20260103;
  std::mt19937 random(seed);
  int checked = 0;
  std::vector<std::string> unsupported, wrong;
  for (const auto& entry : all_ops()) {
    if (!entry.second.gradient_fn || is_test_op(entry.second)) continue;
    for (const std::string& text : entry.second.examples) {
      context() = str_cat(entry.first, " ", text, " (seed ", seed, ")");
      OpExample example = build_example(entry.second, text, DType::kFloat64, random);
      try {
        const SecondDerivative result = check_second_derivative(example, random);
        checked += result == SecondDerivative::kCorrect;
        if (result == SecondDerivative::kWrong) wrong.push_back(context());
      } catch (const Error& error) {
        if (error.code() != Code::kNotFound && error.code() != Code::kUnimplemented) throw;
        if (unsupported.empty() || unsupported.back() != entry.first)
          unsupported.push_back(entry.first);
      }
    }
  }
  CHECK(checked > 100);
  context() = "ops whose second derivatives are wrong";
  CHECK_EQ(str_join(wrong, "; "), std::string());
  context() = "ops without second derivatives";
  CHECK_EQ(str_join(unsupported, " "),
           std::string("FusedEmbeddingLookup FusedEmbeddingLookupWeightsGrad Svd"));
}
