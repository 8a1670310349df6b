#include "data/buffered_blocks.h"

#include <algorithm>
#include <cstring>
#include <type_traits>

#include "data/elements.h"
#include "data/one_input_dataset.h"

namespace runhooks {

namespace {

// Stores each row of `block` in its slot and appends drawn rows to `drawn`. The order of the moves
// matters, because slots are reused. Common row sizes are compile-time constants.
template <typename Bytes>
void move_rows(const char* block,
               char* buffered,
               char* drawn,
               Bytes bytes,
               const std::vector<ShuffleMove>& moves) {
  for (const ShuffleMove& each : moves) {
    if (each.stored != kNoSlot) {
      std::memcpy(buffered + static_cast<size_t>(each.stored) * bytes, block, bytes);
      block += bytes;
    }
    if (each.drawn != kNoSlot) {
      std::memcpy(drawn, buffered + static_cast<size_t>(each.drawn) * bytes, bytes);
      drawn += bytes;
    }
  }
}

void move_rows(const char* block,
               char* buffered,
               char* drawn,
               size_t bytes,
               const std::vector<ShuffleMove>& moves) {
  if (bytes == 4) {
    move_rows(block, buffered, drawn, std::integral_constant<size_t, 4>(), moves);
  } else if (bytes == 8) {
    move_rows(block, buffered, drawn, std::integral_constant<size_t, 8>(), moves);
  } else {
    move_rows<size_t>(block, buffered, drawn, bytes, moves);
  }
}

}  // namespace

BufferedBlocks::BufferedBlocks(const Dataset& dataset) {
  const std::vector<DType> dtypes = dataset.dtypes();
  const std::vector<Shape> shapes = dataset.shapes();
  for (size_t k = 0; k < dtypes.size(); ++k) {
    Column column;
    column.dtype = dtypes[k];
    column.shape = shapes[k];
    column.bytes = static_cast<size_t>(shapes[k].num_elements()) * dtype_size(dtypes[k]);
    columns_.push_back(std::move(column));
  }
}

bool BufferedBlocks::can_hold(const Dataset& dataset) {
  for (const Shape& shape : dataset.shapes()) {
    if (!shape.is_fully_defined()) return false;
  }
  for (const DType dtype : dataset.dtypes()) {
    if (dtype == DType::kVariant) return false;
  }
  return true;
}

int64_t BufferedBlocks::read(DatasetIterator& input, int64_t n) {
  const int64_t before = input.rows_seen();
  ComponentsSink block;
  num_unassigned_ = input.next_block(n, block);
  block_ = block.take();
  rows_unassigned_ = input.rows_seen() - before;
  return num_unassigned_;
}

// Divides the input rows that a block took evenly among its elements; the last element also gets
// the remainder.
void BufferedBlocks::count_moves(const std::vector<ShuffleMove>& moves) {
  const int64_t rows_per_element = num_unassigned_ > 0 ? rows_unassigned_ / num_unassigned_ : 0;
  for (const ShuffleMove& each : moves) {
    if (each.stored != kNoSlot) {
      const bool is_last = --num_unassigned_ == 0;
      slots_.insert(each.stored, is_last ? rows_unassigned_ : rows_per_element);
      rows_unassigned_ -= rows_per_element;
    }
    if (each.drawn != kNoSlot) {
      slots_.erase(each.drawn);
      ++num_drawn_;
    }
  }
}

void BufferedBlocks::move_strings(Column& column,
                                  const std::shared_ptr<StringDictionary>& dictionary,
                                  const std::vector<ShuffleMove>& moves) {
  for (const ShuffleMove& each : moves) {
    if (each.stored != kNoSlot) {
      auto& current = column.buffered_strings[static_cast<size_t>(each.stored)];
      if (current != dictionary) current = dictionary;  // avoids atomic reference counting
    }
    if (each.drawn != kNoSlot) {
      column.drawn_strings.push_back(column.buffered_strings[static_cast<size_t>(each.drawn)]);
    }
  }
}

void BufferedBlocks::move_column(Column& column,
                                 const Tensor& block,
                                 const std::vector<ShuffleMove>& moves) {
  const auto slots = static_cast<size_t>(slots_.size());
  column.buffered.resize(slots * column.bytes);
  if (column.dtype == DType::kString) {
    column.buffered_strings.resize(slots);
    move_strings(column, block.is_valid() ? block.dictionary() : nullptr, moves);
  }
  if (column.bytes == 0) return;
  const size_t before = static_cast<size_t>(num_drawn_before_move_) * column.bytes;
  column.drawn.resize(static_cast<size_t>(num_drawn_) * column.bytes);
  const char* from = block.is_valid() ? static_cast<const char*>(block.raw()) : nullptr;
  move_rows(from, column.buffered.data(), column.drawn.data() + before, column.bytes, moves);
}

void BufferedBlocks::move(const std::vector<ShuffleMove>& moves) {
  num_drawn_before_move_ = num_drawn_;
  count_moves(moves);
  for (size_t k = 0; k < columns_.size(); ++k) {
    move_column(columns_[k], block_.empty() ? Tensor() : block_[k], moves);
  }
  block_.clear();
}

void BufferedBlocks::clear_drawn() {
  num_drawn_ = 0;
  for (Column& column : columns_) column.drawn_strings.clear();
}

namespace {

// Converts the codes in `to` to codes of one dictionary. `dictionaries` holds the old dictionary of
// each element; an element has `codes_per_element` codes.
void merge_dictionaries(Tensor& to,
                        const std::vector<std::shared_ptr<StringDictionary>>& dictionaries,
                        size_t codes_per_element) {
  const bool all_equal =
      std::all_of(dictionaries.begin(), dictionaries.end(),
                  [&](const auto& dictionary) { return dictionary == dictionaries[0]; });
  to.set_dictionary(all_equal ? dictionaries[0] : std::make_shared<StringDictionary>());
  if (all_equal) return;
  auto* code = to.data<int32_t>();
  for (const auto& dictionary : dictionaries) {
    for (size_t i = 0; i < codes_per_element; ++i, ++code) {
      *code = to.dictionary()->code(dictionary->at(*code));
    }
  }
}

}  // namespace

void BufferedBlocks::put(ElementSink& sink, bool stacked) {
  for (size_t k = 0; k < columns_.size(); ++k) {
    Column& column = columns_[k];
    const Shape shape = stacked ? batched_shape(column.shape, num_drawn_) : column.shape;
    Tensor& to = sink.allocate(static_cast<int>(k), column.dtype, shape);
    if (to.num_bytes() > 0) std::memcpy(to.raw(), column.drawn.data(), to.num_bytes());
    if (column.dtype == DType::kString && num_drawn_ > 0) {
      merge_dictionaries(to, column.drawn_strings, column.bytes / sizeof(int32_t));
    }
  }
  clear_drawn();
}

// --- serialization, in the same format as BufferedElements

NamedTensors BufferedBlocks::save(const std::vector<int64_t>& buffered) const {
  NamedTensors state;
  const auto n = static_cast<int64_t>(buffered.size());
  state["buffer/size"] = Tensor::scalar(n);
  slots_.save(buffered, state);
  for (size_t k = 0; n > 0 && k < columns_.size(); ++k) {
    const Column& column = columns_[k];
    Tensor stacked(column.dtype, batched_shape(column.shape, n));
    auto* to = static_cast<char*>(stacked.raw());
    std::vector<std::shared_ptr<StringDictionary>> dictionaries;
    for (const int64_t number : buffered) {
      const auto slot = static_cast<size_t>(number);
      if (column.bytes > 0) {
        std::memcpy(to, column.buffered.data() + slot * column.bytes, column.bytes);
      }
      to += column.bytes;
      if (column.dtype == DType::kString) dictionaries.push_back(column.buffered_strings[slot]);
    }
    if (column.dtype == DType::kString)
      merge_dictionaries(stacked, dictionaries, column.bytes / sizeof(int32_t));
    state["buffer/" + component_name(k)] = stacked;
  }
  return state;
}

std::vector<int64_t> BufferedBlocks::restore(const NamedTensors& state, int64_t buffer_size) {
  const NamedTensors buffer = subtree(state, "buffer/");
  const int64_t n = state_count(buffer, "size");
  SlotPool slots = SlotPool::restored(state, n, buffer_size);
  std::vector<Column> columns = columns_;
  for (size_t k = 0; n > 0 && k < columns.size(); ++k) {
    Column& column = columns[k];
    const auto found = buffer.find(component_name(k));
    if (found == buffer.end() || found->second.dtype() != column.dtype ||
        found->second.shape() != batched_shape(column.shape, n)) {
      fail(Code::kDataLoss, "The saved shuffle buffer lacks component ",
           static_cast<unsigned long>(k), " of type ", dtype_name(column.dtype), " and shape ",
           column.shape, ".");
    }
    const Tensor& stacked = found->second;
    const auto* from = static_cast<const char*>(stacked.raw());
    column.buffered.assign(from, from + stacked.num_bytes());
    if (column.dtype == DType::kString) {
      column.buffered_strings.assign(static_cast<size_t>(n), stacked.dictionary());
    }
  }
  slots_ = std::move(slots);
  columns_ = std::move(columns);
  clear_drawn();
  return slots_.all_slots();
}

}  // namespace runhooks
