// InMemoryEvaluatorHook: evaluates the current variables of a training session, without a
// checkpoint.
#pragma once

#include "base/random.h"
#include "estimators/run/estimator.h"
#include "hooks/history_saver_hook.h"
#include "training/summary_writer.h"

namespace runhooks {

// tf.estimator.experimental.InMemoryEvaluatorHook: evaluates when the session is created, after
// every `every_n_iter` runs, and at the end unless the last step was just evaluated (TensorFlow
// then evaluates it twice).
class InMemoryEvaluatorHook : public RunHook {
 public:
  InMemoryEvaluatorHook(Estimator estimator,
                        InputFn input_fn,
                        EvaluateOptions options,
                        int64_t every_n_iter);
  std::string name() const override { return "InMemoryEvaluatorHook"; }

  void begin(Graph& graph) override;
  void after_create_session(Session& session, Coordinator&) override;
  void after_run(RunContext& context, const RunValues& values) override;
  void end(Session& session) override;
  void on_error(Session*, const LoopFailure&) override { release(); }
  void set_history(std::shared_ptr<History> history) { history_ = std::move(history); }

 private:
  void evaluate(Session& training);
  // Draws from a separate sequence of seeds, so that evaluations do not advance R's generator.
  uint64_t next_seed() { return seeds_.next(); }
  void record(const Named<Tensor>& metrics);
  void release() {
    evaluation_.reset();
    writer_.reset();
  }

  Estimator estimator_;
  InputFn input_fn_;
  EvaluateOptions options_;
  int64_t every_n_iter_;
  Trigger trigger_;
  std::unique_ptr<Evaluation> evaluation_;
  std::shared_ptr<EventFileWriter> writer_;  // one file per training loop
  std::shared_ptr<History> history_ = std::make_shared<History>();
  VariablePtr step_;
  Philox seeds_{0, 0};
  int64_t runs_ = 0, evaluated_step_ = -1;
};

}  // namespace runhooks
