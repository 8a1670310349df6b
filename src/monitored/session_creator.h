// What lives here: SessionCreator, which makes a session ready to run: restored from a checkpoint or initialized.
// Who may use it: monitored, estimators, the bindings.
// What it must not know: hooks, R.
#pragma once

#include <memory>
#include <string>

#include "session/session.h"
#include "training/scaffold.h"

namespace runhooks {

class SessionCreator {
 public:
  virtual ~SessionCreator() = default;
  // Called again after each failure that a loop recovers from.
  virtual std::unique_ptr<Session> create_session() = 0;
  // Who saves and restores the sessions, before the first is made; NULL where nobody does.
  virtual std::shared_ptr<Saver> ready_saver() { return nullptr; }
};

// tf.train.ChiefSessionCreator: finalizes the scaffold and the graph, restores the newest
// checkpoint of `checkpoint_dir` (or `checkpoint_path`), where there is one, else runs the init op.
class ChiefSessionCreator : public SessionCreator {
 public:
  ChiefSessionCreator(std::shared_ptr<Graph> graph,
                      std::shared_ptr<Scaffold> scaffold,
                      std::string checkpoint_dir = "",
                      std::string checkpoint_path = "");
  std::unique_ptr<Session> create_session() override;
  std::shared_ptr<Saver> ready_saver() override;

 private:
  void check_ready(const std::string& missing, const char* purpose) const;
  // TRUE where there was a checkpoint.
  bool restore(Session& session) const;

  std::shared_ptr<Graph> graph_;
  std::shared_ptr<Scaffold> scaffold_;
  std::string checkpoint_dir_, checkpoint_path_;
};

// tf.train.WorkerSessionCreator: a session whose variables somebody else initializes. Sessions
// share nothing here, so where the graph has variables nobody can, and it says so instead of
// waiting.
class WorkerSessionCreator : public SessionCreator {
 public:
  WorkerSessionCreator(std::shared_ptr<Graph> graph,
                       std::shared_ptr<Scaffold> scaffold,
                       double max_wait_secs);
  std::unique_ptr<Session> create_session() override;

 private:
  std::shared_ptr<Graph> graph_;
  std::shared_ptr<Scaffold> scaffold_;
  double max_wait_secs_;
};

}  // namespace runhooks
