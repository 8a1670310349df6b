// SessionCreator: creates a session and restores or initializes its variables.
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
  // Receives the session of a loop that ended normally. The default closes it.
  virtual void recycle_session(std::unique_ptr<Session> session) { session->close(); }
  // Returns the saver of the sessions, or NULL. Can be called before a session is created.
  virtual std::shared_ptr<Saver> ready_saver() { return nullptr; }
  // Returns true if workers copy their initial values from sessions of this creator.
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
  void check_ready(const std::string& uninitialized, const char* purpose) const;
  bool restore(Session& session) const;
  void restore_newest_readable(Session& session,
                               const std::vector<std::string>& paths,
                               std::vector<std::string>* skipped) const;

  std::shared_ptr<Graph> graph_;
  std::shared_ptr<Scaffold> scaffold_;
  std::string checkpoint_dir_, checkpoint_path_;
};

// Registers a session as the chief's session of its graph, so that workers in this process find it.
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

// tf.train.WorkerSessionCreator: creates a session whose variables the chief initializes. Our
// sessions share no memory, so the values are copied once: from the chief's session of the same
// graph in this process, or from the newest checkpoint in `checkpoint_dir`, for which the worker
// waits.
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
  // Returns NULL if the session is not ready; `uninitialized` then names the uninitialized
  // variables.
  std::unique_ptr<Session> try_session(std::string* uninitialized) const;

  std::shared_ptr<Graph> graph_;
  std::shared_ptr<Scaffold> scaffold_;
  std::string checkpoint_dir_;
  double max_wait_secs_;
};

}  // namespace runhooks
