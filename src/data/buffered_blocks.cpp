#include "data/buffered_blocks.h"

#include <algorithm>
#include <cstring>
#include <type_traits>

#include "data/elements.h"
#include "data/one_input_dataset.h"

namespace runhooks {

namespace {

Shape stacked_shape(const Shape& element, int64_t n) { return batched_shapes({element}, n)[0]; }

// Stores each row of `block` in its slot and appends drawn rows to the output. In order, because
// slots are reused. Common row sizes are compile-time constants.
template <typename Bytes>
void move_rows(
    const char* block, char* waiting, char* drawn, Bytes bytes, const std::vector<Move>& moves) {
  for (const Move& each : moves) {
    if (each.in != kNone) {
      std::memcpy(waiting + static_cast<size_t>(each.in) * bytes, block, bytes);
      block += bytes;
    }
    if (each.out != kNone) {
      std::memcpy(drawn, waiting + static_cast<size_t>(each.out) * bytes, bytes);
      drawn += bytes;
    }
  }
}

void move_rows(
    const char* block, char* waiting, char* drawn, size_t bytes, const std::vector<Move>& moves) {
  if (bytes == 4) {
    move_rows(block, waiting, drawn, std::integral_constant<size_t, 4>(), moves);
  } else if (bytes == 8) {
    move_rows(block, waiting, drawn, std::integral_constant<size_t, 8>(), moves);
  } else {
    move_rows<size_t>(block, waiting, drawn, bytes, moves);
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
  num_read_ = input.next_block(n, block);
  block_ = block.take();
  rows_read_ = input.rows_seen() - before;
  return num_read_;
}

// Attributes the input rows evenly to the elements of the block.
void BufferedBlocks::count(const std::vector<Move>& moves) {
  const int64_t each_has = num_read_ > 0 ? rows_read_ / num_read_ : 0;
  for (const Move& each : moves) {
    if (each.in != kNone) {
      const bool is_last = --num_read_ == 0;
      places_.insert(each.in, is_last ? rows_read_ : each_has);
      rows_read_ -= each_has;
    }
    if (each.out != kNone) {
      places_.erase(each.out);
      ++num_drawn_;
    }
  }
}

void BufferedBlocks::move_strings(Column& column,
                                  const std::shared_ptr<StringDictionary>& words,
                                  const std::vector<Move>& moves) {
  for (const Move& each : moves) {
    if (each.in != kNone) {
      auto& own = column.waiting_strings[static_cast<size_t>(each.in)];
      if (own != words) own = words;
    }
    if (each.out != kNone) {
      column.drawn_strings.push_back(column.waiting_strings[static_cast<size_t>(each.out)]);
    }
  }
}

void BufferedBlocks::move_column(Column& column,
                                 const Tensor& block,
                                 const std::vector<Move>& moves) {
  const auto places = static_cast<size_t>(places_.size());
  column.waiting.resize(places * column.bytes);
  if (column.dtype == DType::kString) {
    column.waiting_strings.resize(places);
    move_strings(column, block.is_valid() ? block.dictionary() : nullptr, moves);
  }
  if (column.bytes == 0) return;
  const size_t before = static_cast<size_t>(num_drawn_before_) * column.bytes;
  column.drawn.resize(static_cast<size_t>(num_drawn_) * column.bytes);
  const char* from = block.is_valid() ? static_cast<const char*>(block.raw()) : nullptr;
  move_rows(from, column.waiting.data(), column.drawn.data() + before, column.bytes, moves);
}

void BufferedBlocks::move(const std::vector<Move>& moves) {
  num_drawn_before_ = num_drawn_;
  count(moves);
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

// Maps codes of several dictionaries to codes of one.
void merge_dictionaries(Tensor& to,
                        const std::vector<std::shared_ptr<StringDictionary>>& words,
                        size_t each_has) {
  const bool is_one = std::all_of(words.begin(), words.end(),
                                  [&](const auto& dictionary) { return dictionary == words[0]; });
  to.set_dictionary(is_one ? words[0] : std::make_shared<StringDictionary>());
  if (is_one) return;
  auto* code = to.data<int32_t>();
  for (const auto& dictionary : words) {
    for (size_t i = 0; i < each_has; ++i, ++code) {
      *code = to.dictionary()->code(dictionary->at(*code));
    }
  }
}

}  // namespace

void BufferedBlocks::put(ElementSink& sink, bool stacked) {
  for (size_t k = 0; k < columns_.size(); ++k) {
    Column& column = columns_[k];
    const Shape shape = stacked ? stacked_shape(column.shape, num_drawn_) : column.shape;
    Tensor& to = sink.allocate(static_cast<int>(k), column.dtype, shape);
    if (to.num_bytes() > 0) std::memcpy(to.raw(), column.drawn.data(), to.num_bytes());
    if (column.dtype == DType::kString && num_drawn_ > 0) {
      merge_dictionaries(to, column.drawn_strings, column.bytes / sizeof(int32_t));
    }
  }
  clear_drawn();
}

// --- state, in the same format as BufferedElements

NamedTensors BufferedBlocks::save(const std::vector<int64_t>& waiting) const {
  NamedTensors state;
  const auto n = static_cast<int64_t>(waiting.size());
  state["buffer/size"] = Tensor::scalar(n);
  places_.save(waiting, state);
  for (size_t k = 0; n > 0 && k < columns_.size(); ++k) {
    const Column& column = columns_[k];
    Tensor all(column.dtype, stacked_shape(column.shape, n));
    auto* to = static_cast<char*>(all.raw());
    std::vector<std::shared_ptr<StringDictionary>> words;
    for (const int64_t number : waiting) {
      const auto place = static_cast<size_t>(number);
      if (column.bytes > 0) {
        std::memcpy(to, column.waiting.data() + place * column.bytes, column.bytes);
      }
      to += column.bytes;
      if (column.dtype == DType::kString) words.push_back(column.waiting_strings[place]);
    }
    if (column.dtype == DType::kString)
      merge_dictionaries(all, words, column.bytes / sizeof(int32_t));
    state["buffer/" + component_name(k)] = all;
  }
  return state;
}

std::vector<int64_t> BufferedBlocks::restore(const NamedTensors& state, int64_t buffer_size) {
  const NamedTensors buffer = subtree(state, "buffer/");
  const int64_t n = state_count(buffer, "size");
  SlotPool places = SlotPool::restored(state, n, buffer_size);
  std::vector<Column> columns = columns_;
  for (size_t k = 0; n > 0 && k < columns.size(); ++k) {
    Column& column = columns[k];
    const auto found = buffer.find(component_name(k));
    if (found == buffer.end() || found->second.dtype() != column.dtype ||
        found->second.shape() != stacked_shape(column.shape, n)) {
      fail(Code::kDataLoss, "The saved shuffle buffer lacks component ",
           static_cast<unsigned long>(k), " of type ", dtype_name(column.dtype), " and shape ",
           column.shape, ".");
    }
    const Tensor& all = found->second;
    const auto* from = static_cast<const char*>(all.raw());
    column.waiting.assign(from, from + all.num_bytes());
    if (column.dtype == DType::kString) {
      column.waiting_strings.assign(static_cast<size_t>(n), all.dictionary());
    }
  }
  places_ = std::move(places);
  columns_ = std::move(columns);
  clear_drawn();
  return places_.all();
}

}  // namespace runhooks
