// Batched execution of small operations has the same bits as single execution.
#include <cstring>
#include <random>
#include <vector>

#include "kernels/kernels.h"
#include "ops/state/gradient_helpers.h"
#include "session/session.h"
#include "test.h"

using namespace runhooks;

namespace {

std::vector<const Kernels*> tables() {
  std::vector<const Kernels*> all;
  for (const char* isa : {"base", "avx2", "avx512"}) {
    if (const Kernels* table = find_kernels(isa)) all.push_back(table);
  }
  return all;
}

// Draws n numbers, including -0 and numbers whose products underflow.
template <typename T>
std::vector<T> numbers(std::mt19937& random, int64_t n) {
  std::uniform_real_distribution<T> draw(-1, 1);
  std::vector<T> x(static_cast<size_t>(n));
  for (T& number : x) {
    number = draw(random);
    if (random() % 8 == 0) number = -T(0);
    if (random() % 8 == 0) number *= T(1e-30);
  }
  return x;
}

template <typename T>
bool same_bits(const std::vector<T>& a, const std::vector<T>& b) {
  if (a.size() != b.size() || a.empty()) return a.size() == b.size();
  return std::memcmp(a.data(), b.data(), a.size() * sizeof(T)) == 0;
}

struct ProductShape {
  bool ta, tb;
  int64_t m, n, k;
};

template <typename T>
auto products_of(const Kernels& table) {
  return std::make_pair(table.gemm->of<T>().product, table.gemm->of<T>().each);
}

template <typename T>
void check_products(const Kernels& table,
                    const ProductShape& s,
                    size_t count,
                    std::mt19937& random) {
  const auto [one, each] = products_of<T>(table);
  std::vector<std::vector<T>> a, b, expected, is;
  std::vector<const T*> to_a, to_b;
  std::vector<T*> to_c;
  for (size_t i = 0; i < count; ++i) {
    a.push_back(numbers<T>(random, s.m * s.k));
    b.push_back(numbers<T>(random, s.k * s.n));
    expected.emplace_back(static_cast<size_t>(s.m * s.n), T(7));
    is.push_back(expected.back());
  }
  for (size_t i = 0; i < count; ++i) {
    to_a.push_back(a[i].data());
    to_b.push_back(b[random() % 4 == 0 ? i : 0].data());
    to_c.push_back(is[i].data());
    one(s.ta, s.tb, s.m, s.n, s.k, to_a[i], to_b[i], expected[i].data(), false, 2);
  }
  each(static_cast<int64_t>(count), s.ta, s.tb, s.m, s.n, s.k, to_a.data(), to_b.data(),
       to_c.data(), 2);
  for (size_t i = 0; i < count; ++i) CHECK(same_bits(is[i], expected[i]));
}

}  // namespace

TEST(batched_products_have_the_bits_of_single_ones) {
  std::mt19937 random(31);
  std::vector<ProductShape> shapes = {{false, false, 5, 4, 3},
                                      {true, false, 3, 2, 40},
                                      {false, false, 0, 1, 4},
                                      {false, false, 2, 2, 0},
                                      {false, true, 70, 80, 90}};
  for (const int64_t n : {1, 2, 3, 4, 7, 8, 15, 16, 17, 31, 32, 33, 64, 100, 128, 131}) {
    for (const bool ta : {false, true}) {
      for (const bool tb : {false, true}) {
        shapes.push_back({ta, tb, 1, 1, n});
        shapes.push_back({ta, tb, 1, n, 1});
        shapes.push_back({ta, tb, n, 1, 1});
        shapes.push_back({ta, tb, n, 1, 3});
      }
    }
  }
  for (const Kernels* table : tables()) {
    for (const ProductShape& shape : shapes) {
      for (const size_t count : {0, 1, 3, 4, 9, 14}) {
        check_products<float>(*table, shape, count, random);
        check_products<double>(*table, shape, count, random);
      }
    }
  }
}

// Tests products of a column and a number. Each result has one term, so it must be the same for
// every kernel.
TEST(batched_products_with_a_number_match_single_rows) {
  std::mt19937 random(32);
  for (const Kernels* table : tables()) {
    for (const int64_t n : {1, 5, 16, 47, 128}) {
      const std::vector<float> a = numbers<float>(random, n), b = numbers<float>(random, 1);
      for (const bool accumulate : {false, true}) {
        std::vector<float> all = numbers<float>(random, n), each = all;
        table->gemm->of_float.product(false, false, n, 1, 1, a.data(), b.data(), all.data(),
                                      accumulate, 1);
        for (int64_t i = 0; i < n; ++i) {
          table->gemm->of_float.product(false, false, 1, 1, 1, a.data() + i, b.data(),
                                        each.data() + i, accumulate, 1);
        }
        CHECK(same_bits(all, each));
      }
    }
  }
}

