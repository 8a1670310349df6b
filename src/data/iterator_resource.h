// IteratorResource: a session's iterator for an IteratorV2 operation.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "data/dataset.h"

namespace runhooks {

// The iterator is NULL until begin() is called.
class IteratorResource : public Resource {
 public:
  const char* kind() const override { return "iterator"; }
  // Replaces the iterator by a new one, which starts at the first element of the dataset.
  void begin(std::shared_ptr<const Dataset> new_dataset, const Graph& graph) {
    check_idle();
    IteratorContext context(graph);
    std::shared_ptr<DatasetIterator> new_iterator = new_dataset->iterator(context);
    if (restore_on_start) {
      if (auto restored = restore_on_start(new_dataset)) new_iterator = std::move(restored);
      restore_on_start = nullptr;
    }
    iterator = std::move(new_iterator);
    dataset = std::move(new_dataset);
  }

  // Throws if the iterator is producing an element. An R function of the dataset may run any code,
  // but a use of the iterator that called it would deadlock.
  void check_idle() const {
    if (!is_reading_) return;
    fail(Code::kFailedPrecondition,
         "The iterator is producing an element: its generator or function cannot read, "
         "save, restore or initialize it.");
  }
  bool read(ElementSink& sink) {
    check_idle();
    is_reading_ = true;
    struct ResetFlag {
      bool& is_reading;
      ~ResetFlag() { is_reading = false; }
    } const reset{is_reading_};
    if (!iterator->next(sink)) return false;
    ++num_elements;
    return true;
  }

  std::shared_ptr<const Dataset> dataset;
  std::shared_ptr<DatasetIterator> iterator;
  // Set if a position was restored before the dataset was known; begin() then calls it with the
  // dataset. Returns an iterator at the restored position, or NULL to start at the first element.
  std::function<std::shared_ptr<DatasetIterator>(const std::shared_ptr<const Dataset>&)>
      restore_on_start;
  // Time that steps of this session have waited for elements.
  int64_t wait_ticks = 0;
  int64_t num_elements = 0;  // number of elements read

 private:
  bool is_reading_ = false;
};

// Returns the dataset of an IteratorV2 operation; NULL if an initializer sets it when it runs.
inline std::shared_ptr<const Dataset> dataset_of(const Operation& op) {
  return std::static_pointer_cast<const Dataset>(op.payload);
}

inline IteratorResource& iterator_resource(ResourceManager& resources, const Operation& op) {
  return resources.get_or_create<IteratorResource>(op.name(), [&] {
    auto resource = std::make_unique<IteratorResource>();
    if (const auto dataset = dataset_of(op)) resource->begin(dataset, op.graph());
    return resource;
  });
}

}  // namespace runhooks
