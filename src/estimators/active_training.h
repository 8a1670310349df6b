// What lives here: which folders a model is being trained in at this moment, and by which session.
// Who may use it: estimators, the bindings.
// What it must not know: any particular model or hook, R.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "io/events/event_file.h"
#include "monitored/monitored_session.h"

namespace runhooks {

// While one lives the session trains the model of the folder: what a hook asks of that model is
// answered by the values of this moment, not by those of an older checkpoint.
class ActiveTraining {
 public:
  ActiveTraining(std::string folder, MonitoredSession& session);
  ~ActiveTraining();
  ActiveTraining(const ActiveTraining&) = delete;
  ActiveTraining& operator=(const ActiveTraining&) = delete;

  // TRUE where a session that trains in the folder has values.
  static bool is_in(const std::string& folder);
  // Writes a checkpoint of this moment into `scratch` and returns its path; "" where no session
  // trains in `folder`, or its newest checkpoint is of the step at hand.
  static std::string save_snapshot(const std::string& folder, const std::string& scratch);
  // The evaluations of a training go into one file of events, as long as it runs.
  static void keep_open(const std::string& folder, std::shared_ptr<EventFileWriter> file);
  bool trains(const std::string& folder) const;

 private:
  std::string folder_;
  MonitoredSession& session_;
  std::vector<std::shared_ptr<EventFileWriter>> open_;
};

}  // namespace runhooks
