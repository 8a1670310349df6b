// Tests PackedRowCache in shuffles of large data, and batches that several threads gather.
#include <numeric>

#include "dataset_kinds.h"
#include "test.h"
#include "threads_test.h"

using namespace runhooks;
using namespace runhooks_test;

namespace {

constexpr int64_t kRows = 1300000;  // rows of 20 bytes, in total larger than any assumed cache

// Returns a dataset of three columns with different types, which contain the row number. The last
// column also contains its negative.
DatasetPtr numbered_rows() {
  std::vector<double> doubles(kRows);
  std::iota(doubles.begin(), doubles.end(), 0.0);
  const std::vector<int32_t> integers(doubles.begin(), doubles.end());
  std::vector<float> pairs;
  for (const double number : doubles) {
    pairs.push_back(static_cast<float>(number));
    pairs.push_back(static_cast<float>(-number));
  }
  const auto columns = std::make_shared<ValueList>();
  columns->push_back(Value::of(Tensor::vector(doubles)));
  columns->push_back(Value::of(Tensor::vector(integers)));
  columns->push_back(Value::of(Tensor::vector(pairs).reshaped(Shape{kRows, 2})));
  return dataset_of("TensorSliceDataset", {{"components", Value::of(columns)}});
}

DatasetPtr shuffled(DatasetPtr rows, int64_t size) {
  return dataset_of("ShuffleDataset", {{"buffer_size", number(size)}, {"seed", number(3)}}, rows);
}

DatasetPtr batches(DatasetPtr rows, int64_t size) {
  return dataset_of("BatchDataset", {{"batch_size", number(size)}}, rows);
}

// Appends the row numbers of `n` batches. Checks that they are equal in all columns.
void read(DatasetIterator& iterator, size_t n, std::vector<int64_t>& numbers) {
  for (const Components& batch : elements_of(iterator, n)) {
    for (int64_t i = 0; i < batch[0].shape().dim(0); ++i) {
      const double number = batch[0].data<double>()[i];
      const float* const pair = batch[2].data<float>() + 2 * i;
      const bool is_row = batch[1].data<int32_t>()[i] == number && pair[0] == number;
      CHECK(is_row && pair[1] == -pair[0]);
      numbers.push_back(static_cast<int64_t>(number));
    }
  }
}

// Returns the order in which next() gives single elements, because it reads the table directly.
std::vector<int64_t> one_by_one(const Dataset& rows, size_t n) {
  std::vector<int64_t> numbers;
  auto iterator = rows.make_iterator();
  for (const Components& row : elements_of(*iterator, n)) {
    numbers.push_back(static_cast<int64_t>(row[0].number_at(0)));
  }
  return numbers;
}

}  // namespace

TEST(cached_rows_match_the_table) {
  const DatasetPtr rows = numbered_rows();
  const DatasetPtr kinds[] = {
      shuffled(rows, 1000),                // rows can be evicted before they are read
      shuffled(rows, 1),                   // rows are read immediately
      shuffled(shuffled(rows, 100), 700),  // uses two caches
      dataset_of("RepeatDataset", {{"count", number(2)}},
                 dataset_of("TakeDataset", {{"count", number(9000)}}, shuffled(rows, 1000)))};
  for (const DatasetPtr& kind : kinds) {
    CHECK(kind->make_iterator()->row_cache() != nullptr);
    const std::vector<int64_t> expected = one_by_one(*kind, 15000);
    for (const int n : {1, 2}) {
      const Threads threads(n);
      std::vector<int64_t> numbers;
      auto iterator = batches(kind, 1500)->make_iterator();
      read(*iterator, 4, numbers);
      // Saves the position and resumes it in another iterator, whose cache is empty.
      auto second = batches(kind, 1500)->make_iterator();
      second->restore(iterator->save());
      read(*second, 6, numbers);
      CHECK(numbers == expected);
    }
  }
  CHECK(shuffled(rows, kRows)->make_iterator()->row_cache() == nullptr);  // too many rows
}

TEST(rows_gathered_by_two_threads_match_the_table) {
  const DatasetPtr rows = numbered_rows();
  std::vector<int64_t> expected(12000), numbers;
  std::iota(expected.begin(), expected.end(), int64_t{0});
  const Threads threads(2);
  auto iterator = batches(rows, 4000)->make_iterator();
  read(*iterator, 3, numbers);
  CHECK(numbers == expected);
}
