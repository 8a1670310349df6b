// RunRequests: merges the fetches, feeds and options of the caller and all hooks into one run.
#pragma once

#include <memory>
#include <vector>

#include "session/run_hook.h"

namespace runhooks {

// The run that serves the caller and all hooks. A tensor that several of them request is fetched
// once. The results of the caller come first.
struct MergedRun {
  struct Request {
    const RunArgs* args = nullptr;
    uint64_t revision = 0;
    std::vector<size_t> results;  // indices of the request's fetches in the merged fetches
    bool matches(const RunArgs* other) const {
      return args == other && (!other || revision == other->revision);
    }
  };
  Request caller;
  std::vector<Request> hooks;
  RunOptions options;
  std::shared_ptr<Executor> executor;
  std::vector<Tensor> feed_values;
};

class RunRequests {
 public:
  explicit RunRequests(const HookList& hooks) : hooks_(hooks) {}

  // Starts a run.
  void begin() { requests_.clear(); }
  // Adds the request of the next hook, or NULL. Throws if two hooks feed the same tensor.
  void add(const RunArgs* args);
  // Returns the merged run with its feed values. Runs are cached by their requests. The result is
  // valid until the next merge() or clear().
  const MergedRun& merge(Session& session, const RunArgs& caller);
  // Must be called when the session is replaced.
  void clear() { cached_runs_.clear(); }

 private:
  void check_last_hook_feeds() const;
  void check_caller_feeds(const RunArgs& caller) const;
  bool matches(const MergedRun& merged, const RunArgs& caller) const;
  MergedRun merge_requests(Session& session, const RunArgs& caller) const;
  void collect_feeds(MergedRun& merged, const RunArgs& caller) const;

  const HookList& hooks_;
  std::vector<const RunArgs*> requests_;  // of the hooks, in the current run
  // Most recently used first. Several runs are cached, because many hooks request tensors only in
  // some steps.
  std::vector<std::unique_ptr<MergedRun>> cached_runs_;
};

}  // namespace runhooks
