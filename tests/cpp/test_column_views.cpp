// Batches of ColumnViews match those of tensors with the same numbers.
#include <algorithm>
#include <cstring>
#include <numeric>
#include <random>

#include "data/data_fingerprint.h"
#include "data/in_memory.h"
#include "data/packed_rows.h"
#include "io_test.h"
#include "test.h"
#include "threads_test.h"

using namespace runhooks;
using runhooks_test::seeded_generator;
using runhooks_test::Threads;

namespace {

class CollectingSink : public ElementSink {
 public:
  Tensor& allocate(int i, DType dtype, const Shape& shape) override {
    if (i == 0) tensors.emplace_back();
    tensors.back().emplace_back(dtype, shape);
    return tensors.back().back();
  }
  std::vector<std::vector<Tensor>> tensors;
};

bool same(const std::vector<Tensor>& a, const std::vector<Tensor>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const Tensor& x, const Tensor& y) { return x.equals(y); });
}

// Columns of doubles and integers, and a tensor with the same columns.
struct ViewedColumns {
  std::vector<std::vector<double>> doubles;
  std::vector<std::vector<int32_t>> integers;
  std::vector<ColumnView> columns;
  Tensor tensor;
};

ViewedColumns random_columns(
    std::mt19937_64& random, DType dtype, int64_t rows, int64_t width, bool has_one_column) {
  ViewedColumns columns;
  columns.tensor = Tensor(dtype, has_one_column ? Shape{rows} : Shape{rows, width});
  columns.doubles.resize(static_cast<size_t>(width));
  columns.integers.resize(static_cast<size_t>(width));
  for (int64_t c = 0; c < width; ++c) {
    const bool is_integer = dtype == DType::kInt32 || random() % 3 == 0;
    auto& doubles = columns.doubles[static_cast<size_t>(c)];
    auto& integers = columns.integers[static_cast<size_t>(c)];
    for (int64_t r = 0; r < rows; ++r) {
      const auto integer = static_cast<int32_t>(random() % 200001) - 100000;
      const double number = is_integer ? integer : integer / 7.0;
      if (is_integer) integers.push_back(integer);
      if (!is_integer) doubles.push_back(number);
      const int64_t at = r * width + c;
      if (dtype == DType::kFloat32) columns.tensor.data<float>()[at] = static_cast<float>(number);
      if (dtype == DType::kFloat64) columns.tensor.data<double>()[at] = number;
      if (dtype == DType::kInt32) columns.tensor.data<int32_t>()[at] = integer;
    }
    columns.columns.push_back(is_integer ? ColumnView{nullptr, integers.data()}
                                         : ColumnView{doubles.data(), nullptr});
  }
  return columns;
}

Tensor random_rows(std::mt19937_64& random, DType dtype, int64_t rows) {
  if (dtype == DType::kString) {
    std::vector<std::string> words(static_cast<size_t>(rows));
    for (std::string& word : words) word = str_cat(random() % 9);
    return Tensor::strings(Shape{rows}, words);
  }
  Tensor tensor(dtype, Shape{rows});
  auto* bytes = static_cast<uint8_t*>(tensor.raw());
  for (size_t i = 0; i < tensor.num_bytes(); ++i) bytes[i] = random() % 2;
  return tensor;
}

InMemoryColumn view_column(const ViewedColumns& columns) {
  return std::make_shared<const ColumnViews>(columns.tensor.dtype(), columns.tensor.shape(),
                                             columns.columns, nullptr);
}

}  // namespace

