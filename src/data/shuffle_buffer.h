// Shuffle buffers: storage of the elements from which a shuffle draws.
#pragma once

#include <algorithm>
#include <vector>

#include "data/elements.h"
#include "data/packed_row_cache.h"

namespace runhooks {

// Interface of each kind of buffer:
//   read()     reads elements of the input; returns their number, 0 at its end
//   slot_for() the slot for element i of the ones just read
//   free()     releases the slot of a drawn element
//   move()     in order: stores element `in[i]`, draws `out[i]` (kNone: neither)
//   put_one(), put_stacked() emit the drawn elements
constexpr int64_t kNone = -1;

struct Move {
  int64_t in, out;
};

// Buffers only row numbers, for elements that are rows of a table.
class BufferedRows {
 public:
  explicit BufferedRows(const Dataset& dataset) : table_(*dataset.row_table()) {}
  int64_t read(DatasetIterator& input, int64_t n) {
    numbers_.resize(static_cast<size_t>(n));
    const int64_t got = input.next_rows(n, numbers_.data());
    if (near_) {
      near_->take(numbers_.data(), got);
    } else {
      table_.prefetch(numbers_.data(), got);
    }
    return got;
  }
  // Caches rows that wait in a buffer of this size.
  void enable_row_cache(int64_t buffer_size) { near_ = table_.make_row_cache(buffer_size); }
  const PackedRowCache* row_cache() const { return near_.get(); }
  int64_t slot_for(int64_t i) const { return numbers_[static_cast<size_t>(i)]; }
  void free(int64_t) {}
  void move(const std::vector<Move>& moves) {
    for (const Move& each : moves) {
      waiting_ += (each.in != kNone) - (each.out != kNone);
      if (each.out != kNone) drawn_.push_back(each.out);
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
  void clear() { waiting_ = 0; }
  int64_t num_buffered_rows() const { return waiting_; }
  NamedTensors save(const std::vector<int64_t>& waiting) const {
    return {{"numbers", Tensor::vector(waiting)}};
  }
  // Returns the slots of the restored elements, in a buffer of this size.
  std::vector<int64_t> restore(const NamedTensors& state, int64_t buffer_size);

 private:
  const RowTable& table_;
  std::shared_ptr<PackedRowCache> near_;
  std::vector<int64_t> numbers_, drawn_;
  int64_t waiting_ = 0;
};

// Slot allocator that also stores how many input rows each element took.
class SlotPool {
 public:
  int64_t slot_for() {
    if (free_.empty()) return size_++;
    const int64_t place = free_.back();
    free_.pop_back();
    return place;
  }
  void free(int64_t place) { free_.push_back(place); }
  int64_t size() const { return size_; }
  void insert(int64_t place, int64_t rows) {
    if (static_cast<int64_t>(rows_.size()) < size_) rows_.resize(static_cast<size_t>(size_));
    rows_[static_cast<size_t>(place)] = rows;
    waiting_ += rows;
  }
  void erase(int64_t place) { waiting_ -= rows_[static_cast<size_t>(place)]; }
  int64_t num_buffered_rows() const { return waiting_; }
  // Saves the row counts of these slots; restoring numbers the slots 0, 1, ...
  void save(const std::vector<int64_t>& places, NamedTensors& state) const;
  static SlotPool restored(const NamedTensors& state, int64_t n, int64_t buffer_size);
  std::vector<int64_t> all() const;
  void clear() { *this = SlotPool(); }

 private:
  std::vector<int64_t> free_, rows_;
  int64_t size_ = 0, waiting_ = 0;
};

class BufferedElements {
 public:
  explicit BufferedElements(const Dataset& dataset) : dataset_(dataset) {}
  int64_t read(DatasetIterator& input, int64_t n);
  int64_t slot_for(int64_t) { return places_.slot_for(); }
  void free(int64_t place) { places_.free(place); }
  void move(const std::vector<Move>& moves);
  void put_one(ElementSink& sink);
  void put_stacked(ElementSink& sink);
  void clear_drawn() { drawn_.clear(); }
  void clear() {
    places_.clear();
    elements_.clear();
  }
  int64_t num_buffered_rows() const { return places_.num_buffered_rows(); }
  NamedTensors save(const std::vector<int64_t>& waiting) const;
  std::vector<int64_t> restore(const NamedTensors& state, int64_t buffer_size);

 private:
  const Dataset& dataset_;
  SlotPool places_;
  Components read_;  // the last element read
  int64_t rows_read_ = 0;
  std::vector<Components> elements_, drawn_;
};

}  // namespace runhooks