namespace {

template <typename T>
void check_sums(const Kernels& table, size_t count, int64_t n, std::mt19937& random) {
  std::vector<std::vector<T>> x;
  std::vector<const T*> to_x;
  for (size_t i = 0; i < count; ++i) x.push_back(numbers<T>(random, n));
  for (const std::vector<T>& one : x) to_x.push_back(one.data());
  const int64_t first = n / 3, length = n - first - n / 5;
  std::vector<T> expected = numbers<T>(random, n), is = expected;
  for (int64_t j = first; j < first + length; ++j) {
    T sum = to_x[0][j];
    for (size_t i = 1; i < count; ++i) sum += to_x[i][j];
    expected[static_cast<size_t>(j)] = sum;
  }
  const auto add_all = table.dense->of<T>().add_all;
  add_all(static_cast<int64_t>(count), first, length, to_x.data(), is.data());
  CHECK(same_bits(is, expected));
}

// Transposes n rows with any alignment. Element `at` + i of output k is element k of row i.
void check_transposed(
    const Kernels& table, size_t bytes, int64_t n, int64_t columns, std::mt19937& random) {
  const auto at = static_cast<int64_t>(random() % 5);
  const size_t row = static_cast<size_t>(columns) * bytes;
  std::vector<char> memory(static_cast<size_t>(n) * row + 4);
  for (char& byte : memory) byte = static_cast<char>(random());
  std::vector<const char*> rows;
  for (int64_t i = 0; i < n; ++i) rows.push_back(memory.data() + 4 + static_cast<size_t>(i) * row);
  std::vector<std::vector<char>> expected(
      static_cast<size_t>(columns),
      std::vector<char>(static_cast<size_t>(at + n + 2) * bytes, 'x'));
  std::vector<std::vector<char>> is = expected;
  std::vector<char*> to;
  for (size_t k = 0; k < is.size(); ++k) {
    to.push_back(is[k].data());
    for (int64_t i = 0; i < n; ++i) {
      std::memcpy(expected[k].data() + static_cast<size_t>(at + i) * bytes,
                  rows[static_cast<size_t>(i)] + k * bytes, bytes);
    }
  }
  const auto turn = bytes == 4 ? table.rows->transpose4 : table.rows->transpose8;
  turn(n, columns, rows.data(), to.data(), at);
  CHECK(is == expected);
}

}  // namespace

TEST(batched_vector_sums_have_the_bits_of_a_loop) {
  std::mt19937 random(33);
  for (const Kernels* table : tables()) {
    for (const int64_t n : {0, 1, 2, 9, 40, 200, 517}) {
      for (const size_t count : {1, 2, 3, 50}) {
        check_sums<float>(*table, count, n, random);
        check_sums<double>(*table, count, n, random);
      }
    }
  }
}

TEST(batched_rows_are_transposed) {
  std::mt19937 random(34);
  for (const Kernels* table : tables()) {
    for (const size_t bytes : {4, 8}) {
      for (const int64_t n : {0, 1, 2, 7, 8, 15, 16, 17, 33}) {
        for (const int64_t columns : {1, 3, 4, 8, 16, 21, 50, 64})
          check_transposed(*table, bytes, n, columns, random);
      }
    }
  }
}

namespace {

// Counts how often the test's kernel was computed alone and in groups.
struct Calls {
  int alone = 0, groups = 0, in_groups = 0;
  bool refuses = false;
} calls;

class CountedKernel;
class CountedGroup : public KernelGroup {
 public:
  explicit CountedGroup(std::vector<GroupMember> members) : members_(std::move(members)) {}
  bool compute() override;

 private:
  std::vector<GroupMember> members_;
};

// Computes y = x + 1. The kernel can be batched with others that have inputs of equal size.
class CountedKernel : public Kernel {
 public:
  void compute(KernelContext& c) override {
    ++calls.alone;
    add_one(c);
  }
  bool can_batch_with(const KernelContext& own, const GroupMember& other) const override {
    return own.input(0).num_elements() == other.context->input(0).num_elements();
  }
  std::unique_ptr<KernelGroup> group(const std::vector<GroupMember>& members) override {
    return std::make_unique<CountedGroup>(members);
  }
  static void add_one(KernelContext& c) {
    const float* x = c.input(0).data<float>();
    float* y = c.output(0).data<float>();
    for (int64_t i = 0; i < c.input(0).num_elements(); ++i) y[i] = x[i] + 1;
  }
};

bool CountedGroup::compute() {
  if (calls.refuses) return false;
  ++calls.groups;
  for (const GroupMember& member : members_) CountedKernel::add_one(*member.context);
  calls.in_groups += static_cast<int>(members_.size());
  return true;
}

void ensure_counted_op() {
  static const bool done = [] {
    OpRegistration("CountedAddOne")
        .summary("for tests")
        .input("x: float")
        .output("y: float")
        .shape(unchanged_shape)
        .kernel([](const Operation&) { return std::make_unique<CountedKernel>(); });
    return true;
  }();
  static_cast<void>(done);
}

struct Counted {
  std::shared_ptr<Graph> g = std::make_shared<Graph>();
  Output small, large, sum, sum_of_large;

