#include "estimators/run/in_memory_evaluator_hook.h"

#include "graph/snapshot.h"

namespace runhooks {

InMemoryEvaluatorHook::InMemoryEvaluatorHook(Estimator estimator,
                                             InputFn input_fn,
                                             EvaluateOptions options,
                                             int64_t every_n_iter)
    : estimator_(std::move(estimator)),
      input_fn_(std::move(input_fn)),
      options_(std::move(options)),
      every_n_iter_(every_n_iter) {
  if (every_n_iter <= 0) invalid_argument("invalid every_n_iter=", every_n_iter, ".");
}

void InMemoryEvaluatorHook::begin(Graph& graph) {
  trigger_ = Trigger::every_steps(every_n_iter_);
  runs_ = 0;
  seeds_ = Philox(0, 0);
  evaluated_step_ = -1;
  step_ = global_step(graph);
  const SeedSourceScope evaluation_seeds([this] { return next_seed(); });
  evaluation_ = estimator_.make_evaluation(input_fn_);
  *history_ = History();
}

void InMemoryEvaluatorHook::after_create_session(Session& session, Coordinator&) {
  evaluate(session);
}

void InMemoryEvaluatorHook::after_run(RunContext& context, const RunValues&) {
  ++runs_;
  if (trigger_.should_trigger(runs_)) evaluate(context.session());
}

void InMemoryEvaluatorHook::end(Session& session) {
  if (*session.value(*step_).data<int64_t>() != evaluated_step_) evaluate(session);
  release();
}

void InMemoryEvaluatorHook::evaluate(Session& training) {
  trigger_.update(runs_);
  evaluated_step_ = *training.value(*step_).data<int64_t>();
  const Snapshot trained(model_saveables_in(training.graph()), training.resources(),
                         /*copies_values=*/false);
  auto copy_values = [&trained](Session& session) {
    restore_saveables(saveables_in_source(model_saveables_in(session.graph()), trained), trained,
                      session.resources());
  };
  const SeedSourceScope evaluation_seeds([this] { return next_seed(); });
  const Named<Tensor> metrics = evaluation_->run(options_, "", copy_values);
  record(metrics);
  if (!writer_) writer_ = evaluation_->writer(estimator_.config().model_dir, options_.name);
  evaluation_->write(estimator_.config().model_dir, options_.name, metrics, "");
}

void InMemoryEvaluatorHook::record(const Named<Tensor>& metrics) {
  const bool is_first = history_->steps.empty();
  size_t column = 0;
  for (const auto& metric : metrics) {
    const Tensor& value = metric.second;
    if (!is_numeric(value.dtype()) || value.shape().rank() > 0) continue;
    if (metric.first == "global_step") {
      history_->steps.push_back(value.number_at(0));
      continue;
    }
    if (is_first) history_->tensors.push_back({metric.first, {}});
    history_->tensors[column++].values.push_back(value.number_at(0));
  }
}

}  // namespace runhooks
