#include "hooks/final_ops_hook.h"

#include "hooks/run_at_end.h"

namespace runhooks {

FinalOpsHook::FinalOpsHook(const Args& args)
    : feed_source_(feed_source_argument(args, "feed_fn")), store_(args.callable("store")) {
  if (args.has("final_ops")) requested_ops_ = std::make_shared<ValueList>(args.list("final_ops"));
}

// Looks up the ops here, not in begin(), because other hooks may add them to the graph.
void FinalOpsHook::after_create_session(Session& session, Coordinator&) {
  if (!requested_ops_) return;
  ops_.clear();
  for (const Value& name : *requested_ops_) ops_.push_back(fetch_argument(session.graph(), name));
}

void FinalOpsHook::end(Session& session) {
  values_ = run_at_end(session, "FinalOpsHook", ops_,
                       feed_source_ ? feed_source_->feeds(session.graph()) : Feeds());
  if (!store_) return;
  auto list = std::make_shared<ValueList>();
  for (const Tensor& value : values_) {
    list->push_back(value.is_valid() ? Value::of(value.copy()) : Value());
  }
  store_->call({Value::of(list)});
}

RUNHOOKS_REGISTER_HOOK(FinalOpsHook,
                       "hook_final_ops, train.FinalOpsHook",
                       {"final_ops: any or NULL. A tensor, an operation, a variable, the name of "
                        "one, or a nested list of these.",
                        "feed_fn = NULL: function", "store = NULL: function",
                        "values = NULL: function"});

}  // namespace runhooks