  Counted() {
    ensure_counted_op();
    small = g->op("Placeholder").attr("dtype", DType::kFloat32);
    large = g->op("Placeholder").attr("dtype", DType::kFloat32);
    std::vector<Output> smalls, larges;
    for (int i = 0; i < 5; ++i) smalls.push_back(g->op("CountedAddOne", {small}));
    for (int i = 0; i < 4; ++i) larges.push_back(g->op("CountedAddOne", {large}));
    // This operation depends on the first one, so it cannot be in the same batch.
    larges.push_back(g->op("CountedAddOne", {larges[0]}));
    sum = g->op("AddN", smalls);
    sum_of_large = g->op("AddN", larges);
  }
  void check(Session& session, int64_t n, const Calls& expected) {
    Tensor x(DType::kFloat32, Shape{n}), y(DType::kFloat32, Shape{2 * n});
    for (int64_t i = 0; i < n; ++i) x.data<float>()[i] = static_cast<float>(i);
    for (int64_t i = 0; i < 2 * n; ++i) y.data<float>()[i] = static_cast<float>(-i);
    calls.alone = calls.groups = calls.in_groups = 0;
    const std::vector<Tensor> sums = session.run({sum, sum_of_large}, {{small, x}, {large, y}});
    CHECK_EQ(calls.alone, expected.alone);
    CHECK_EQ(calls.groups, expected.groups);
    CHECK_EQ(calls.in_groups, expected.in_groups);
    for (int64_t i = 0; i < n; ++i) {
      CHECK_EQ(sums[0].data<float>()[i], 5 * static_cast<float>(i + 1));
    }
    for (int64_t i = 0; i < 2 * n; ++i) {
      CHECK_EQ(sums[1].data<float>()[i], 5 * static_cast<float>(1 - i) + 1);
    }
  }
};

}  // namespace

TEST(plan_batches_small_steps_of_one_kind) {
  Counted counted;
  Session session(counted.g);
  const Calls alone = {10, 0, 0}, together = {1, 2, 9};
  for (const int64_t n : {3, 3, 3, 2, 2, 2}) {
    static int64_t before = 0;
    counted.check(session, n, n == before ? together : alone);
    before = n;
  }
  calls.refuses = true;
  counted.check(session, 2, alone);
  calls.refuses = false;
  counted.check(session, 2, together);
}

namespace {

Tensor filled(const Shape& shape, int seed) {
  Tensor x(DType::kFloat32, shape);
  for (int64_t i = 0; i < x.num_elements(); ++i) {
    x.data<float>()[i] = static_cast<float>((i * 7919 + seed * 104729) % 1000 - 500) / 700;
  }
  return x;
}

// A linear model of scalar weights with explicit gradients and updates. Most updates have the same
// learning rate, some have another one.
struct SingleWeights {
  static constexpr int kColumns = 23;
  std::shared_ptr<Graph> graph = std::make_shared<Graph>();
  Output x[kColumns], target;
  std::vector<VariablePtr> variables;
  std::vector<Fetch> step;

