#include "data/prefetch_iterator.h"

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "base/block_signals.h"
#include "base/denormals.h"
#include "base/helping_queue.h"
#include "base/interrupt.h"
#include "base/threads.h"
#include "data/element_or_error.h"
#include "data/elements.h"
#include "data/one_input_dataset.h"

namespace runhooks {

namespace {
// Interval between checks for Ctrl-C while a thread waits.
constexpr std::chrono::milliseconds kPollInterval(50);
}  // namespace

// State shared by the workers and the consumer. The life of an item:
//
//   input_ --read()--> in items_, in progress --compute()--> in items_, done --next()--> consumer
//
// A worker reads an item from the input and computes its result. If the input calls R code, the
// consumer reads the items, and the workers take them from pending_. items_ keeps the order of the
// input; its size is limited by the capacity. Only one thread at a time reads (is_reading_).
class PrefetchIterator::Queue {
 public:
  Queue(std::shared_ptr<const Dataset> dataset,
        std::unique_ptr<DatasetIterator> input,
        const Options& options,
        Work work)
      : dataset_(std::move(dataset)),
        input_(std::move(input)),
        options_(options),
        work_(std::move(work)),
        helping_queue_([](void* queue) { static_cast<Queue*>(queue)->wake(); }, this) {}
  ~Queue() { stop(); }
  Queue(const Queue&) = delete;
  Queue& operator=(const Queue&) = delete;

  bool next(ElementSink& sink);
  void rewind();
  NamedTensors save() const;
  void restore(const NamedTensors& state);
  int64_t rows_seen() const { return rows_seen_; }
  int64_t epoch() const { return epoch_; }
  bool has_threads() const { return !threads_.empty(); }

 private:
  struct Item : ElementOrError {
    bool is_done = false;
    int64_t rows_seen = 0, epoch = 0;
  };
  using ItemPtr = std::shared_ptr<Item>;

  // Waits until all workers are idle, and keeps them idle while it exists.
  class QuiesceScope;

  void start();
  void stop();
  void work(size_t worker);
  // Announces progress to waiting threads.
  void notify_progress() {
    progress_count_.fetch_add(1, std::memory_order_release);
    changed_.notify_all();
  }
  // Takes the lock first, so that a thread that is about to sleep does not miss the notification.
  void wake() {
    { const std::lock_guard<std::mutex> lock(mutex_); }
    changed_.notify_all();
  }
  void wait_for_progress(std::unique_lock<std::mutex>& lock);
  bool may_read() const;
  // Reads an item from the input with the lock released; NULL at the end of the input. An error of
  // the input is stored in the item.
  ItemPtr read(std::unique_lock<std::mutex>& lock);
  void compute(size_t worker, Item& item) const;
  void complete_inline(Item& item) const;
  void finish(size_t worker, const ItemPtr& item, std::unique_lock<std::mutex>& lock);
  void fill_queue(std::unique_lock<std::mutex>& lock);
  bool next_without_workers(ElementSink& sink);
  bool deliver(ElementSink& sink, Item& item);

  std::shared_ptr<const Dataset> dataset_;
  std::unique_ptr<DatasetIterator> input_;
  Options options_;
  Work work_;
  mutable std::mutex mutex_;
  mutable std::condition_variable changed_;
  std::deque<ItemPtr> items_;  // in order; finished or in progress
  // Items of items_ that no worker has claimed. save() computes them on its own thread.
  mutable std::deque<ItemPtr> pending_;
  bool at_end_ = false, is_reading_ = false;
  std::atomic<bool> is_stopping_{false};
  mutable int num_quiesce_scopes_ = 0;
  int num_busy_ = 0;
  int64_t rows_seen_ = 0, epoch_ = 0;
  std::atomic<unsigned> progress_count_{0};
  HelpingQueue helping_queue_;  // work that a blocked consumer may help with
  std::vector<std::thread> threads_;
};

class PrefetchIterator::Queue::QuiesceScope {
 public:
  explicit QuiesceScope(const Queue& queue) : queue_(queue), lock_(queue.mutex_) {
    ++queue_.num_quiesce_scopes_;
    while (queue_.num_busy_ > 0) wait();
  }
  std::unique_lock<std::mutex>& lock() { return lock_; }
  ~QuiesceScope() { end(); }

 private:
  // Checks for Ctrl-C regularly, because an element may take very long.
  void wait() {
    queue_.changed_.wait_for(lock_, kPollInterval);
    if (queue_.num_busy_ == 0) return;
    lock_.unlock();
    try {
      check_interrupt();
    } catch (...) {
      lock_.lock();
      end();
      throw;
    }
    lock_.lock();
  }
  void end() {
    --queue_.num_quiesce_scopes_;
    queue_.changed_.notify_all();
  }

