#include "monitored/session_creator.h"

#include "base/log.h"
#include "io/checkpoint/checkpoint_state.h"

namespace runhooks {

namespace {

// "a, b" of the variables in these collections that have no value; "" where all have one.
std::string uninitialized(const Session& session, std::initializer_list<const char*> collections) {
  std::vector<std::string> names;
  for (const char* collection : collections) {
    for (const VariablePtr& variable : variables_in(session.graph(), collection)) {
      if (!session.is_initialized(*variable)) names.push_back(variable->op_name());
    }
  }
  return str_join(names, ", ");
}

std::string not_initialized(const Session& session) {
  return uninitialized(session,
                       {collection_keys::kGlobalVariables, collection_keys::kLocalVariables});
}

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

std::unique_ptr<Session> ChiefSessionCreator::create_session() {
  scaffold_->finalize(*graph_);
  log(LogLevel::kInfo, "Graph was finalized.");
  auto session = std::make_unique<Session>(graph_);
  if (!restore(*session)) {
    session->run({scaffold_->init_op}, scaffold_->init_feeds);
    if (scaffold_->init_fn) scaffold_->init_fn(*session);
  }
  check_ready(uninitialized(*session, {collection_keys::kGlobalVariables}), " for local_init");
  log(LogLevel::kInfo, "Running local_init_op.");
  session->run({scaffold_->local_init_op}, scaffold_->local_init_feeds);
  log(LogLevel::kInfo, "Done running local_init_op.");
  check_ready(not_initialized(*session), "");
  return session;
}

void ChiefSessionCreator::check_ready(const std::string& missing, const char* purpose) const {
  if (missing.empty()) return;
  fail(Code::kFailedPrecondition, "Init operations did not make model ready", purpose,
       ".  Init op: ", scaffold_->init_op->name(),
       ", init fn: ", scaffold_->init_fn ? "given" : "None",
       ", error: Variables not initialized: ", missing);
}

bool ChiefSessionCreator::restore(Session& session) const {
  std::string path = checkpoint_path_;
  std::vector<std::string> known;
  if (path.empty() && !checkpoint_dir_.empty()) {
    std::vector<std::string> warnings;
    const auto state = read_checkpoint_state(checkpoint_dir_, &warnings);
    for (const std::string& warning : warnings) warn("checkpoint", warning);
    if (!state) return false;
    path = state->model_checkpoint_path;
    known = state->all_model_checkpoint_paths;
  }
  if (path.empty()) return false;
  scaffold_->saver->restore(session, path);
  scaffold_->saver->recover_last_checkpoints(checkpoint_dir_, known);
  return true;
}

WorkerSessionCreator::WorkerSessionCreator(std::shared_ptr<Graph> graph,
                                           std::shared_ptr<Scaffold> scaffold,
                                           double max_wait_secs)
    : graph_(std::move(graph)),
      scaffold_(scaffold ? std::move(scaffold) : std::make_shared<Scaffold>()),
      max_wait_secs_(max_wait_secs) {}

std::unique_ptr<Session> WorkerSessionCreator::create_session() {
  scaffold_->finalize(*graph_);
  log(LogLevel::kInfo, "Graph was finalized.");
  auto session = std::make_unique<Session>(graph_);
  session->run({scaffold_->local_init_op}, scaffold_->local_init_feeds);
  const std::string missing = not_initialized(*session);
  if (missing.empty()) return session;
  throw Error(Code::kDeadlineExceeded,
              str_cat("Session was not ready after waiting ", max_wait_secs_, " secs."),
              {str_cat("Variables not initialized: ", missing, "."),
               "Sessions do not share variables here: use `is_chief = TRUE`."});
}

}  // namespace runhooks
