// ActiveTraining: the registry of running trainings, by model directory.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "io/events/event_file.h"
#include "monitored/monitored_session.h"

namespace runhooks {

// Registers the session for its lifetime. Calls from a hook (evaluate(), predict(), ...) then see
// the current weights instead of the last checkpoint.
class ActiveTraining {
 public:
  ActiveTraining(std::string folder, MonitoredSession& session);
  ~ActiveTraining();
  ActiveTraining(const ActiveTraining&) = delete;
  ActiveTraining& operator=(const ActiveTraining&) = delete;

  // Whether a training runs in `folder`.
  static bool is_in(const std::string& folder);
  // Writes a checkpoint of the current weights to the directory `scratch` and returns its path.
  // Returns "" if no training runs in `folder`, or if its newest checkpoint is up to date.
  static std::string save_snapshot(const std::string& folder, const std::string& scratch);
  // Keeps the event file of evaluations open until the training ends, so that they share one file.
  static void keep_open(const std::string& folder, std::shared_ptr<EventFileWriter> file);
  bool trains(const std::string& folder) const;

 private:
  std::string folder_;
  MonitoredSession& session_;
  std::vector<std::shared_ptr<EventFileWriter>> open_;
};

}  // namespace runhooks
