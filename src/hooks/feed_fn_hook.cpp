// Feeds the values that a function returns before each run (tf.train.FeedFnHook).
#include <algorithm>

#include "hooks/hook_registry.h"

namespace runhooks {

namespace {

class FeedFnHook : public RunHook {
 public:
  explicit FeedFnHook(const Args& args) : source_(feed_source_argument(args, "feed_fn")) {}
  std::string name() const override { return "FeedFnHook"; }

  const RunArgs* before_run(RunContext& context) override {
    if (!source_) return nullptr;
    Feeds feeds = source_->feeds(context.session().graph());
    const bool has_same_keys =
        std::equal(feeds.begin(), feeds.end(), run_args_.feeds.begin(), run_args_.feeds.end(),
                   [](const auto& a, const auto& b) { return a.first == b.first; });
    run_args_.feeds = std::move(feeds);
    if (!has_same_keys) run_args_.changed();
    return &run_args_;
  }

 private:
  std::shared_ptr<FeedSource> source_;
  RunArgs run_args_;
};

}  // namespace

RUNHOOKS_REGISTER_HOOK(
    FeedFnHook,
    "hook_feed_fn, train.FeedFnHook",
    {"feed_fn: function(). A function without arguments that returns the values to feed in the "
     "next run: a list named by tensors, a [dict()], or `NULL`. The loop's graph is the default "
     "graph during the call."});

}  // namespace runhooks
