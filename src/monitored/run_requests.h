// RunRequests: merges the fetches, feeds and options of the caller and all hooks into one run.
#pragma once

#include <memory>
#include <vector>

#include "session/run_hook.h"

namespace runhooks {

// The merged run. A tensor that several request is computed and copied once. The caller's results
// come first.
struct MergedRun {
  struct Request {
    const RunArgs* args = nullptr;
    uint64_t revision = 0;
    std::vector<size_t> results;  // indices of its fetches in the merged fetches
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

  // Starts a run. Then add() takes the request of each hook, or NULL. It throws if two hooks feed
  // the same tensor.
  void begin() { requests_.clear(); }
  void add(const RunArgs* args);
  // Returns the merged run with its feed values. The result is cached per set of requests and stays
  // valid until clear() or until it is evicted by newer sets.
  const MergedRun& merge(Session& session, const RunArgs& caller);
  // Call after the session was replaced.
  void clear() { merged_.clear(); }

 private:
  void check_feeds_of_last() const;
  void check_feeds_of(const RunArgs& caller) const;
  bool matches(const MergedRun& merged, const RunArgs& caller) const;
  MergedRun make(Session& session, const RunArgs& caller) const;
  void collect_feeds(MergedRun& merged, const RunArgs& caller) const;

  const HookList& hooks_;
  std::vector<const RunArgs*> requests_;  // of the hooks, in the current run
  // Most recently used first. Hooks that request something only now and then need more than one.
  std::vector<std::unique_ptr<MergedRun>> merged_;
};

}  // namespace runhooks
