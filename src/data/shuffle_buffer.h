// Shuffle buffers: storage of the elements from which a shuffle draws.
#pragma once

#include <algorithm>
#include <vector>

#include "data/elements.h"
#include "data/packed_row_cache.h"

namespace runhooks {

constexpr int64_t kNoSlot = -1;

// A step of a shuffle: the slot that gets the next element that was read, then the slot from which
// an element is drawn. Each may be kNoSlot.
struct ShuffleMove {
  int64_t stored, drawn;
};

// All buffers (BufferedRows, BufferedElements and BufferedBlocks) have these methods:
//   read(input, n)             reads up to `n` elements; returns their number, 0 at the end
//   slot_for(i)                returns the slot for the i-th element that was just read
//   free(slot)                 releases the slot of a drawn element
//   move(moves)                performs these steps in order
//   put_one(), put_stacked()   emit the drawn elements

// Buffers only row numbers, for elements that are rows of a table. The slot of an element is its
// row number.
class BufferedRows {
 public:
  explicit BufferedRows(const Dataset& dataset) : table_(*dataset.row_table()) {}
  int64_t read(DatasetIterator& input, int64_t n) {
    numbers_.resize(static_cast<size_t>(n));
    const int64_t count = input.next_rows(n, numbers_.data());
    if (row_cache_) {
      row_cache_->insert(numbers_.data(), count);
    } else {
      table_.prefetch(numbers_.data(), count);
    }
    return count;
  }
  // Caches the rows that are in the buffer, which has this size.
  void enable_row_cache(int64_t buffer_size) { row_cache_ = table_.make_row_cache(buffer_size); }
  const PackedRowCache* row_cache() const { return row_cache_.get(); }
  int64_t slot_for(int64_t i) const { return numbers_[static_cast<size_t>(i)]; }
  void free(int64_t) {}
  void move(const std::vector<ShuffleMove>& moves) {
    for (const ShuffleMove& each : moves) {
      num_buffered_rows_ += (each.stored != kNoSlot) - (each.drawn != kNoSlot);
      if (each.drawn != kNoSlot) drawn_.push_back(each.drawn);
    }
  }
  void put_one(ElementSink& sink) {
    table_.put(drawn_[0], sink);
    drawn_.clear();
  }
  void put_stacked(ElementSink& sink) {
    table_.put_stacked(drawn_.data(), static_cast<int64_t>(drawn_.size()), sink);
    drawn_.clear();
  }
  // Writes the row numbers of drawn elements.
  void put_numbers(int64_t* to) {
    std::copy(drawn_.begin(), drawn_.end(), to);
    drawn_.clear();
  }
  void clear_drawn() { drawn_.clear(); }
  void clear() { num_buffered_rows_ = 0; }
  int64_t num_buffered_rows() const { return num_buffered_rows_; }
  NamedTensors save(const std::vector<int64_t>& buffered) const {
    return {{"numbers", Tensor::vector(buffered)}};
  }
  // Returns the slots of the restored elements. Throws if there are more than `buffer_size`.
  std::vector<int64_t> restore(const NamedTensors& state, int64_t buffer_size);

 private:
  const RowTable& table_;
  std::shared_ptr<PackedRowCache> row_cache_;
  std::vector<int64_t> numbers_, drawn_;
  int64_t num_buffered_rows_ = 0;
};

// Allocates slots. Also stores how many input rows the element in each slot took.
class SlotPool {
 public:
  int64_t allocate() {
    if (free_.empty()) return size_++;
    const int64_t slot = free_.back();
    free_.pop_back();
    return slot;
  }
  void free(int64_t slot) { free_.push_back(slot); }
  int64_t size() const { return size_; }
  void insert(int64_t slot, int64_t rows) {
    if (static_cast<int64_t>(rows_.size()) < size_) rows_.resize(static_cast<size_t>(size_));
    rows_[static_cast<size_t>(slot)] = rows;
    num_buffered_rows_ += rows;
  }
  void erase(int64_t slot) { num_buffered_rows_ -= rows_[static_cast<size_t>(slot)]; }
  int64_t num_buffered_rows() const { return num_buffered_rows_; }
  // Saves how many input rows the elements in these slots took. restored() creates a pool in which
  // these slots are numbered from 0 on.
  void save(const std::vector<int64_t>& slots, NamedTensors& state) const;
  static SlotPool restored(const NamedTensors& state, int64_t n, int64_t buffer_size);
  std::vector<int64_t> all_slots() const;
  void clear() { *this = SlotPool(); }

 private:
  std::vector<int64_t> free_, rows_;
  int64_t size_ = 0, num_buffered_rows_ = 0;
};

class BufferedElements {
 public:
  explicit BufferedElements(const Dataset& dataset) : dataset_(dataset) {}
  int64_t read(DatasetIterator& input, int64_t n);
  int64_t slot_for(int64_t) { return slots_.allocate(); }
  void free(int64_t slot) { slots_.free(slot); }
  void move(const std::vector<ShuffleMove>& moves);
  void put_one(ElementSink& sink);
  void put_stacked(ElementSink& sink);
  void clear_drawn() { drawn_.clear(); }
  void clear() {
    slots_.clear();
    elements_.clear();
  }
  int64_t num_buffered_rows() const { return slots_.num_buffered_rows(); }
  NamedTensors save(const std::vector<int64_t>& buffered) const;
  std::vector<int64_t> restore(const NamedTensors& state, int64_t buffer_size);

 private:
  const Dataset& dataset_;
  SlotPool slots_;
  Components read_;  // the last element read
  int64_t rows_read_ = 0;
  std::vector<Components> elements_, drawn_;
};

}  // namespace runhooks
