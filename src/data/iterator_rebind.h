// What lives here: other rows for an iterator of a session that serves several loops.
// Who may use it: estimators.
// What it must not know: particular sources and transformations, models, R.
#pragma once

#include <memory>

#include "data/dataset.h"

namespace runhooks {

// What the iterator with this handle begins with by itself; NULL where that is nothing.
std::shared_ptr<const Dataset> dataset_of(const Output& iterator);
// The iterator begins with the first element of another dataset of the same types and shapes.
void rebind_iterator(const Output& iterator,
                 std::shared_ptr<const Dataset> dataset,
                 ResourceManager& resources);
// The data go, from the graph and from the session. Returns how many bytes an element had, in the
// mean.
uint64_t release_dataset(const Output& iterator, ResourceManager& resources);

}  // namespace runhooks
