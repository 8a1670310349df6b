// What lives here: Ahead, an iterator whose threads make elements before they are asked for: prefetching, parallel maps.
// Who may use it: data.
// What it must not know: where elements come from, R.
#pragma once

#include <functional>
#include <memory>

#include "data/dataset.h"

namespace runhooks {

// Elements come in the order of the input, whoever is done first. A state holds those that are made
// and not yet asked for; it is taken when no thread is at work. In a child of fork(), where threads
// do not survive, the caller does all itself.
class PrefetchIterator : public DatasetIterator {
 public:
  // What worker number `worker` makes of an element of the input.
  using Work = std::function<Components(size_t worker, const Components& element)>;
  struct Options {
    size_t workers = 1;
    size_t capacity = 1;  // elements that are made or being made
    // The input calls the embedding language: the thread that asks for elements reads it.
    bool reads_on_caller = false;
  };
  // `dataset` is the one whose elements are made.
  PrefetchIterator(std::shared_ptr<const Dataset> dataset,
        std::unique_ptr<DatasetIterator> input,
        const Options& options,
        Work work);
  ~PrefetchIterator() override;

  // An error of the input or the work comes in its place of the order.
  bool next(ElementSink& sink) override;
  void rewind() override;
  NamedTensors save() const override;
  void restore(const NamedTensors& state) override;
  // Of the elements that were asked for.
  int64_t rows_seen() const override;
  int64_t epoch() const override;

 private:
  class Queue;
  bool is_of_other_process() const;
  Queue& queue() const;

  std::unique_ptr<Queue> queue_;
};

}  // namespace runhooks
