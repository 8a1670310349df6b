// SessionCreator: creates a session that is ready to run, either restored or initialized.
#pragma once

#include <memory>
#include <string>

#include "session/session.h"
#include "training/scaffold.h"

namespace runhooks {

class SessionCreator {
 public:
  virtual ~SessionCreator() = default;
  virtual std::unique_ptr<Session> create_session() = 0;
  // Takes the session of a loop that ended normally, for reuse or closing.
  virtual void recycle_session(std::unique_ptr<Session> session) { session->close(); }
  // The saver of the sessions, available before the first is created; may be NULL.
  virtual std::shared_ptr<Saver> ready_saver() { return nullptr; }
  // Whether workers take their initial values from the sessions of this creator.
  virtual bool is_chief() const { return true; }
};

// tf.train.ChiefSessionCreator: finalizes the scaffold and the graph, then restores
// `checkpoint_path` or the newest checkpoint of `checkpoint_dir`, or else runs the init op. Falls
// back to older checkpoints in the state file if the newest is damaged or missing.
class ChiefSessionCreator : public SessionCreator {
 public:
  ChiefSessionCreator(std::shared_ptr<Graph> graph,
                      std::shared_ptr<Scaffold> scaffold,
                      std::string checkpoint_dir = "",
                      std::string checkpoint_path = "");
  std::unique_ptr<Session> create_session() override;
  std::shared_ptr<Saver> ready_saver() override;
  // Number of sessions created in this process; lint: allow caller (tests count them)
  static int64_t num_sessions_created();

 private:
  void check_ready(const std::string& missing, const char* purpose) const;
  bool restore(Session& session) const;
  void restore_first(Session& session,
                     const std::vector<std::string>& paths,
                     std::vector<std::string>* skipped) const;

  std::shared_ptr<Graph> graph_;
  std::shared_ptr<Scaffold> scaffold_;
  std::string checkpoint_dir_, checkpoint_path_;
};

// Registers a session as its graph's chief, so that workers in this process find it.
class ChiefSession {
 public:
  explicit ChiefSession(Session& session);
  ~ChiefSession();
  ChiefSession(const ChiefSession&) = delete;
  ChiefSession& operator=(const ChiefSession&) = delete;
  static Session* of(const Graph& graph);

 private:
  Session& session_;
};

// tf.train.WorkerSessionCreator: creates a session whose variables the chief initializes. Sessions
// share no memory here, so the values are copied once, from the chief's session of the same graph
// in this process or from the newest checkpoint in `checkpoint_dir`, for which it waits.
class WorkerSessionCreator : public SessionCreator {
 public:
  WorkerSessionCreator(std::shared_ptr<Graph> graph,
                       std::shared_ptr<Scaffold> scaffold,
                       std::string checkpoint_dir,
                       double max_wait_secs);
  std::unique_ptr<Session> create_session() override;
  bool is_chief() const override { return false; }

 private:
  void copy_chief_values(Session& session) const;
  // NULL if the session is not ready; `missing` then names the uninitialized variables.
  std::unique_ptr<Session> try_session(std::string* missing) const;

  std::shared_ptr<Graph> graph_;
  std::shared_ptr<Scaffold> scaffold_;
  std::string checkpoint_dir_;
  double max_wait_secs_;
};

}  // namespace runhooks