  const Queue& queue_;
  std::unique_lock<std::mutex> lock_;
};

void PrefetchIterator::Queue::start() {
  if (!threads_.empty() || is_stopping_) return;
  const BlockSignalsScope blocked;
  for (size_t i = 0; i < options_.workers; ++i) {
    try {
      threads_.emplace_back([this, i] { work(i); });
    } catch (const std::system_error&) {
      break;  // the system cannot create more threads
    }
  }
}

void PrefetchIterator::Queue::stop() {
  if (threads_.empty()) return;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    is_stopping_ = true;
  }
  changed_.notify_all();
  for (std::thread& thread : threads_) thread.join();
  threads_.clear();
}

bool PrefetchIterator::Queue::may_read() const {
  // After an error, reading continues only when the consumer has received the error.
  const bool has_failed = !items_.empty() && items_.back()->error;
  return !at_end_ && !has_failed && !is_reading_ && items_.size() < options_.capacity;
}

PrefetchIterator::Queue::ItemPtr PrefetchIterator::Queue::read(std::unique_lock<std::mutex>& lock) {
  auto item = std::make_shared<Item>();
  bool has_element = false;
  is_reading_ = true;
  lock.unlock();
  try {
    has_element = next_or_error(*input_, *item);
  } catch (const ForeignUnwind&) {
    lock.lock();
    is_reading_ = false;
    throw;
  }
  item->rows_seen = input_->rows_seen();
  item->epoch = input_->epoch();
  lock.lock();
  is_reading_ = false;
  if (!has_element) {
    at_end_ = true;
    return nullptr;
  }
  item->is_done = item->error != nullptr;
  items_.push_back(item);
  return item;
}

void PrefetchIterator::Queue::complete_inline(Item& item) const {
  if (item.is_done) return;
  compute(0, item);
  item.is_done = true;
}

void PrefetchIterator::Queue::compute(size_t worker, Item& item) const {
  try {
    item.components = work_(worker, item.components);
  } catch (const ForeignUnwind&) {
    throw;  // interrupted; the item may be retried
  } catch (...) {
    item.error = std::current_exception();
  }
}

void PrefetchIterator::Queue::finish(size_t worker,
                                     const ItemPtr& item,
                                     std::unique_lock<std::mutex>& lock) {
  if (item->is_done) return;
  lock.unlock();
  compute(worker, *item);
  lock.lock();
  item->is_done = true;
}

void PrefetchIterator::Queue::work(size_t worker) {
  const SingleThreaded single_threaded;
  const FlushDenormals flush_denormals;
  const HelpingQueue::ProducerScope producer(helping_queue_);
  set_cancel_flag(&is_stopping_);
  std::unique_lock<std::mutex> lock(mutex_);
  while (true) {
    changed_.wait(lock, [this] {
      const bool has_work = !pending_.empty() || (!options_.reads_on_caller && may_read());
      return is_stopping_ || (num_quiesce_scopes_ == 0 && has_work);
    });
    if (is_stopping_) return;
    ++num_busy_;
    ItemPtr item;
    if (!pending_.empty()) {
      item = pending_.front();
      pending_.pop_front();
    } else {
      item = read(lock);
      changed_.notify_all();  // the input is free for the next read
    }
    if (item) finish(worker, item, lock);
    --num_busy_;
    notify_progress();
  }
}

void PrefetchIterator::Queue::fill_queue(std::unique_lock<std::mutex>& lock) {
  while (options_.reads_on_caller && may_read()) {
    const ItemPtr item = read(lock);
    if (item && !item->is_done) pending_.push_back(item);
    changed_.notify_all();
  }
}

bool PrefetchIterator::Queue::deliver(ElementSink& sink, Item& item) {
  rows_seen_ = item.rows_seen;
  epoch_ = item.epoch;
  if (item.error) std::rethrow_exception(item.error);
  sink.emit(std::move(item.components));
  return true;
}

bool PrefetchIterator::Queue::next_without_workers(ElementSink& sink) {
  std::unique_lock<std::mutex> lock(mutex_);
  if (items_.empty() && !at_end_) read(lock);
  if (items_.empty()) return false;
  const ItemPtr item = items_.front();
  complete_inline(*item);
  items_.pop_front();
  lock.unlock();
  return deliver(sink, *item);
}

void PrefetchIterator::Queue::wait_for_progress(std::unique_lock<std::mutex>& lock) {
  const unsigned observed = progress_count_.load();
  lock.unlock();
  helping_queue_.help(progress_count_, observed);
  lock.lock();
  helping_queue_.begin_sleep();
  if (progress_count_.load() == observed && !helping_queue_.has_task())
    changed_.wait_for(lock, kPollInterval);
  helping_queue_.end_sleep();
  lock.unlock();
  check_interrupt();
  lock.lock();
}

