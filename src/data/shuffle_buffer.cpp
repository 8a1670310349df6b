#include "data/shuffle_buffer.h"

#include <numeric>

#include "data/one_input_dataset.h"

namespace runhooks {

namespace {

void check_fits(int64_t n, int64_t buffer_size) {
  if (n <= buffer_size) return;
  fail(Code::kDataLoss, n, " saved elements do not fit into a buffer of ", buffer_size, ".");
}

}  // namespace

// --- rows

std::vector<int64_t> BufferedRows::restore(const NamedTensors& state, int64_t buffer_size) {
  std::vector<int64_t> numbers = state_integers(state, "numbers");
  check_fits(static_cast<int64_t>(numbers.size()), buffer_size);
  const int64_t rows = table_.num_rows();
  for (const int64_t number : numbers) {
    if (number < 0 || number >= rows) {
      fail(Code::kDataLoss, "Invalid saved row ", number, " in ", rows, " rows of data.");
    }
  }
  drawn_.clear();
  num_buffered_rows_ = static_cast<int64_t>(numbers.size());
  return numbers;
}

// --- slots

void SlotPool::save(const std::vector<int64_t>& slots, NamedTensors& state) const {
  std::vector<int64_t> rows;
  for (const int64_t slot : slots) rows.push_back(rows_[static_cast<size_t>(slot)]);
  state["rows"] = Tensor::vector(rows);
}

SlotPool SlotPool::restored(const NamedTensors& state, int64_t n, int64_t buffer_size) {
  const std::vector<int64_t> rows = state_counts(state, "rows");
  if (static_cast<int64_t>(rows.size()) != n) {
    fail(Code::kDataLoss, "The saved state of a shuffle buffer is damaged.");
  }
  check_fits(n, buffer_size);
  SlotPool slots;
  slots.size_ = n;
  for (int64_t i = 0; i < n; ++i) {
    slots.insert(i, rows[static_cast<size_t>(i)]);
    check_state_count(slots.num_buffered_rows_, "rows");
  }
  return slots;
}

std::vector<int64_t> SlotPool::all_slots() const {
  std::vector<int64_t> numbers(static_cast<size_t>(size_));
  std::iota(numbers.begin(), numbers.end(), int64_t{0});
  return numbers;
}

// --- elements of any kind

int64_t BufferedElements::read(DatasetIterator& input, int64_t) {
  const int64_t before = input.rows_seen();
  ComponentsSink element;
  if (!input.next(element)) return 0;
  read_ = element.take();
  rows_read_ = input.rows_seen() - before;
  return 1;
}

void BufferedElements::move(const std::vector<ShuffleMove>& moves) {
  elements_.resize(static_cast<size_t>(slots_.size()));
  for (const ShuffleMove& each : moves) {
    if (each.stored != kNoSlot) {
      slots_.insert(each.stored, rows_read_);
      elements_[static_cast<size_t>(each.stored)] = std::move(read_);
    }
    if (each.drawn != kNoSlot) {
      slots_.erase(each.drawn);
      drawn_.push_back(std::move(elements_[static_cast<size_t>(each.drawn)]));
    }
  }
}

void BufferedElements::put_one(ElementSink& sink) {
  sink.emit(std::move(drawn_[0]));
  drawn_.clear();
}

void BufferedElements::put_stacked(ElementSink& sink) {
  runhooks::put_stacked(drawn_, sink);
  drawn_.clear();
}

NamedTensors BufferedElements::save(const std::vector<int64_t>& buffered) const {
  std::vector<const Components*> elements;
  for (const int64_t slot : buffered) elements.push_back(&elements_[static_cast<size_t>(slot)]);
  NamedTensors state;
  add_subtree(state, "buffer/", save_elements(elements));
  slots_.save(buffered, state);
  return state;
}

std::vector<int64_t> BufferedElements::restore(const NamedTensors& state, int64_t buffer_size) {
  std::vector<Components> elements =
      read_elements(subtree(state, "buffer/"), dataset_, buffer_size);
  slots_ = SlotPool::restored(state, static_cast<int64_t>(elements.size()), buffer_size);
  elements_ = std::move(elements);
  drawn_.clear();
  return slots_.all_slots();
}

}  // namespace runhooks
