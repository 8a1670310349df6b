#include "data/input_progress.h"

#include "data/dataset.h"

namespace runhooks {

InputProgress input_progress(Session& session) {
  InputProgress progress;
  const std::vector<CollectionItem> iterators = session.graph().collection("iterators");
  if (iterators.empty()) return progress;
  progress.is_known = true;
  const std::string& name = std::get<Output>(iterators.front()).op->name();
  if (const DatasetIterator* iterator = find_iterator(session.resources(), name)) {
    progress.rows = iterator->rows_seen();
    progress.epoch = iterator->epoch() + 1;
  }
  return progress;
}

}  // namespace runhooks