TEST(column_views_match_tensors) {
  std::mt19937_64 random = seeded_generator();
  for (int round = 0; round < 40; ++round) {
    // Sometimes uses more rows than are packed at first (kInitialRowsAhead in packed_rows.cpp).
    const auto rows = static_cast<int64_t>(1 + random() % (round % 8 == 0 ? 5000 : 40));
    const std::vector<DType> types = {DType::kFloat32, DType::kFloat64, DType::kInt32};
    std::vector<ViewedColumns> all;
    for (int k = 0; k < 3; ++k) {
      const bool has_one_column = random() % 2 == 0;
      all.push_back(random_columns(random, types[random() % 3], rows,
                                   has_one_column ? 1 : static_cast<int64_t>(random() % 40),
                                   has_one_column));
    }
    InMemoryOptions options;
    options.batch_size = static_cast<int64_t>(1 + random() % (rows < 100 ? 50 : 700));
    options.num_epochs = static_cast<int64_t>(1 + random() % 3);
    options.shuffle = random() % 2 == 0;
    options.seed = random();
    std::vector<InMemoryColumn> copies, views;
    for (const ViewedColumns& one : all) copies.emplace_back(one.tensor);
    // Combines views with a column that is a tensor.
    views = {view_column(all[0]), InMemoryColumn(all[1].tensor), view_column(all[2])};
    const auto expected = in_memory_dataset(copies, options);
    const auto dataset = in_memory_dataset(views, options);
    CHECK(dataset->dtypes() == expected->dtypes());
    CHECK(dataset->shapes() == expected->shapes());
    CHECK_EQ(dataset->description(), expected->description());
    auto one = expected->make_iterator(), other = dataset->make_iterator();
    CollectingSink a, b;
    while (one->next(a)) {
      CHECK(other->next(b));
      CHECK(same(a.tensors.back(), b.tensors.back()));
      if (random() % 4 != 0) continue;
      const NamedTensors state = other->save();
      other = dataset->make_iterator();
      other->restore(state);
    }
    CHECK(!other->next(b));
    CHECK_EQ(one->rows_seen(), other->rows_seen());
  }
}

TEST(column_views_shuffle_many_columns_like_few) {
  std::mt19937_64 random = seeded_generator();
  for (const int64_t rows : {5, 3000, 40000}) {
    const std::vector<DType> types = {DType::kFloat32, DType::kInt64,  DType::kBool,
                                      DType::kFloat64, DType::kString, DType::kInt32};
    std::vector<InMemoryColumn> columns;
    for (size_t k = 0; k < 40; ++k) {
      columns.emplace_back(random_rows(random, types[k % types.size()], rows));
    }
    InMemoryOptions options;
    options.batch_size = 1 + static_cast<int64_t>(random() % 500);
    options.num_epochs = rows > 10000 ? 1 : 2;
    options.shuffle = true;
    options.seed = random();
    const auto all = in_memory_dataset(columns, options);
    auto iterator = all->make_iterator();
    std::vector<std::unique_ptr<DatasetIterator>> each;
    for (const InMemoryColumn& column : columns) {
      each.push_back(in_memory_dataset({column}, options)->make_iterator());
    }
    CollectingSink a;
    while (iterator->next(a)) {
      for (size_t k = 0; k < columns.size(); ++k) {
        CollectingSink b;
        CHECK(each[k]->next(b));
        CHECK(a.tensors.back()[k].equals(b.tensors[0][0]));
      }
    }
    CHECK_EQ(iterator->rows_seen(), rows * options.num_epochs);
  }
}

// If the data have 13 columns, each thread gathers the rows of some columns. Of a column with 784
// numbers per row, each thread gathers a block of rows.
TEST(batches_gathered_by_two_threads_match_one_thread) {
  std::mt19937_64 random = seeded_generator();
  constexpr int64_t kRows = 5000, kWidth = 784;
  std::vector<InMemoryColumn> narrow_columns, wide_columns;
  for (int k = 0; k < 13; ++k) {
    const DType types[] = {DType::kFloat32, DType::kInt64, DType::kBool, DType::kString};
    narrow_columns.emplace_back(random_rows(random, types[k % 4], kRows));
  }
  wide_columns.emplace_back(
      random_rows(random, DType::kFloat32, kRows * kWidth).reshaped({kRows, kWidth}));
  wide_columns.emplace_back(random_rows(random, DType::kInt32, kRows));
  for (const auto& columns : {narrow_columns, wide_columns}) {
    for (const bool shuffle : {false, true}) {
      InMemoryOptions options;
      options.batch_size = 900;
      options.num_epochs = 2;
      options.shuffle = shuffle;
      options.seed = 5;
      CollectingSink sinks[2];
      for (const int n : {1, 2}) {
        const Threads threads(n);
        auto iterator = in_memory_dataset(columns, options)->make_iterator();
        while (iterator->next(sinks[n - 1])) continue;
      }
      CHECK_EQ(sinks[0].tensors.size(), size_t{12});
      for (size_t i = 0; i < 12; ++i) CHECK(same(sinks[0].tensors[i], sinks[1].tensors[i]));
    }
  }
}

