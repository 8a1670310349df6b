// PrefetchIterator: produces elements ahead of the consumer on worker threads, for prefetching and
// parallel maps.
#pragma once

#include <functional>
#include <memory>

#include "data/dataset.h"

namespace runhooks {

// Elements keep the input order regardless of the order in which workers finish. Saving waits until
// all workers are idle and includes elements that were produced but not consumed. In a child of
// fork(), where threads do not survive, the caller does all the work.
class PrefetchIterator : public DatasetIterator {
 public:
  // Computes an element from an element of the input; `worker` is the index of the worker thread.
  using Work = std::function<Components(size_t worker, const Components& element)>;
  struct Options {
    size_t workers = 1;
    size_t capacity = 1;  // maximum number of elements that are done or in progress
    // The consumer's thread reads the input, because the input calls R code.
    bool reads_on_caller = false;
  };
  // `dataset` is the dataset whose elements are produced.
  PrefetchIterator(std::shared_ptr<const Dataset> dataset,
                   std::unique_ptr<DatasetIterator> input,
                   const Options& options,
                   Work work);
  ~PrefetchIterator() override;

  // An error of the input or of `work` is raised in place of the element that caused it.
  bool next(ElementSink& sink) override;
  void rewind() override;
  NamedTensors save() const override;
  void restore(const NamedTensors& state) override;
  // Counts only the rows of elements that next() has returned.
  int64_t rows_seen() const override;
  int64_t epoch() const override;

 private:
  class Queue;
  bool is_in_forked_child() const;
  Queue& queue() const;

  std::unique_ptr<Queue> queue_;
};

}  // namespace runhooks
