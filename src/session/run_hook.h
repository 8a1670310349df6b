// RunHook: the interface for code that observes and controls a training loop, with its argument
// types.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "graph/saveable.h"
#include "session/coordinator.h"
#include "session/session.h"

namespace runhooks {

// A hook's request for the next run (tf.train.SessionRunArgs). After a change of `fetches`,
// `options` or the set of fed tensors, call changed(): the loop compares revisions to decide
// whether its plan is still valid.
struct RunArgs {
  std::vector<Fetch> fetches;
  Feeds feeds;
  RunOptions options;
  uint64_t revision = next_revision();  // unique for each content
  void changed() { revision = next_revision(); }
  // Owned by the bindings: the R object that these arguments were converted from.
  std::shared_ptr<void> foreign;

 private:
  static uint64_t next_revision() {
    static uint64_t last = 0;
    return ++last;
  }
};

// The run that hooks are called for (tf.train.SessionRunContext); all hooks share it.
class RunContext {
 public:
  RunContext(Session& session, const RunArgs& original_args)
      : session_(session), original_args_(original_args) {}
  Session& session() const { return session_; }
  // The request of the code that called the training loop's run(), without additions by hooks.
  const RunArgs& original_args() const { return original_args_; }
  bool stop_requested() const { return stop_requested_; }
  void request_stop() { stop_requested_ = true; }

 private:
  Session& session_;
  const RunArgs& original_args_;
  bool stop_requested_ = false;
};

// One hook's view of the results, in the order of its fetches (tf.train.SessionRunValues). Results
// are valid until the next run; a copied Tensor keeps its value.
class RunValues {
 public:
  RunValues(const Executor& executor,
            const std::vector<size_t>& result_indices,
            const RunOptions& options,
            const RunMetadata& metadata)
      : executor_(executor),
        result_indices_(result_indices),
        options_(options),
        metadata_(metadata) {}
  size_t size() const { return result_indices_.size(); }
  // Returns the value of fetch i; if that is an operation, an invalid tensor.
  const Tensor& result(size_t i) const { return executor_.result(result_indices_[i]); }
  // Merged options and metadata, shared by all hooks of the run.
  const RunOptions& options() const { return options_; }
  const RunMetadata& run_metadata() const { return metadata_; }

 private:
  const Executor& executor_;
  const std::vector<size_t>& result_indices_;
  const RunOptions& options_;
  const RunMetadata& metadata_;
};

// The reason why a loop ended abnormally.
struct LoopFailure {
  bool is_interrupt = false;
  std::exception_ptr error;
};

class RunHook {
 public:
  virtual ~RunHook() = default;
  // The class name for messages and traces ("StopAtStepHook").
  virtual std::string name() const = 0;

  // Called before the graph is finalized; may add operations. Must reset state from an earlier
  // loop.
  virtual void begin(Graph&) {}
  // Called after a session is created, including after recovery from a failure.
  virtual void after_create_session(Session&, Coordinator&) {}
  // Called before each run; NULL requests nothing. The result must live until after_run().
  virtual const RunArgs* before_run(RunContext&) { return nullptr; }
  // Called after each successful run.
  virtual void after_run(RunContext&, const RunValues&) {}
  // Called when the loop ends normally.
  virtual void end(Session&) {}
  // Called after an error or interrupt; the session may be NULL. Exceptions become
  // log warnings, because the original error is already propagating.
  virtual void on_error(Session*, const LoopFailure&) {}

  virtual bool saves_checkpoints() const { return false; }
  // True if only the chief process runs the hook, because the hook prints or writes files.
  virtual bool is_for_chief() const { return saves_checkpoints(); }
  // True if after_run() or end() may change variables. Such hooks run after all others, but before
  // savers.
  virtual bool changes_variables() const { return false; }
  virtual bool has_state() const { return false; }
  // Identifies the hook's state in a checkpoint. For a hook from R without a name, it is
  // kUnnamedState and a hash of the hook's code.
  static constexpr const char* kUnnamedState = "[[unnamed]]";
  virtual std::string state_key() const { return name(); }
  // State saved in checkpoints; may be empty.
  virtual NamedTensors save_state() { return {}; }
  // Validates a restored state without changing anything. The returned function applies the state,
  // and is called before after_create_session().
  virtual std::function<void()> read_state(const NamedTensors&) { return {}; }
};

using HookPtr = std::shared_ptr<RunHook>;
using HookList = std::vector<HookPtr>;

}  // namespace runhooks
