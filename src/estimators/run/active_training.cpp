#include "estimators/run/active_training.h"

#include <algorithm>
#include <vector>

#include "io/files/atomic_file.h"
#include "training/saved_step.h"
#include "training/saver.h"

namespace runhooks {

namespace {

std::vector<ActiveTraining*>& running() {
  static auto* all = new std::vector<ActiveTraining*>;
  return *all;
}

// Returns the innermost training in the folder, because a hook may train the same model again.
ActiveTraining* find_training(const std::string& folder) {
  for (auto training = running().rbegin(); training != running().rend(); ++training) {
    if ((*training)->trains(folder)) return *training;
  }
  return nullptr;
}

}  // namespace

ActiveTraining::ActiveTraining(std::string folder, MonitoredSession& session)
    : folder_(std::move(folder)), session_(session) {
  running().push_back(this);
}

ActiveTraining::~ActiveTraining() {
  auto& trainings = running();
  trainings.erase(std::remove(trainings.begin(), trainings.end(), this), trainings.end());
}

std::string ActiveTraining::save_snapshot(const std::string& folder, const std::string& scratch) {
  const ActiveTraining* training = find_training(folder);
  if (!training) return "";
  Session& session = training->session_.session();
  const int64_t step = *session.value(*global_step(session.graph())).data<int64_t>();
  if (saved_global_step(folder, -1) == step) return "";
  Saver saver;
  saver.build(session.graph());
  return saver.save(session, join_path(scratch, "model.ckpt"), step, /*with_graph=*/false);
}

void ActiveTraining::keep_open(const std::string& folder, std::shared_ptr<EventFileWriter> file) {
  ActiveTraining* training = find_training(folder);
  if (!training) return;
  auto& open = training->open_;
  if (std::find(open.begin(), open.end(), file) == open.end()) open.push_back(std::move(file));
}

bool ActiveTraining::is_in(const std::string& folder) { return find_training(folder) != nullptr; }

bool ActiveTraining::trains(const std::string& folder) const {
  return session_.has_session() && is_same_path(folder_, folder);
}

}  // namespace runhooks
