// What lives here: what waits in a shuffle's buffer, and what the kinds of it have in common.
// Who may use it: shuffle_dataset, other kinds of buffers.
// What it must not know: which element is drawn.
#pragma once

#include <algorithm>
#include <vector>

#include "data/elements.h"
#include "data/packed_row_cache.h"

namespace runhooks {

// Each kind has
//   read()     takes elements from the input, and returns how many; 0 at its end
//   begin_in() the number under which element i of these will wait
//   free()     that number has been drawn
//   move()     in turns: element `in[i]` comes to wait, `out[i]` is drawn (kNone: none of them)
//   put_one(), put_stacked() all that was drawn goes to a sink
constexpr int64_t kNone = -1;

struct Move {
  int64_t in, out;
};

// Of elements that are rows of a table only their numbers wait.
class BufferedRows {
 public:
  explicit BufferedRows(const Dataset& dataset) : table_(*dataset.row_table()) {}
  int64_t read(DatasetIterator& input, int64_t n) {
    numbers_.resize(static_cast<size_t>(n));
    const int64_t got = input.next_rows(n, numbers_.data());
    if (near_) {
      near_->take(numbers_.data(), got);
    } else {
      table_.expect(numbers_.data(), got);
    }
    return got;
  }
  // Keeps rows near while they wait in a buffer of this size.
  void enable_row_cache(int64_t buffer_size) { near_ = table_.make_row_cache(buffer_size); }
  const PackedRowCache* make_row_cache() const { return near_.get(); }
  int64_t begin_in(int64_t i) const { return numbers_[static_cast<size_t>(i)]; }
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
  // The drawn rows' numbers.
  void put_numbers(int64_t* to) {
    std::copy(drawn_.begin(), drawn_.end(), to);
    drawn_.clear();
  }
  void forget_drawn() { drawn_.clear(); }
  void clear() { waiting_ = 0; }
  int64_t rows_waiting() const { return waiting_; }
  NamedTensors save(const std::vector<int64_t>& waiting) const {
    return {{"numbers", Tensor::vector(waiting)}};
  }
  // The numbers under which they wait now, in a buffer of this size.
  std::vector<int64_t> restore(const NamedTensors& state, int64_t buffer_size);

 private:
  const RowTable& table_;
  std::shared_ptr<PackedRowCache> near_;
  std::vector<int64_t> numbers_, drawn_;
  int64_t waiting_ = 0;
};

// Places of elements, and how many rows the input has read for each.
class ElementPlaces {
 public:
  int64_t begin_in() {
    if (free_.empty()) return size_++;
    const int64_t place = free_.back();
    free_.pop_back();
    return place;
  }
  void free(int64_t place) { free_.push_back(place); }
  int64_t size() const { return size_; }
  void come(int64_t place, int64_t rows) {
    if (static_cast<int64_t>(rows_.size()) < size_) rows_.resize(static_cast<size_t>(size_));
    rows_[static_cast<size_t>(place)] = rows;
    waiting_ += rows;
  }
  void go(int64_t place) { waiting_ -= rows_[static_cast<size_t>(place)]; }
  int64_t rows_waiting() const { return waiting_; }
  // Of the state: the rows of these places, and back as places 0, 1, ... of a buffer.
  void save(const std::vector<int64_t>& places, NamedTensors& state) const;
  static ElementPlaces restored(const NamedTensors& state, int64_t n, int64_t buffer_size);
  std::vector<int64_t> all() const;
  void clear() { *this = ElementPlaces(); }

 private:
  std::vector<int64_t> free_, rows_;
  int64_t size_ = 0, waiting_ = 0;
};

class BufferedElements {
 public:
  explicit BufferedElements(const Dataset& dataset) : dataset_(dataset) {}
  int64_t read(DatasetIterator& input, int64_t n);
  int64_t begin_in(int64_t) { return places_.begin_in(); }
  void free(int64_t place) { places_.free(place); }
  void move(const std::vector<Move>& moves);
  void put_one(ElementSink& sink);
  void put_stacked(ElementSink& sink);
  void forget_drawn() { drawn_.clear(); }
  void clear() {
    places_.clear();
    elements_.clear();
  }
  int64_t rows_waiting() const { return places_.rows_waiting(); }
  NamedTensors save(const std::vector<int64_t>& waiting) const;
  std::vector<int64_t> restore(const NamedTensors& state, int64_t buffer_size);

 private:
  const Dataset& dataset_;
  ElementPlaces places_;
  Components read_;  // the element that was read last
  int64_t rows_read_ = 0;
  std::vector<Components> elements_, drawn_;
};

}  // namespace runhooks
