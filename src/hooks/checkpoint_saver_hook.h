// CheckpointSaverHook: saves checkpoints during training and calls listeners around each save.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "hooks/hook_registry.h"
#include "training/scaffold.h"
#include "training/summary_writer.h"

namespace runhooks {

// tf.train.CheckpointSaverListener. after_save() returns true to stop the training.
class CheckpointListener {
 public:
  virtual ~CheckpointListener() = default;
  virtual std::string name() const = 0;
  virtual void begin(Graph&) {}
  virtual void before_save(Session&, int64_t /*global_step*/) {}
  virtual bool after_save(Session&, int64_t /*global_step*/) { return false; }
  virtual void end(Session&, int64_t /*global_step*/) {}
};

using ListenerPtr = std::shared_ptr<CheckpointListener>;

// tf.train.CheckpointSaverHook: saves when the session is created, at intervals, at the end, and
// after an interrupt. Also writes graph.pbtxt. Writes the graph and an entry for each checkpoint to
// the event file.
class CheckpointSaverHook : public RunHook {
 public:
  explicit CheckpointSaverHook(const Args& args);
  std::string name() const override { return "CheckpointSaverHook"; }

  void set_scaffold(std::shared_ptr<Scaffold> scaffold) { scaffold_ = std::move(scaffold); }
  bool has_scaffold() const { return scaffold_ != nullptr; }
  // Declares that every process of a distributed training has this hook. With `save_secs`, all of
  // them save when the hook of the chief is due.
  void save_with_peers() { has_peers_ = true; }
  void add_listener(ListenerPtr listener) { listeners_.push_back(std::move(listener)); }

  void begin(Graph& graph) override;
  void after_create_session(Session& session, Coordinator& coordinator) override;
  const RunArgs* before_run(RunContext& context) override;
  void after_run(RunContext& context, const RunValues& values) override;
  void end(Session& session) override;
  void on_error(Session* session, const LoopFailure& failure) override;
  bool saves_checkpoints() const override { return true; }

 private:
  bool is_due(int64_t global_step) const;
  void write_checkpoint(Session& session, int64_t global_step);
  bool save(Session& session, int64_t global_step);
  Saver& saver(Session& session) const;

  std::string checkpoint_dir_, checkpoint_basename_, save_path_;
  Trigger trigger_;
  std::shared_ptr<Scaffold> scaffold_;
  std::vector<ListenerPtr> listeners_;
  GlobalStep step_;
  RunArgs run_args_;
  std::shared_ptr<EventFileWriter> writer_;
  bool saves_graph_, has_session_ = false;
  bool triggers_by_time_, has_peers_ = false;
  int changes_at_save_ = 0;  // session.changes() at the last save
};

}  // namespace runhooks
