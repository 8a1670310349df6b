// BufferedBlocks: a shuffle buffer for elements whose shapes are all fully known.
#pragma once

#include <memory>
#include <vector>

#include "data/shuffle_buffer.h"

namespace runhooks {

// Stores each component of the buffered elements in one block of memory. The methods are those of
// the buffers in shuffle_buffer.h.
class BufferedBlocks {
 public:
  explicit BufferedBlocks(const Dataset& dataset);
  // True if all shapes are fully known and no component is a dataset.
  static bool can_hold(const Dataset& dataset);
  int64_t read(DatasetIterator& input, int64_t n);
  int64_t slot_for(int64_t) { return slots_.allocate(); }
  void free(int64_t slot) { slots_.free(slot); }
  void move(const std::vector<ShuffleMove>& moves);
  void put_one(ElementSink& sink) { put(sink, /*stacked=*/false); }
  void put_stacked(ElementSink& sink) { put(sink, /*stacked=*/true); }
  void clear_drawn();
  void clear() { slots_.clear(); }
  int64_t num_buffered_rows() const { return slots_.num_buffered_rows(); }
  NamedTensors save(const std::vector<int64_t>& buffered) const;
  std::vector<int64_t> restore(const NamedTensors& state, int64_t buffer_size);

 private:
  using Dictionaries = std::vector<std::shared_ptr<StringDictionary>>;
  struct Column {
    DType dtype;
    Shape shape;
    size_t bytes;  // per element
    std::vector<char> buffered, drawn;
    // The dictionary of each element of a string component, whose bytes are codes.
    Dictionaries buffered_strings, drawn_strings;
  };
  void count_moves(const std::vector<ShuffleMove>& moves);
  void move_column(Column& column, const Tensor& block, const std::vector<ShuffleMove>& moves);
  static void move_strings(Column& column,
                           const std::shared_ptr<StringDictionary>& dictionary,
                           const std::vector<ShuffleMove>& moves);
  void put(ElementSink& sink, bool stacked);

  std::vector<Column> columns_;
  SlotPool slots_;
  Components block_;  // the last block read
  // Number of elements of the last block that are not yet in a slot, and of their input rows.
  int64_t num_unassigned_ = 0, rows_unassigned_ = 0;
  int64_t num_drawn_ = 0, num_drawn_before_move_ = 0;
};

}  // namespace runhooks
