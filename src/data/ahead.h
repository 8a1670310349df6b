// What lives here: Ahead, an iterator whose threads make elements before they are asked for: prefetching, parallel maps.
// Who may use it: data.
// What it must not know: where elements come from, R.
#pragma once

#include <atomic>
#include <condition_variable>
#include <deque>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "data/dataset.h"

namespace runhooks {

// Elements come in the order of the input, whoever is done first. A state holds those that are made
// and not yet asked for; it is taken when no thread is at work. In a child of fork(), where threads
// do not survive, the caller does all itself.
class Ahead : public DatasetIterator {
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
  Ahead(std::shared_ptr<const Dataset> dataset,
        std::unique_ptr<DatasetIterator> input,
        const Options& options,
        Work work);
  ~Ahead() override;
  Ahead(const Ahead&) = delete;
  Ahead& operator=(const Ahead&) = delete;

  // An error of the input or the work comes in its place of the order.
  bool next(ElementSink& sink) override;
  void rewind() override;
  NamedTensors save() const override;
  void restore(const NamedTensors& state) override;
  // Of the elements that were asked for.
  int64_t rows_seen() const override { return rows_seen_; }
  int64_t epoch() const override { return epoch_; }

 private:
  struct Item {
    Components components;
    std::exception_ptr error;
    bool is_done = false;
    int64_t rows_seen = 0, epoch = 0;
  };
  using ItemPtr = std::shared_ptr<Item>;

  // While one lives no worker is at work, and none begins.
  class Pause;

  std::unique_lock<std::mutex> lock() const;
  void start();
  void stop();
  void work(size_t worker);
  bool may_read() const;
  // Takes an element of the input, with the lock held; NULL at its end or where it failed.
  ItemPtr read(std::unique_lock<std::mutex>& lock);
  void make(size_t worker, Item& item) const;
  void finish_alone(Item& item) const;
  void finish(size_t worker, const ItemPtr& item, std::unique_lock<std::mutex>& lock);
  void read_for_workers(std::unique_lock<std::mutex>& lock);
  bool next_alone(ElementSink& sink);
  bool deliver(ElementSink& sink, Item& item);

  std::shared_ptr<const Dataset> dataset_;
  std::unique_ptr<DatasetIterator> input_;
  Options options_;
  Work work_;
  mutable std::mutex mutex_;
  mutable std::condition_variable changed_;
  std::deque<ItemPtr> items_;  // in order, made or being made
  // Those among them that no worker has taken yet; who saves makes them.
  mutable std::deque<ItemPtr> unmade_;
  bool is_over_ = false, is_reading_ = false;
  std::atomic<bool> stops_{false};
  mutable int pauses_ = 0;
  int busy_ = 0;
  int64_t rows_seen_ = 0, epoch_ = 0;
  std::vector<std::thread> threads_;
};

}  // namespace runhooks
