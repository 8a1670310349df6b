#include "hooks/history_saver_hook.h"

#include "graph/endpoints.h"

namespace runhooks {

namespace {

double sum_of(const Tensor& tensor) {
  double total = 0;
  for (int64_t i = 0; i < tensor.num_elements(); ++i) total += tensor.number_at(i);
  return total;
}

double mean_of(const Tensor& tensor) {
  return sum_of(tensor) / static_cast<double>(tensor.num_elements());
}

}  // namespace

HistorySaverHook::HistorySaverHook(const Args& args)
    : every_n_step_(args.integer("every_n_step", 10)) {
  if (args.has("tensors")) tensors_ = args.args("tensors").items();
}

void HistorySaverHook::begin(Graph& graph) {
  runs_ = 0;
  meter_ = InputTimer();
  *history_ = History();
  const std::vector<CollectionItem> losses = graph.collection(collection_keys::kLosses);
  const Output* loss = losses.empty() ? nullptr : std::get_if<Output>(&losses.front());
  const EndpointTensors& of_all = endpoint(graph, kLossesOfAll);
  is_of_all_ = !of_all.empty();
  if (is_of_all_) loss = &of_all.front().second;
  has_loss_ = loss != nullptr;
  run_args_.fetches.clear();
  if (has_loss_) run_args_.fetches.emplace_back(*loss);
  for (const auto& tensor : tensors_) {
    const Output output = tensor_argument(graph, tensor.second);
    if (!is_numeric(output.dtype())) {
      invalid_argument("A history records numbers; tensor '", output.name(), "' is of type ",
                       dtype_name(output.dtype()), ".");
    }
    run_args_.fetches.emplace_back(output);
    history_->tensors.push_back({tensor.first, {}});
  }
  run_args_.changed();
  step_.find(graph, name());
}

const RunArgs* HistorySaverHook::before_run(RunContext& context) {
  const int64_t run = runs_ + 1;
  if (run == 1) meter_.start(context.session());
  is_due_ = !run_args_.fetches.empty() && (run == 1 || run % every_n_step_ == 0);
  return is_due_ ? &run_args_ : nullptr;
}

void HistorySaverHook::after_run(RunContext& context, const RunValues& values) {
  ++runs_;
  if (!is_due_) return;
  size_t next = 0;
  if (has_loss_) {
    const Tensor& loss = values.result(next++);
    const double total = is_of_all_ ? loss.number_at(0) : sum_of(loss);
    history_->total_losses.push_back(total);
    history_->mean_losses.push_back(is_of_all_ ? total / loss.number_at(1) : mean_of(loss));
  }
  for (History::Column& column : history_->tensors) {
    column.values.push_back(mean_of(values.result(next++)));
  }
  history_->steps.push_back(static_cast<double>(step_.now(context.session())));
  record_input(context.session());
}

void HistorySaverHook::record_input(Session& session) {
  const InputTimer::Reading input = meter_.read(session);
  if (!input.is_known) return;
  history_->rows.push_back(input.rows);
  history_->seconds.push_back(input.seconds);
  history_->waited.push_back(input.waited);
}

// `evaluations` is for whoever makes the history of the record.
RUNHOOKS_REGISTER_HOOK(
    HistorySaverHook,
    "hook_history_saver",
    {"every_n_step = 10: whole number in [1, Inf). Record every so many steps.",
     "tensors = NULL: tensors. More to record: a named list, name = tensor or name of one, or "
     "names "
     "of tensors. Of a tensor with several elements the mean is recorded.",
     "evaluations = FALSE: flag. TRUE: the metrics of evaluations that were made while the model "
     "trained (by [hook_in_memory_evaluator()], or by [evaluate()] in a hook) join the history, as "
     "`history$evaluations`."});

}  // namespace runhooks