bool PrefetchIterator::Queue::next(ElementSink& sink) {
  if (in_forked_child()) return next_without_workers(sink);
  start();
  if (threads_.empty()) return next_without_workers(sink);
  std::unique_lock<std::mutex> lock(mutex_);
  while (true) {
    fill_queue(lock);
    if (!items_.empty() && items_.front()->is_done) break;
    if (items_.empty() && at_end_ && !is_reading_) return false;
    wait_for_progress(lock);
  }
  const ItemPtr item = items_.front();
  items_.pop_front();
  lock.unlock();
  changed_.notify_all();
  return deliver(sink, *item);
}

// Reading advances random streams of the input, but the number of prefetched elements depends on
// timing. So the queue is filled before the input is rewound, and the streams are then always at
// the same position.
void PrefetchIterator::Queue::rewind() {
  QuiesceScope pause(*this);
  while (may_read()) read(pause.lock());
  items_.clear();
  pending_.clear();
  input_->rewind();
  at_end_ = false;
}

NamedTensors PrefetchIterator::Queue::save() const {
  const QuiesceScope pause(*this);
  while (!pending_.empty()) {
    complete_inline(*pending_.front());
    pending_.pop_front();
  }
  NamedTensors state = {{"is_over", Tensor::scalar(at_end_)}};
  std::vector<const ElementOrError*> buffered;
  std::vector<int64_t> rows_seen = {rows_seen_}, epochs = {epoch_};
  for (const ItemPtr& item : items_) {
    rows_seen.push_back(item->rows_seen);
    epochs.push_back(item->epoch);
    buffered.push_back(item.get());
  }
  serialize_buffered(state, "made/", buffered, 1);
  state["rows_seen"] = Tensor::vector(rows_seen);
  state["epoch"] = Tensor::vector(epochs);
  add_subtree(state, "input/", input_->save());
  return state;
}

void PrefetchIterator::Queue::restore(const NamedTensors& state) {
  const QuiesceScope pause(*this);
  const auto capacity = static_cast<int64_t>(options_.capacity);
  std::vector<ElementOrError> buffered =
      deserialize_buffered(state, "made/", *dataset_, capacity, 1);
  const std::vector<int64_t> rows_seen = state_counts(state, "rows_seen"),
                             epochs = state_counts(state, "epoch");
  const bool at_end = state_flag(state, "is_over");
  const bool is_valid =
      rows_seen.size() == buffered.size() + 1 && epochs.size() == rows_seen.size();
  if (!is_valid) {
    fail(Code::kDataLoss, "The saved state of queued elements is damaged.");
  }
  input_->restore(subtree(state, "input/"));
  items_.clear();
  pending_.clear();
  for (size_t i = 0; i < buffered.size(); ++i) {
    auto item = std::make_shared<Item>();
    static_cast<ElementOrError&>(*item) = std::move(buffered[i]);
    item->is_done = true;
    item->rows_seen = rows_seen[i + 1];
    item->epoch = epochs[i + 1];
    items_.push_back(item);
  }
  rows_seen_ = rows_seen[0];
  epoch_ = epochs[0];
  at_end_ = at_end;
}

// --- public interface

PrefetchIterator::PrefetchIterator(std::shared_ptr<const Dataset> dataset,
                                   std::unique_ptr<DatasetIterator> input,
                                   const Options& options,
                                   Work work)
    : queue_(std::make_unique<Queue>(
          std::move(dataset), std::move(input), options, std::move(work))) {}

// In a forked child, the worker threads do not exist. The destructor of the queue could wait for
// them forever, so the queue is leaked.
PrefetchIterator::~PrefetchIterator() {
  if (is_in_forked_child()) static_cast<void>(queue_.release());
}

bool PrefetchIterator::is_in_forked_child() const {
  return in_forked_child() && queue_->has_threads();
}

PrefetchIterator::Queue& PrefetchIterator::queue() const {
  if (is_in_forked_child()) {
    fail(Code::kFailedPrecondition,
         "An iterator with background threads cannot continue after fork(): create "
         "it in the new process.");
  }
  return *queue_;
}

bool PrefetchIterator::next(ElementSink& sink) { return queue().next(sink); }
void PrefetchIterator::rewind() { queue().rewind(); }
NamedTensors PrefetchIterator::save() const { return queue().save(); }
void PrefetchIterator::restore(const NamedTensors& state) { queue().restore(state); }
int64_t PrefetchIterator::rows_seen() const { return queue_->rows_seen(); }
int64_t PrefetchIterator::epoch() const { return queue_->epoch(); }

}  // namespace runhooks
