#include "data/shuffle_buffer.h"

#include <numeric>

#include "data/one_input_dataset.h"

namespace runhooks {

namespace {

std::vector<int64_t> numbers_up_to(int64_t n) {
  std::vector<int64_t> all(static_cast<size_t>(n));
  std::iota(all.begin(), all.end(), int64_t{0});
  return all;
}

}  // namespace

// --- rows

std::vector<int64_t> BufferedRows::restore(const NamedTensors& state) {
  std::vector<int64_t> numbers = state_integers(state, "numbers");
  const int64_t rows = table_.num_rows();
  for (const int64_t number : numbers) {
    if (number < 0 || number >= rows) {
      fail(Code::kDataLoss, "There is no row ", number, " in ", rows, " rows of data.");
    }
  }
  drawn_.clear();
  waiting_ = static_cast<int64_t>(numbers.size());
  return numbers;
}

// --- places

void ElementPlaces::save(const std::vector<int64_t>& places, NamedTensors& state) const {
  std::vector<int64_t> rows;
  for (const int64_t place : places) rows.push_back(rows_[static_cast<size_t>(place)]);
  state["rows"] = Tensor::vector(rows);
}

std::vector<int64_t> ElementPlaces::restore(const NamedTensors& state, int64_t n) {
  const std::vector<int64_t> rows = state_integers(state, "rows");
  if (static_cast<int64_t>(rows.size()) != n) {
    fail(Code::kDataLoss, "The buffer of a shuffle is damaged.");
  }
  clear();
  size_ = n;
  for (int64_t i = 0; i < n; ++i) come(i, rows[static_cast<size_t>(i)]);
  return numbers_up_to(n);
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

void BufferedElements::move(const std::vector<Move>& moves) {
  elements_.resize(static_cast<size_t>(places_.size()));
  for (const Move& each : moves) {
    if (each.in != kNone) {
      places_.come(each.in, rows_read_);
      elements_[static_cast<size_t>(each.in)] = std::move(read_);
    }
    if (each.out != kNone) {
      places_.go(each.out);
      drawn_.push_back(std::move(elements_[static_cast<size_t>(each.out)]));
    }
  }
}

void BufferedElements::put_one(ElementSink& sink) {
  sink.put_all(std::move(drawn_[0]));
  drawn_.clear();
}

void BufferedElements::put_stacked(ElementSink& sink) {
  runhooks::put_stacked(drawn_, sink);
  drawn_.clear();
}

NamedTensors BufferedElements::save(const std::vector<int64_t>& waiting) const {
  std::vector<const Components*> elements;
  for (const int64_t place : waiting) elements.push_back(&elements_[static_cast<size_t>(place)]);
  NamedTensors state;
  add_subtree(state, "buffer/", save_elements(elements));
  places_.save(waiting, state);
  return state;
}

std::vector<int64_t> BufferedElements::restore(const NamedTensors& state) {
  std::vector<Components> elements = read_elements(subtree(state, "buffer/"), dtypes_, shapes_);
  std::vector<int64_t> numbers = places_.restore(state, static_cast<int64_t>(elements.size()));
  elements_ = std::move(elements);
  drawn_.clear();
  return numbers;
}

}  // namespace runhooks
