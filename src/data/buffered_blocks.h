// BufferedBlocks: a shuffle buffer for elements whose shapes are all fully known.
#pragma once

#include <memory>
#include <vector>

#include "data/shuffle_buffer.h"

namespace runhooks {

// Stores each component of the buffered elements in one block of memory.
class BufferedBlocks {
 public:
  explicit BufferedBlocks(const Dataset& dataset);
  static bool can_hold(const Dataset& dataset);
  int64_t read(DatasetIterator& input, int64_t n);
  int64_t begin_in(int64_t) { return places_.begin_in(); }
  void free(int64_t place) { places_.free(place); }
  void move(const std::vector<Move>& moves);
  void put_one(ElementSink& sink) { put(sink, false); }
  void put_stacked(ElementSink& sink) { put(sink, true); }
  void clear_drawn();
  void clear() { places_.clear(); }
  int64_t rows_waiting() const { return places_.rows_waiting(); }
  NamedTensors save(const std::vector<int64_t>& waiting) const;
  std::vector<int64_t> restore(const NamedTensors& state, int64_t buffer_size);

 private:
  using Dictionaries = std::vector<std::shared_ptr<StringDictionary>>;
  struct Column {
    DType dtype;
    Shape shape;
    size_t bytes;  // per element
    std::vector<char> waiting, drawn;
    Dictionaries waiting_strings, drawn_strings;  // of string components, which store codes
  };
  void count(const std::vector<Move>& moves);
  void move_column(Column& column, const Tensor& block, const std::vector<Move>& moves);
  static void move_strings(Column& column,
                           const std::shared_ptr<StringDictionary>& words,
                           const std::vector<Move>& moves);
  void put(ElementSink& sink, bool stacked);

  std::vector<Column> columns_;
  SlotPool places_;
  Components block_;  // the last block read
  int64_t num_read_ = 0, rows_read_ = 0;
  int64_t num_drawn_ = 0, num_drawn_before_ = 0;  // the latter before the current move
};

}  // namespace runhooks
