// What every op owes: a definition that stands, an example, shapes that its kernel keeps, a
// gradient that is right.
#include <random>

#include "autodiff/gradients.h"
#include "op_example.h"
#include "session/session.h"
#include "test.h"

using namespace runhooks;
using namespace runhooks_test;

namespace {

// Ops without an example: what they do needs a session with state, and test_variables.cpp or
// test_data.cpp shows it.
bool needs_no_example(const OpDef& def) {
  return def.is_stateful || def.type == "Const" || def.type == "NoOp";
}

// Ops that other tests bring with them.
bool is_for_tests(const OpDef& def) { return def.summary == "for tests"; }

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

// The sum of all floating outputs, weighted so that no two elements count the same.
Output weighted_total(OpExample& example, std::mt19937& random) {
  Graph& g = *example.graph;
  std::vector<Output> sums;
  std::uniform_real_distribution<double> uniform(0.5, 1.5);
  for (int i = 0; i < example.op->num_outputs(); ++i) {
    const Output y = example.op->output(i);
    if (y.dtype() != DType::kFloat64) continue;
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

void check_gradients(OpExample& example, std::mt19937& random) {
  const Output total = weighted_total(example, random);
  if (!total) return;
  std::vector<Output> xs;
  std::vector<size_t> which;
  for (size_t i = 0; i < example.placeholders.size(); ++i) {
    if (example.placeholders[i].dtype() != DType::kFloat64) continue;
    xs.push_back(example.placeholders[i]);
    which.push_back(i);
  }
  const std::vector<Gradient> grads = gradients(*example.graph, {total}, xs);
  Session session(example.graph);
  Feeds feeds = feeds_of(example);
  for (size_t k = 0; k < xs.size(); ++k) {
    Tensor symbolic = grads[k].is_none() ? Tensor::zeros(DType::kFloat64, xs[k].shape())
                                         : session.run({dense_gradient(*example.graph, grads[k])}, feeds)[0];
    CHECK_EQ(symbolic.shape(), xs[k].shape());
    Tensor value = feeds[which[k]].second.copy();
    for (int64_t i = 0; i < value.num_elements(); ++i) {
      const double x = value.data<double>()[i], h = 1e-6;
      double results[2];
      for (int side = 0; side < 2; ++side) {
        value.data<double>()[i] = x + (side == 0 ? h : -h);
        feeds[which[k]].second = value.copy();
        results[side] = session.run({total}, feeds)[0].data<double>()[0];
      }
      value.data<double>()[i] = x;
      feeds[which[k]].second = value.copy();
      const double numeric = (results[0] - results[1]) / (2 * h);
      CHECK_NEAR(symbolic.data<double>()[i], numeric, 1e-6 * (1 + std::fabs(numeric)) * 10);
    }
  }
}

}  // namespace

TEST(registry_definitions_stand) {
  CHECK(all_ops().size() > 50);
  for (const auto& entry : all_ops()) {
    const OpDef& def = entry.second;
    if (is_for_tests(def)) continue;
    context() = entry.first;
    CHECK_EQ(def.type, entry.first);  // differs where two registrations have one name
    CHECK(!def.summary.empty());
    CHECK(static_cast<bool>(def.shape_fn));
    CHECK(def.forwards || def.kernel_factory || def.outputs.empty());
    CHECK(needs_no_example(def) || !def.examples.empty());
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
          // Only a type that the op does not take may be refused.
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
  for (const auto& entry : all_ops()) {
    if (!entry.second.gradient_fn) continue;
    for (const std::string& text : entry.second.examples) {
      context() = str_cat(entry.first, " ", text, " (seed ", seed, ")");
      OpExample example = build_example(entry.second, text, DType::kFloat64, random);
      check_gradients(example, random);
    }
  }
}
