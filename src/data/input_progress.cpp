#include "data/input_progress.h"

#include <algorithm>

#include "base/clock.h"
#include "base/ticks.h"
#include "data/iterator_resource.h"
#include "graph/collection_item.h"

namespace runhooks {

InputProgress input_progress(Session& session) {
  InputProgress progress;
  const auto iterators = collection_of<Output>(session.graph(), "iterators");
  if (iterators.empty()) return progress;
  progress.is_known = true;
  bool is_first = true;
  for (const Output& handle : iterators) {
    const std::string& name = handle.op->name();
    const auto* resource = session.resources().find<IteratorResource>(name);
    if (resource) progress.waited_seconds += seconds_of_ticks(resource->wait_ticks);
    if (is_first && resource && resource->iterator) {
      progress.rows = resource->iterator->rows_seen();
      progress.epoch = resource->iterator->epoch() + 1;
    }
    is_first = false;
  }
  return progress;
}

void InputTimer::start(Session& session) {
  before_ = input_progress(session);
  started_ = now_seconds();
}

// A session recreated after a failure restarts its counters, so a negative difference means
// unknown.
InputTimer::Reading InputTimer::read(Session& session) const {
  const InputProgress progress = input_progress(session);
  Reading reading;
  reading.is_known = progress.is_known;
  reading.rows = static_cast<double>(std::max<int64_t>(progress.rows - before_.rows, 0));
  reading.seconds = now_seconds() - started_;
  reading.waited = std::max(progress.waited_seconds - before_.waited_seconds, 0.0);
  return reading;
}

}  // namespace runhooks
