// Repeated steps allocate no memory.
#include <cstdlib>
#include <new>

#include "data/in_memory.h"
#include "estimators/run/estimator.h"
#include "test.h"

using namespace runhooks;
using namespace runhooks_test;

namespace {

// Counts the allocations of the test's thread while `is_counting` is true.
thread_local bool is_counting = false;
thread_local int64_t pieces_taken = 0;

}  // namespace

// These functions are not inlined: compilers warn if they see only new or only delete. The nothrow
// form, which std::stable_sort() uses, must match this delete, so a sanitizer's form would not do.
#if defined(__GNUC__)
#define RUNHOOKS_APART __attribute__((noinline))
#else
#define RUNHOOKS_APART
#endif
RUNHOOKS_APART void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
  if (is_counting) ++pieces_taken;
  return std::malloc(size == 0 ? 1 : size);
}
RUNHOOKS_APART void* operator new(std::size_t size) {
  if (void* piece = operator new(size, std::nothrow)) return piece;
  throw std::bad_alloc();
}
RUNHOOKS_APART void operator delete(void* piece) noexcept { std::free(piece); }
RUNHOOKS_APART void operator delete(void* piece, std::size_t) noexcept { std::free(piece); }

namespace {

// Counts allocations from the end of run `from` to the end of run `to`.
class CountingHook : public RunHook {
 public:
  CountingHook(int from, int to) : from_(from), to_(to) {}
  std::string name() const override { return "CountingHook"; }
  void begin(Graph& graph) override {
    const auto losses = graph.collection(collection_keys::kLosses);
    args_.fetches = {*std::get_if<Output>(&losses.front())};
    args_.changed();
  }
  const RunArgs* before_run(RunContext&) override { return &args_; }
  void after_run(RunContext&, const RunValues& values) override {
    loss_ = values.result(0).number_at(0);
    ++runs_;
    if (runs_ == from_) pieces_taken = 0;
    is_counting = runs_ >= from_ && runs_ < to_;
    if (runs_ == to_) taken_ = pieces_taken;
  }
  int64_t taken() const { return taken_; }

 private:
  int from_, to_, runs_ = 0;
  int64_t taken_ = -1;
  double loss_ = 0;
  RunArgs args_;
};

std::string column_name(int i) { return str_cat("x", i); }

Estimator regressor(const std::string& folder, int num_columns) {
  const auto columns = std::make_shared<ValueList>();
  for (int i = 0; i < num_columns; ++i) {
    const auto column = std::make_shared<Args>("column_numeric()");
    column->set("type", Value::of(std::string("NumericColumn")));
    column->set("name", Value::of(column_name(i)));
    column->set("key", Value::of(column_name(i)));
    columns->push_back(Value::of(column));
  }
  Args args("linear_regressor()");
  args.set("feature_columns", Value::of(columns));
  RunConfig config;
  config.model_dir = folder;
  config.save_checkpoints_secs = 0;
  config.save_checkpoints_steps = 1000000;
  config.log_step_count_steps = 0;
  config.save_summary_steps = 0;
  return Estimator(make_canned_model("linear_regressor", args).model_fn, config);
}

}  // namespace

TEST(steady_steps_allocate_no_memory) {
  pieces_taken = 0;
  is_counting = true;
  const std::vector<double> some(10);
  is_counting = false;
  CHECK_EQ(pieces_taken, int64_t{1});
  // Products and updates of many columns are batched.
  for (const int num_columns : {1, 40}) {
    Estimator estimator =
        regressor(str_cat(temporary_folder(), "/steady", num_columns), num_columns);
    const InputFn input = [num_columns](Graph& graph, Mode) {
      InMemoryOptions options;
      options.batch_size = 2;
      options.num_epochs = 0;
      const Tensor x = Tensor::vector<float>({1, 2, 3, 4}), y = Tensor::vector<float>({2, 4, 6, 8});
      std::vector<InMemoryColumn> rows(static_cast<size_t>(num_columns), InMemoryColumn(x));
      rows.emplace_back(y);
      const std::vector<Output> next = next_element(graph, in_memory_dataset(rows, options));
      ModelInput made;
      for (int i = 0; i < num_columns; ++i) {
        made.features[column_name(i)] = next[static_cast<size_t>(i)];
      }
      made.labels = next.back();
      return made;
    };
    const auto hook = std::make_shared<CountingHook>(50, 250);
    TrainOptions options;
    options.steps = 300;
    options.hooks = {hook};
    estimator.train(input, options);
    CHECK_EQ(hook->taken(), int64_t{0});
  }
}
