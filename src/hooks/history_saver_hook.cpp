#include "hooks/history_saver_hook.h"

#include <algorithm>

#include "graph/endpoints.h"

namespace runhooks {

namespace {

// Returns the weighted mean of the losses. The weights may be broadcast along the last dimensions
// of the losses.
double weighted_mean_of(const Tensor& losses, const Tensor& weights) {
  const int64_t n = losses.num_elements();
  const int64_t elements_per_weight =
      std::max<int64_t>(n / std::max<int64_t>(weights.num_elements(), 1), 1);
  double total = 0, weight_sum = 0;
  for (int64_t i = 0; i < n; ++i) {
    const double weight = weights.number_at(i / elements_per_weight);
    total += weight * losses.number_at(i);
    weight_sum += weight;
  }
  return total / weight_sum;
}

const Output* find_key(const EndpointTensors& tensors, const std::string& key) {
  for (const auto& tensor : tensors) {
    if (tensor.first == key) return &tensor.second;
  }
  return nullptr;
}

}  // namespace

HistorySaverHook::HistorySaverHook(const Args& args)
    : every_n_step_(args.integer("every_n_step", 10)) {
  if (args.has("tensors")) requested_tensors_ = args.args("tensors").items();
}

void HistorySaverHook::begin(Graph& graph) {
  num_runs_ = 0;
  timer_ = InputTimer();
  *history_ = History();
  const std::vector<CollectionItem> losses = graph.collection(collection_keys::kLosses);
  const Output* loss = losses.empty() ? nullptr : std::get_if<Output>(&losses.front());
  const EndpointTensors& replica_losses = endpoint(graph, kReplicaLosses);
  loss_is_replica_sum_ = !replica_losses.empty();
  if (loss_is_replica_sum_) loss = &replica_losses.front().second;
  if (!loss) loss = find_key(endpoint(graph, "loss"), "");
  has_loss_ = loss != nullptr;
  run_args_.fetches.clear();
  add_metrics(graph);
  if (has_loss_) run_args_.fetches.emplace_back(*loss);
  for (const auto& tensor : requested_tensors_) {
    const Output output = tensor_argument(graph, tensor.second);
    if (!is_numeric(output.dtype())) {
      invalid_argument("A history records numbers only. Tensor '", output.name(), "' is of type ",
                       dtype_name(output.dtype()), ".");
    }
    run_args_.fetches.emplace_back(output);
    history_->tensors.push_back({tensor.first, {}});
  }
  run_args_.changed();
  step_.find(graph, name());
}

void HistorySaverHook::add_metrics(Graph& graph) {
  is_weighted_.clear();
  const auto add_fetches = [this](const std::string& name, const Output& values,
                                  const Output* weights) {
    history_->metrics.push_back({name, {}});
    run_args_.fetches.emplace_back(values);
    if (weights) run_args_.fetches.emplace_back(*weights);
    is_weighted_.push_back(weights != nullptr);
  };
  const EndpointTensors& weights = endpoint(graph, kExampleWeights);
  for (const auto& losses : endpoint(graph, kExampleLosses)) {
    add_fetches(losses.first, losses.second, find_key(weights, losses.first));
  }
  if (const Output* loss = find_key(endpoint(graph, "loss"), ""))
    add_fetches("loss", *loss, nullptr);
}

const RunArgs* HistorySaverHook::before_run(RunContext& context) {
  const int64_t run = num_runs_ + 1;
  if (run == 1) timer_.start(context.session());
  is_due_ = !run_args_.fetches.empty() && (run == 1 || run % every_n_step_ == 0);
  return is_due_ ? &run_args_ : nullptr;
}

void HistorySaverHook::after_run(RunContext& context, const RunValues& values) {
  ++num_runs_;
  if (!is_due_) return;
  size_t next_result = 0;
  for (size_t i = 0; i < is_weighted_.size(); ++i) {
    const Tensor& losses = values.result(next_result++);
    history_->metrics[i].values.push_back(
        is_weighted_[i] ? weighted_mean_of(losses, values.result(next_result++)) : mean_of(losses));
  }
  if (has_loss_) {
    const Tensor& loss = values.result(next_result++);
    const double total = loss_is_replica_sum_ ? loss.number_at(0) : sum_of(loss);
    history_->total_losses.push_back(total);
    history_->mean_losses.push_back(loss_is_replica_sum_ ? total / loss.number_at(1)
                                                         : mean_of(loss));
  }
  for (History::Column& column : history_->tensors) {
    column.values.push_back(mean_of(values.result(next_result++)));
  }
  history_->steps.push_back(static_cast<double>(step_.now(context.session())));
  record_input(context.session());
}

void HistorySaverHook::record_input(Session& session) {
  const InputTimer::Reading input = timer_.read(session);
  if (!input.is_known) return;
  history_->rows.push_back(input.rows);
  history_->seconds.push_back(input.seconds);
  history_->waited.push_back(input.waited);
}

// The hook ignores its argument `evaluations`. The R code that converts the history uses it.
RUNHOOKS_REGISTER_HOOK(
    HistorySaverHook,
    "hook_history_saver",
    {"every_n_step = 10: whole number in [1, Inf). Record every `every_n_step` steps.",
     "tensors = NULL: tensors. Additional values to record: a named list of tensors or tensor "
     "names, or a vector of tensor names. The mean is recorded if a tensor has several elements.",
     "evaluations = FALSE: flag. Add the metrics of evaluations made during training to the "
     "history, as `history$evaluations`? They come from [hook_in_memory_evaluator()] or from calls "
     "of [evaluate()] in a hook."});

}  // namespace runhooks
