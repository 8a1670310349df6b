// Rebinds the iterator of a reused session to another dataset.
#pragma once

#include <memory>

#include "data/dataset.h"

namespace runhooks {

// Returns the dataset with which sessions start this iterator; NULL if an initializer sets it.
std::shared_ptr<const Dataset> dataset_of(const Output& iterator);
// Restarts the iterator at the first element of another dataset of the same types and shapes.
void rebind_iterator(const Output& iterator,
                     std::shared_ptr<const Dataset> dataset,
                     ResourceManager& resources);
// Removes the dataset from the graph and the session, so that its memory can be freed. Returns the
// mean size of an element in bytes.
uint64_t release_dataset(const Output& iterator, ResourceManager& resources);

}  // namespace runhooks
