// What lives here: RunHook, the interface of everything that watches and steers a training loop, and what it is given.
// Who may use it: hooks implement it, monitored calls it, estimators and the bindings hand hooks over.
// What it must not know: the loop, any particular hook, R.
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

// What a hook wants of the next run (tf.train.SessionRunArgs). Whoever changes `fetches`,
// `options` or which tensors are fed calls changed(), so that the loop sees at a glance that the
// plan at hand still fits.
struct RunArgs {
  std::vector<Fetch> fetches;
  Feeds feeds;
  RunOptions options;
  uint64_t revision = next_revision();  // no two contents have the same one
  void changed() { revision = next_revision(); }
  // Where the embedding language keeps what these arguments were made from.
  std::shared_ptr<void> foreign;

 private:
  static uint64_t next_revision() {
    static uint64_t last = 0;
    return ++last;
  }
};

// What all hooks of one run share (tf.train.SessionRunContext).
class RunContext {
 public:
  RunContext(Session& session, const RunArgs& original_args)
      : session_(session), original_args_(original_args) {}
  Session& session() const { return session_; }
  // What the caller of run() asked for, without the hooks' additions.
  const RunArgs& original_args() const { return original_args_; }
  bool stop_requested() const { return stop_requested_; }
  void request_stop() { stop_requested_ = true; }

 private:
  Session& session_;
  const RunArgs& original_args_;
  bool stop_requested_ = false;
};

// The results of a run as one hook sees them (tf.train.SessionRunValues): in the order of its
// fetches. They are good until the next run; a copied Tensor keeps its value.
class RunValues {
 public:
  RunValues(const Executor& executor,
            const std::vector<size_t>& which,
            const RunOptions& options,
            const RunMetadata& metadata)
      : executor_(executor), which_(which), options_(options), metadata_(metadata) {}
  size_t size() const { return which_.size(); }
  // Invalid for an operation.
  const Tensor& result(size_t i) const { return executor_.result(which_[i]); }
  // What all of one run share: the merged options, and what they asked for.
  const RunOptions& options() const { return options_; }
  const RunMetadata& run_metadata() const { return metadata_; }

 private:
  const Executor& executor_;
  const std::vector<size_t>& which_;
  const RunOptions& options_;
  const RunMetadata& metadata_;
};

// How a loop ended when it did not end well.
struct LoopFailure {
  bool is_interrupt = false;
  std::exception_ptr error;
};

class RunHook {
 public:
  virtual ~RunHook() = default;
  // The class, as messages and traces name it ("StopAtStepHook").
  virtual std::string name() const = 0;

  // Before the graph is finalized: operations may be added. A hook that is used again starts anew
  // here.
  virtual void begin(Graph&) {}
  // After a session has been made, or made again after a failure it could be recovered from.
  virtual void after_create_session(Session&, Coordinator&) {}
  // Before each run; NULL where the hook wants nothing of it. What is returned must live until
  // after_run().
  virtual const RunArgs* before_run(RunContext&) { return nullptr; }
  // After each run that has succeeded.
  virtual void after_run(RunContext&, const RunValues&) {}
  // When the loop ends well.
  virtual void end(Session&) {}
  // When it does not: after an error or an interrupt. The session is NULL where none was made. What
  // it throws is a warning in the log: what ended the loop is on its way.
  virtual void on_error(Session*, const LoopFailure&) {}

  virtual bool saves_checkpoints() const { return false; }
  // Where several processes train it is at work in the first of them alone: it shows or writes
  // something.
  virtual bool is_for_chief() const { return saves_checkpoints(); }
  // Its after_run() or end() may change variables: it comes after all others, and savers after it.
  virtual bool changes_variables() const { return false; }
  virtual bool has_state() const { return false; }
  // What tells its state from those of others: what it is called. One that nobody has called
  // anything gives kUnnamedState and what it does.
  static constexpr const char* kUnnamedState = "[[unnamed]]";
  virtual std::string state_key() const { return name(); }
  // What checkpoints keep of the hook; empty where it has nothing to resume.
  virtual NamedTensors save_state() { return {}; }
  // Where a checkpoint with a state of this hook is restored: reads and checks it, nothing has been
  // changed yet. What is returned takes it over; it is called before after_create_session().
  virtual std::function<void()> read_state(const NamedTensors&) { return {}; }
};

using HookPtr = std::shared_ptr<RunHook>;
using HookList = std::vector<HookPtr>;

}  // namespace runhooks
