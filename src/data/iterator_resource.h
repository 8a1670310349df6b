// What lives here: the iterator that a session keeps for an operation IteratorV2.
// Who may use it: data only.
// What it must not know: particular datasets, R.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "data/dataset.h"

namespace runhooks {

// Without an iterator until it is initialized.
class IteratorResource : public Resource {
 public:
  const char* kind() const override { return "iterator"; }
  // At the first element of the dataset.
  void begin(std::shared_ptr<const Dataset> of, const Graph& graph) {
    check_idle();
    IteratorContext context(graph);
    std::shared_ptr<DatasetIterator> made = of->iterator(context);
    if (take_up) {
      if (auto restored = take_up(of)) made = std::move(restored);
      take_up = nullptr;
    }
    iterator = std::move(made);
    dataset = std::move(of);
  }

  // Who makes an element, a generator or a function of the embedding language, may call whatever it
  // likes; of the iterator that it is a part of it would wait for itself.
  void check_idle() const {
    if (!is_reading_) return;
    fail(Code::kFailedPrecondition,
         "The iterator is making an element: a generator or a function of its dataset cannot read, "
         "save, restore or begin it meanwhile.");
  }
  bool read(ElementSink& sink) {
    check_idle();
    is_reading_ = true;
    struct End {
      bool& is_reading;
      ~End() { is_reading = false; }
    } const end{is_reading_};
    if (!iterator->next(sink)) return false;
    ++num_elements;
    return true;
  }

  std::shared_ptr<const Dataset> dataset;
  std::shared_ptr<DatasetIterator> iterator;
  // Where a position was restored before there was a dataset: the iterator that goes on there, or
  // NULL for one that begins anew. Asked by the next initializer.
  std::function<std::shared_ptr<DatasetIterator>(const std::shared_ptr<const Dataset>&)> take_up;
  // How long steps have waited for elements, in this session.
  int64_t waited_ticks = 0;
  int64_t num_elements = 0;  // that were read

 private:
  bool is_reading_ = false;
};

// The dataset of an operation IteratorV2 that begins by itself; NULL where it waits for an
// initializer.
inline std::shared_ptr<const Dataset> dataset_of(const Operation& op) {
  return std::static_pointer_cast<const Dataset>(op.payload);
}

inline IteratorResource& iterator_resource(ResourceManager& resources, const Operation& op) {
  return resources.get_or_create<IteratorResource>(op.name(), [&] {
    auto made = std::make_unique<IteratorResource>();
    if (const auto dataset = dataset_of(op)) made->begin(dataset, op.graph());
    return made;
  });
}

}  // namespace runhooks
