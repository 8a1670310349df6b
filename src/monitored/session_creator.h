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
  // A loop that has ended well is done with its session.
  virtual void take_back(std::unique_ptr<Session> session) { session->close(); }
  // Who saves and restores the sessions, before the first is made; NULL where nobody does.
  virtual std::shared_ptr<Saver> ready_saver() { return nullptr; }
  // Whether its sessions are those that others take their values from.
  virtual bool is_chief() const { return true; }
};

// tf.train.ChiefSessionCreator: finalizes the scaffold and the graph, restores the newest
// checkpoint of `checkpoint_dir` (or `checkpoint_path`), where there is one, else runs the init op.
// Where the newest is damaged or gone it goes back along those that the folder's state file lists.
class ChiefSessionCreator : public SessionCreator {
 public:
  ChiefSessionCreator(std::shared_ptr<Graph> graph,
                      std::shared_ptr<Scaffold> scaffold,
                      std::string checkpoint_dir = "",
                      std::string checkpoint_path = "");
  std::unique_ptr<Session> create_session() override;
  std::shared_ptr<Saver> ready_saver() override;
  // How many sessions were made so in this process; lint: allow caller (tests count them)
  static int64_t num_made();

 private:
  void check_ready(const std::string& missing, const char* purpose) const;
  // TRUE where there was a checkpoint.
  bool restore(Session& session) const;
  // Restores the first of these that can be; `passed` gets those before it.
  void restore_first(Session& session,
                     const std::vector<std::string>& paths,
                     std::vector<std::string>* passed) const;

  std::shared_ptr<Graph> graph_;
  std::shared_ptr<Scaffold> scaffold_;
  std::string checkpoint_dir_, checkpoint_path_;
};

// While it lives, workers of the same graph in this process find the session of their chief.
class ChiefSession {
 public:
  explicit ChiefSession(Session& session);
  ~ChiefSession();
  ChiefSession(const ChiefSession&) = delete;
  ChiefSession& operator=(const ChiefSession&) = delete;
  // NULL where there is none.
  static Session* of(const Graph& graph);

 private:
  Session& session_;
};

// tf.train.WorkerSessionCreator: a session whose variables somebody else initializes, the chief.
// Sessions share nothing here, so it takes over what the chief's model has learned so far: from the
// chief's session of the same graph in this process, or else from the newest checkpoint in
// `checkpoint_dir`, for which it waits. What the two learn from then on is their own.
class WorkerSessionCreator : public SessionCreator {
 public:
  WorkerSessionCreator(std::shared_ptr<Graph> graph,
                       std::shared_ptr<Scaffold> scaffold,
                       std::string checkpoint_dir,
                       double max_wait_secs);
  std::unique_ptr<Session> create_session() override;
  bool is_chief() const override { return false; }

 private:
  void take_over(Session& session) const;
  // NULL where it is not ready; `missing` says what has no value.
  std::unique_ptr<Session> try_session(std::string* missing) const;

  std::shared_ptr<Graph> graph_;
  std::shared_ptr<Scaffold> scaffold_;
  std::string checkpoint_dir_;
  double max_wait_secs_;
};

}  // namespace runhooks