TEST(packed_rows_read_any_window_of_an_order) {
  std::mt19937_64 random = seeded_generator();
  const DType types[] = {DType::kFloat32, DType::kFloat64, DType::kInt32};
  for (const int64_t rows : {1, 700, 300000}) {
    std::vector<ViewedColumns> all;
    ColumnViewsList views;
    std::vector<Tensor> batch;
    for (int k = 0; k < 5; ++k) {
      all.push_back(random_columns(random, types[k % 3], rows, k == 3 ? 7 : 1, k != 3));
    }
    for (const ViewedColumns& one : all) views.push_back(view_column(one).views);
    std::vector<int64_t> order(static_cast<size_t>(rows));
    std::iota(order.begin(), order.end(), int64_t{0});
    ShuffledRows shuffled;
    for (int64_t read = 0, position = rows; read < 3 * rows && read < 40000;) {
      if (position == rows) {
        std::shuffle(order.begin(), order.end(), random);
        shuffled.clear();
        position = 0;
      }
      const int64_t n = std::min(static_cast<int64_t>(1 + random() % 900), rows - position);
      std::vector<char*> to;
      batch.clear();
      for (const auto& view : views) {
        Shape shape = view->shape();
        shape.set_dim(0, n);
        batch.emplace_back(view->dtype(), shape);
        to.push_back(static_cast<char*>(batch.back().raw()));
      }
      shuffled.read(views, order, position, n, to.data());
      for (size_t k = 0; k < all.size(); ++k) {
        const size_t bytes = views[k]->row_bytes();
        for (int64_t i = 0; i < n; ++i) {
          const auto row = static_cast<size_t>(order[static_cast<size_t>(position + i)]);
          const char* const expected = static_cast<const char*>(all[k].tensor.raw()) + row * bytes;
          CHECK(std::memcmp(to[k] + static_cast<size_t>(i) * bytes, expected, bytes) == 0);
        }
      }
      position += n;
      read += n;
    }
  }
}

TEST(column_views_describe_themselves) {
  const std::vector<double> x = {1, 2, 3}, y = {1, 2, 4};
  const auto fingerprint_of = [](const std::vector<double>& numbers, DType dtype) {
    const auto rows = std::make_shared<const ColumnViews>(
        dtype, Shape{3}, std::vector<ColumnView>{{numbers.data()}}, nullptr);
    return in_memory_dataset({InMemoryColumn(rows)}, InMemoryOptions())
        ->data_fingerprint()
        .fingerprint();
  };
  CHECK_EQ(fingerprint_of(x, DType::kFloat32),
           fingerprint_of(std::vector<double>(x), DType::kFloat32));
  CHECK(fingerprint_of(x, DType::kFloat32) != fingerprint_of(y, DType::kFloat32));
  CHECK(fingerprint_of(x, DType::kFloat32) != fingerprint_of(x, DType::kFloat64));
  const std::vector<ColumnView> one = {{x.data(), nullptr}};
  CHECK_THROWS(ColumnViews(DType::kInt64, Shape{3}, one, nullptr), Code::kInvalidArgument, "int64");
  CHECK_THROWS(ColumnViews(DType::kInt32, Shape{3}, one, nullptr), Code::kInternal,
               "no data of its type");
  CHECK_THROWS(ColumnViews(DType::kFloat32, Shape{3, 2}, one, nullptr), Code::kInternal,
               "cannot have shape");
}
