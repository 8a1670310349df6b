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
    if (resource) progress.wait_seconds += ticks_to_seconds(resource->wait_ticks);
    if (is_first && resource && resource->iterator) {
      progress.rows = resource->iterator->rows_seen();
      progress.epoch = resource->iterator->epoch() + 1;
    }
    is_first = false;
  }
  return progress;
}

void InputTimer::start(Session& session) {
  start_progress_ = input_progress(session);
  start_seconds_ = now_seconds();
}

// Returns the progress since start(). A session that is recreated after a failure counts from 0
// again, which makes differences negative; these are reported as 0.
InputTimer::Reading InputTimer::read(Session& session) const {
  const InputProgress current = input_progress(session);
  Reading reading;
  reading.is_known = current.is_known;
  reading.rows = static_cast<double>(std::max<int64_t>(current.rows - start_progress_.rows, 0));
  reading.seconds = now_seconds() - start_seconds_;
  reading.waited = std::max(current.wait_seconds - start_progress_.wait_seconds, 0.0);
  return reading;
}

}  // namespace runhooks
