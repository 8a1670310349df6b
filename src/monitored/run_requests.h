// What lives here: RunRequests, which merges what the caller of a run and all hooks ask for into one run.
// Who may use it: monitored.
// What it must not know: when hooks are called, any particular hook, R.
#pragma once

#include <memory>
#include <vector>

#include "session/run_hook.h"

namespace runhooks {

// One run for everybody: what several ask for is computed and copied once. The caller's results
// stay at the front.
struct MergedRun {
  struct Part {
    const RunArgs* args = nullptr;
    uint64_t revision = 0;
    std::vector<size_t> results;  // where its fetches are among the run's
    bool is_of(const RunArgs* asked) const {
      return args == asked && (!asked || revision == asked->revision);
    }
  };
  Part caller;
  std::vector<Part> hooks;
  RunOptions options;
  std::shared_ptr<Executor> executor;
  std::vector<Tensor> feed_values;
};

class RunRequests {
 public:
  // The hooks are those of the loop, in the order in which they ask.
  explicit RunRequests(const HookList& hooks) : hooks_(hooks) {}

  // A run begins; then each hook says what it wants of it, NULL: nothing. Two must not feed one
  // tensor, which is found as soon as the second one has said so.
  void begin() { asked_.clear(); }
  void add(const RunArgs* args);
  // What has been asked for, with the values to feed; the same object as in an earlier run that was
  // asked for the same. It is good until clear() or so many others were asked for.
  const MergedRun& merge(Session& session, const RunArgs& caller);
  // The session is another one.
  void clear() { merged_.clear(); }

 private:
  void check_feeds_of_last() const;
  void check_feeds_of(const RunArgs& caller) const;
  bool is_asked_for(const MergedRun& merged, const RunArgs& caller) const;
  MergedRun make(Session& session, const RunArgs& caller) const;
  void collect_feeds(MergedRun& merged, const RunArgs& caller) const;

  const HookList& hooks_;
  std::vector<const RunArgs*> asked_;  // by the hooks, in the run that is under way
  // The one at hand first; the others are for hooks that ask now and then.
  std::vector<std::unique_ptr<MergedRun>> merged_;
};

}  // namespace runhooks
