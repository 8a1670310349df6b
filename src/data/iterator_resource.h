// What lives here: the iterator that a session keeps for an operation IteratorV2.
// Who may use it: data only.
// What it must not know: particular datasets, R.
#pragma once

#include <memory>
#include <string>

#include "data/dataset.h"

namespace runhooks {

class IteratorResource : public Resource {
 public:
  std::shared_ptr<DatasetIterator> iterator;
};

// One that is at the first element where the session has none yet.
inline IteratorResource& iterator_resource(ResourceManager& resources,
                                           const std::string& op_name,
                                           const Dataset& dataset) {
  return resources.get_or_create<IteratorResource>(op_name, [&dataset] {
    auto made = std::make_unique<IteratorResource>();
    made->iterator = dataset.make_iterator();
    return made;
  });
}

}  // namespace runhooks