  explicit SingleWeights(const std::string& rule) {
    Graph& g = *graph;
    const auto placeholder = [&] {
      return Output(g.op("Placeholder").attr("dtype", DType::kFloat32));
    };
    target = placeholder();
    std::vector<Output> terms;
    std::vector<std::vector<VariablePtr>> states;
    const int slots = rule == "Ftrl" ? 3 : rule == "Adagrad" ? 2 : 1;
    for (int i = 0; i < kColumns; ++i) {
      x[i] = placeholder();
      states.emplace_back();
      for (int k = 0; k < slots; ++k) {
        VariableOptions options;
        options.use_resource = i != 11;
        states.back().push_back(
            make_variable(g, g.constant(Tensor::of<float>(Shape{1, 1}, {k == 1 ? 0.1f : 0.0f})),
                          str_cat("w", i, "_", k), options));
        variables.push_back(states.back().back());
      }
      terms.push_back(g.op("MatMul", {x[i], states.back()[0]->snapshot}));
    }
    const Output error = g.op("Sub", {g.op("AddN", terms), target});
    const Output rate = g.scalar(DType::kFloat32, 0.003), other = g.scalar(DType::kFloat32, 0.002),
                 none = g.scalar(DType::kFloat32, 0), power = g.scalar(DType::kFloat32, -0.5);
    for (int i = 0; i < kColumns; ++i) {
      const Output gradient = g.op("MatMul", {x[i], error}).attr("transpose_a", true);
      const Output lr = i % 10 == 9 ? other : rate;
      std::vector<Output> inputs;
      for (const VariablePtr& state : states[static_cast<size_t>(i)])
        inputs.push_back(state->handle);
      if (rule == "Ftrl") inputs.insert(inputs.end(), {gradient, lr, none, none, power});
      if (rule == "Adagrad") inputs.insert(inputs.end(), {lr, gradient});
      if (rule == "GradientDescent") inputs.insert(inputs.end(), {lr, gradient});
      const bool is_resource = states[static_cast<size_t>(i)][0]->is_resource;
      step.emplace_back(Fetch(static_cast<Operation*>(
          g.op(str_cat(is_resource ? "Resource" : "", "Apply", rule).c_str(), inputs)
              .attr("T", DType::kFloat32))));
    }
  }
  // Returns the variables after some steps. With `is_traced`, operations are not batched.
  std::vector<Tensor> trained(bool is_traced) const {
    Session session(graph);
    for (const VariablePtr& variable : variables) session.run(variable->initializer);
    for (int i = 0; i < 14; ++i) {
      const int64_t rows = i < 5 ? 37 : 64;
      Feeds feeds;
      for (int k = 0; k < kColumns; ++k)
        feeds.emplace_back(x[k], filled(Shape{rows, 1}, i * kColumns + k));
      feeds.emplace_back(target, filled(Shape{rows, 1}, -i));
      if (i == 8) {  // gives one variable a new buffer
        find_variable_state(session.resources(), *variables[4]->handle.op)
            ->take(Tensor::of<float>(Shape{1, 1}, {0.25f}));
      }
      RunOptions options;
      RunMetadata metadata;
      if (is_traced) options.trace_level = RunOptions::kFullTrace;
      session.run(step, feeds, options, metadata);
    }
    std::vector<Tensor> values;
    for (const VariablePtr& variable : variables) values.push_back(session.value(*variable).copy());
    return values;
  }
};

}  // namespace

TEST(plan_updates_scalar_weights_with_the_same_bits) {
  for (const char* rule : {"Ftrl", "Adagrad", "GradientDescent"}) {
    const SingleWeights model(rule);
    const std::vector<Tensor> together = model.trained(false), each = model.trained(true);
    for (size_t i = 0; i < each.size(); ++i) {
      CHECK(std::memcmp(together[i].raw(), each[i].raw(), each[i].num_bytes()) == 0);
    }
    CHECK(*each[0].data<float>() != 0);
  }
}

// Updates of one variable must run one after another, so they must not be batched.
TEST(plan_does_not_batch_updates_of_one_variable) {
  const auto graph = std::make_shared<Graph>();
  Graph& g = *graph;
  VariableOptions options;
  options.use_resource = true;
  const auto weight = [&](const char* name) {
    const Tensor zero = Tensor::of<float>(Shape{1}, {0});
    return make_variable(g, g.constant(zero), name, options);
  };
  const Output rate = g.scalar(DType::kFloat32, 0.5);
  const Output gradient = g.op("Placeholder").attr("dtype", DType::kFloat32);
  const VariablePtr often = weight("often");
  std::vector<VariablePtr> once;
  std::vector<Fetch> step;
  const auto update = [&](const VariablePtr& variable) {
    step.emplace_back(static_cast<Operation*>(
        g.op("ResourceApplyGradientDescent", {variable->handle, rate, gradient})
            .attr("T", DType::kFloat32)));
  };
  for (int i = 0; i < 6; ++i) {
    once.push_back(weight("once"));
    update(once.back());
    update(often);
  }
  Session session(graph);
  session.run(often->initializer);
  for (const VariablePtr& variable : once) session.run(variable->initializer);
  for (int i = 1; i <= 4; ++i) {
    session.run(step, {{gradient, Tensor::of<float>(Shape{1}, {2})}});
    CHECK_EQ(session.value(*often).number_at(0), -6.0 * i);
    for (const VariablePtr& variable : once) {
      CHECK_EQ(session.value(*variable).number_at(0), -1.0 * i);
    }
  }
}
