#include "hooks/history_saver_hook.h"

namespace runhooks {

HistorySaverHook::HistorySaverHook(const Args& args)
    : every_n_step_(args.integer("every_n_step", 10)) {
  if (every_n_step_ < 1) {
    invalid_argument("`every_n_step` of ", args.owner(), " must be 1 or more, not ", every_n_step_,
                     ".");
  }
}

void HistorySaverHook::begin(Graph& graph) {
  runs_ = 0;
  history_ = std::make_shared<History>();
  const std::vector<CollectionItem> losses = graph.collection(collection_keys::kLosses);
  const Output* loss = losses.empty() ? nullptr : std::get_if<Output>(&losses.front());
  has_loss_ = loss != nullptr;
  if (has_loss_) run_args_.fetches = {*loss};
  run_args_.changed();
  step_.find(graph, name());
}

const RunArgs* HistorySaverHook::before_run(RunContext&) {
  const int64_t run = runs_ + 1;
  is_due_ = has_loss_ && (run == 1 || run % every_n_step_ == 0);
  return is_due_ ? &run_args_ : nullptr;
}

void HistorySaverHook::after_run(RunContext& context, const RunValues& values) {
  ++runs_;
  if (!is_due_) return;
  const Tensor& loss = values.result(0);
  double total = 0;
  for (int64_t i = 0; i < loss.num_elements(); ++i) total += loss.number_at(i);
  history_->total_losses.push_back(total);
  history_->mean_losses.push_back(total / static_cast<double>(loss.num_elements()));
  history_->steps.push_back(static_cast<double>(step_.now(context.session())));
}

RUNHOOKS_REGISTER_HOOK(HistorySaverHook);

}  // namespace runhooks
