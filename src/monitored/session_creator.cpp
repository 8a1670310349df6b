#include "monitored/session_creator.h"

#include <algorithm>

#include "base/clock.h"
#include "base/log.h"
#include "graph/snapshot.h"
#include "io/checkpoint/checkpoint_state.h"
#include "training/saved_step.h"

namespace runhooks {

namespace {

std::string uninitialized_names(Session& session, const std::vector<SaveablePtr>& saveables) {
  std::vector<std::string> names;
  for (const SaveablePtr& saveable : saveables) {
    if (saveable->is_initialized(session.resources())) continue;
    names.push_back(saveable->op() ? saveable->op()->name() : saveable->name());
  }
  return str_join(names, ", ");
}

std::string uninitialized_globals(Session& session) {
  return uninitialized_names(session, saveables_in(session.graph()));
}

std::string uninitialized_variables(Session& session) {
  std::vector<SaveablePtr> saveables = saveables_in(session.graph());
  for (const VariablePtr& variable :
       variables_in(session.graph(), collection_keys::kLocalVariables)) {
    saveables.push_back(variable_saveable(variable));
  }
  return uninitialized_names(session, saveables);
}

int64_t num_chief_sessions = 0;

std::vector<Session*>& chief_sessions() {
  static auto* sessions = new std::vector<Session*>;  // never destroyed
  return *sessions;
}

constexpr double kPollSeconds = 0.25;

}  // namespace

ChiefSessionCreator::ChiefSessionCreator(std::shared_ptr<Graph> graph,
                                         std::shared_ptr<Scaffold> scaffold,
                                         std::string checkpoint_dir,
                                         std::string checkpoint_path)
    : graph_(std::move(graph)),
      scaffold_(scaffold ? std::move(scaffold) : std::make_shared<Scaffold>()),
      checkpoint_dir_(std::move(checkpoint_dir)),
      checkpoint_path_(std::move(checkpoint_path)) {}

std::shared_ptr<Saver> ChiefSessionCreator::ready_saver() {
  scaffold_->finalize(*graph_);
  return scaffold_->saver;
}

int64_t ChiefSessionCreator::num_sessions_created() { return num_chief_sessions; }

std::unique_ptr<Session> ChiefSessionCreator::create_session() {
  ++num_chief_sessions;
  scaffold_->finalize(*graph_);
  log(LogLevel::kInfo, "Graph was finalized.");
  auto session = std::make_unique<Session>(graph_);
  if (!restore(*session)) {
    session->run({scaffold_->init_op}, scaffold_->init_feeds);
    if (scaffold_->init_fn) scaffold_->init_fn(*session);
  }
  check_ready(uninitialized_globals(*session), " for local_init");
  log(LogLevel::kInfo, "Running local_init_op.");
  session->run({scaffold_->local_init_op}, scaffold_->local_init_feeds);
  log(LogLevel::kInfo, "Done running local_init_op.");
  check_ready(uninitialized_variables(*session), "");
  return session;
}

void ChiefSessionCreator::check_ready(const std::string& uninitialized, const char* purpose) const {
  if (uninitialized.empty()) return;
  fail(Code::kFailedPrecondition, "Init operations did not make model ready", purpose,
       ".  Init op: ", scaffold_->init_op->name(),
       ", init fn: ", scaffold_->init_fn ? "given" : "None",
       ", error: Variables not initialized: ", uninitialized);
}

bool ChiefSessionCreator::restore(Session& session) const {
  if (!checkpoint_path_.empty()) {
    scaffold_->saver->restore(session, checkpoint_path_);
    scaffold_->saver->recover_last_checkpoints(checkpoint_dir_, {});
    return true;
  }
  if (checkpoint_dir_.empty()) return false;
  std::vector<std::string> warnings;
  const auto state = read_checkpoint_state(checkpoint_dir_, &warnings);
  for (const std::string& warning : warnings) warn("checkpoint", warning);
  if (!state) return false;
  std::vector<std::string> skipped, listed = state->all_model_checkpoint_paths;
  restore_newest_readable(session, newest_first(*state), &skipped);
  listed.erase(std::remove_if(listed.begin(), listed.end(),
                              [&skipped](const std::string& path) {
                                return std::count(skipped.begin(), skipped.end(), path) > 0;
                              }),
               listed.end());
  scaffold_->saver->recover_last_checkpoints(checkpoint_dir_, listed);
  return true;
}

// Restores the newest checkpoint that can be read; the damaged ones before it are added to
// `skipped`. A checkpoint of another model is an error, because older checkpoints would not fit
// either.
void ChiefSessionCreator::restore_newest_readable(Session& session,
                                                  const std::vector<std::string>& paths,
                                                  std::vector<std::string>* skipped) const {
  std::vector<std::string> problems;
  for (const std::string& path : paths) {
    std::string problem;
    if (!checkpoint_exists(path)) {
      problem = "its files are missing.";
    } else {
      problem = checkpoint_problem(path, CheckpointCheck::kFiles);
    }
    if (problem.empty()) {
      try {
        scaffold_->saver->restore(session, path);
        for (const std::string& problem : problems)
          warn("checkpoint", problem + fallback_notice(path));
        return;
      } catch (const Error& error) {
        if (error.code() != Code::kDataLoss) throw;
        problem = error.message();
      }
    }
    problems.push_back(str_cat("Checkpoint ", path, " cannot be restored: ", problem));
    skipped->push_back(path);
  }
  for (size_t i = 1; i < problems.size(); ++i) warn("checkpoint", problems[i]);
  scaffold_->saver->restore(session, paths.front());  // throws the newest checkpoint's error
}

ChiefSession::ChiefSession(Session& session) : session_(session) {
  chief_sessions().push_back(&session_);
}

ChiefSession::~ChiefSession() {
  auto& sessions = chief_sessions();
  sessions.erase(std::remove(sessions.begin(), sessions.end(), &session_), sessions.end());
}

Session* ChiefSession::of(const Graph& graph) {
  const auto& sessions = chief_sessions();
  const auto found =
      std::find_if(sessions.rbegin(), sessions.rend(),
                   [&graph](const Session* session) { return &session->graph() == &graph; });
  return found == sessions.rend() ? nullptr : *found;
}

WorkerSessionCreator::WorkerSessionCreator(std::shared_ptr<Graph> graph,
                                           std::shared_ptr<Scaffold> scaffold,
                                           std::string checkpoint_dir,
                                           double max_wait_secs)
    : graph_(std::move(graph)),
      scaffold_(scaffold ? std::move(scaffold) : std::make_shared<Scaffold>()),
      checkpoint_dir_(std::move(checkpoint_dir)),
      max_wait_secs_(max_wait_secs) {}

void WorkerSessionCreator::copy_chief_values(Session& session) const {
  if (Session* chief = ChiefSession::of(*graph_)) {
    const std::vector<SaveablePtr> model = model_saveables_in(*graph_);
    restore_saveables(model, Snapshot(model, chief->resources(), /*copies_values=*/false),
                      session.resources());
    return;
  }
  if (checkpoint_dir_.empty()) return;
  const std::string path =
      newest_checkpoint(checkpoint_dir_, kCheckpointStateName, CheckpointCheck::kContent);
  if (checkpoint_exists(path)) scaffold_->saver->restore_model(session, path);
}

std::unique_ptr<Session> WorkerSessionCreator::try_session(std::string* uninitialized) const {
  auto session = std::make_unique<Session>(graph_);
  copy_chief_values(*session);
  *uninitialized = uninitialized_globals(*session);
  if (!uninitialized->empty()) return nullptr;
  session->run({scaffold_->local_init_op}, scaffold_->local_init_feeds);
  *uninitialized = uninitialized_variables(*session);
  return uninitialized->empty() ? std::move(session) : nullptr;
}

std::unique_ptr<Session> WorkerSessionCreator::create_session() {
  scaffold_->finalize(*graph_);
  log(LogLevel::kInfo, "Graph was finalized.");
  const double deadline = now_seconds() + max_wait_secs_;
  std::string uninitialized;
  for (bool is_first = true;; is_first = false) {
    if (auto session = try_session(&uninitialized)) return session;
    // Without a directory, nothing in this process can make the session ready while it waits.
    if (checkpoint_dir_.empty() || now_seconds() >= deadline) break;
    if (is_first) {
      log(LogLevel::kInfo, str_cat("Waiting for the chief's checkpoint in ", checkpoint_dir_,
                                   ". Variables not initialized: ", uninitialized));
    }
    sleep_seconds(std::min(kPollSeconds, std::max(deadline - now_seconds(), 0.0)));
  }
  throw Error(
      Code::kDeadlineExceeded,
      str_cat("Session was not ready after waiting ", max_wait_secs_, " secs."),
      {str_cat("Variables not initialized: ", uninitialized, "."),
       checkpoint_dir_.empty()
           ? "No chief has an open session of this graph in this process. Give the directory of "
             "its checkpoints (`checkpoint_dir`), or use `is_chief = TRUE`."
           : str_cat("The chief has not written a checkpoint of them to ", checkpoint_dir_, ".")});
}

}  // namespace runhooks
