// Tests R functions in a graph, and log lines with a limited number of repetitions.
#include "base/log_first.h"
#include "hooks_test.h"
#include "ops/state/py_func.h"
#include "session/session.h"
#include "test.h"

using namespace runhooks;
using hooks_test::CapturedLog;
using hooks_test::log_lines;

namespace {

// Returns how often it was called. Fails in call number `fails_at`, if that is not 0.
class CountingFunction : public TensorFunction {
 public:
  explicit CountingFunction(int fails_at = 0) : fails_at_(fails_at) {}
  std::vector<Tensor> call(const std::vector<Tensor>&, const std::vector<DType>&) override {
    if (++calls == fails_at_) throw Error(Code::kOutOfRange, "no more");
    return {Tensor::number(DType::kFloat32, calls)};
  }
  int calls = 0;

 private:
  int fails_at_;
};

double value_of(Session& session, const Output& output) {
  return session.run(std::vector<Fetch>{output})[0].number_at(0);
}

}  // namespace

TEST(py_func_is_called_only_in_runs) {
  auto graph = std::make_shared<Graph>();
  auto counter = std::make_shared<CountingFunction>();
  Operation* op = make_py_func(*graph, counter, {}, {DType::kFloat32}, false, "count");
  CHECK_EQ(op->type(), "PyFuncStateless");
  const Output sum = graph->op("Add", {op->output(0), op->output(0)});
  Session session(graph);
  CHECK_EQ(counter->calls, 0);
  CHECK_EQ(value_of(session, sum), 2.0);
  CHECK_EQ(value_of(session, sum), 4.0);
  CHECK_EQ(counter->calls, 2);
}

TEST(py_func_error_ends_the_run_which_can_be_repeated) {
  auto graph = std::make_shared<Graph>();
  Operation* op = make_py_func(*graph, std::make_shared<CountingFunction>(1), {}, {DType::kFloat32},
                               true, "count");
  Session session(graph);
  CHECK_THROWS(session.run({op->output(0)}), Code::kOutOfRange, "no more");
  CHECK_EQ(value_of(session, op->output(0)), 2.0);
}

TEST(py_func_without_its_function_is_an_error) {
  auto graph = std::make_shared<Graph>();
  Operation* op = make_py_func(*graph, nullptr, {}, {DType::kFloat32}, true, "lost");
  Session session(graph);
  CHECK_THROWS(session.run({op->output(0)}), Code::kFailedPrecondition, "'lost'");
}

TEST(warn_first_n_counts_by_token) {
  const CapturedLog captured;
  reset_log_counts();
  for (int i = 0; i < 4; ++i) warn_first_n("slow", "first", 2, "a");
  warn_first_n("slow", "second", 2, "b");
  CHECK_EQ(log_lines.size(), size_t{3});
  reset_log_counts();
  warn_first_n("slow", "first", 2, "a");
  CHECK_EQ(log_lines.size(), size_t{4});
}
