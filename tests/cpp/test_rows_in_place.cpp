// Rows that are read where their columns lie: as from tensors of the same numbers.
#include <algorithm>
#include <random>

#include "data/data_content.h"
#include "data/in_memory.h"
#include "io_test.h"
#include "test.h"

using namespace runhooks;
using runhooks_test::seeded_generator;

namespace {

class KeepingSink : public ElementSink {
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

// Columns of doubles and integers, and a tensor that has them side by side.
struct Kept {
  std::vector<std::vector<double>> doubles;
  std::vector<std::vector<int32_t>> integers;
  std::vector<ColumnInPlace> columns;
  Tensor tensor;
};

Kept kept(std::mt19937_64& random, DType dtype, int64_t rows, int64_t width, bool is_line) {
  Kept made;
  made.tensor = Tensor(dtype, is_line ? Shape{rows} : Shape{rows, width});
  made.doubles.resize(static_cast<size_t>(width));
  made.integers.resize(static_cast<size_t>(width));
  for (int64_t c = 0; c < width; ++c) {
    const bool is_integer = dtype == DType::kInt32 || random() % 3 == 0;
    auto& doubles = made.doubles[static_cast<size_t>(c)];
    auto& integers = made.integers[static_cast<size_t>(c)];
    for (int64_t r = 0; r < rows; ++r) {
      const auto whole = static_cast<int32_t>(random() % 200001) - 100000;
      const double number = is_integer ? whole : whole / 7.0;
      if (is_integer) integers.push_back(whole);
      if (!is_integer) doubles.push_back(number);
      const int64_t at = r * width + c;
      if (dtype == DType::kFloat32) made.tensor.data<float>()[at] = static_cast<float>(number);
      if (dtype == DType::kFloat64) made.tensor.data<double>()[at] = number;
      if (dtype == DType::kInt32) made.tensor.data<int32_t>()[at] = whole;
    }
    made.columns.push_back(is_integer ? ColumnInPlace{nullptr, integers.data()}
                                      : ColumnInPlace{doubles.data(), nullptr});
  }
  return made;
}

InMemoryColumn in_place(const Kept& kept) {
  return std::make_shared<const RowsInPlace>(kept.tensor.dtype(), kept.tensor.shape(), kept.columns);
}

}  // namespace

TEST(rows_in_place_are_those_of_tensors) {
  std::mt19937_64 random = seeded_generator();
  for (int round = 0; round < 40; ++round) {
    // with more rows than are made ahead at first, now and then
    const auto rows = static_cast<int64_t>(1 + random() % (round % 8 == 0 ? 5000 : 40));
    const std::vector<DType> types = {DType::kFloat32, DType::kFloat64, DType::kInt32};
    std::vector<Kept> all;
    for (int k = 0; k < 3; ++k) {
      const bool is_line = random() % 2 == 0;
      all.push_back(kept(random, types[random() % 3], rows,
                         is_line ? 1 : static_cast<int64_t>(random() % 40), is_line));
    }
    InMemoryOptions options;
    options.batch_size = static_cast<int64_t>(1 + random() % (rows < 100 ? 50 : 700));
    options.num_epochs = static_cast<int64_t>(1 + random() % 3);
    options.shuffle = random() % 2 == 0;
    options.seed = random();
    std::vector<InMemoryColumn> copies, places;
    for (const Kept& one : all) copies.emplace_back(one.tensor);
    // beside a tensor
    places = {in_place(all[0]), InMemoryColumn(all[1].tensor), in_place(all[2])};
    const auto expected = in_memory_dataset(copies, options);
    const auto dataset = in_memory_dataset(places, options);
    CHECK(dataset->dtypes() == expected->dtypes());
    CHECK(dataset->shapes() == expected->shapes());
    CHECK_EQ(dataset->description(), expected->description());
    auto one = expected->make_iterator(), other = dataset->make_iterator();
    KeepingSink a, b;
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

TEST(rows_in_place_say_what_they_are) {
  const std::vector<double> x = {1, 2, 3}, y = {1, 2, 4};
  const auto content = [](const std::vector<double>& numbers, DType dtype) {
    const auto rows = std::make_shared<const RowsInPlace>(
        dtype, Shape{3}, std::vector<ColumnInPlace>{{numbers.data(), nullptr}});
    return in_memory_dataset({InMemoryColumn(rows)}, InMemoryOptions())->content().fingerprint();
  };
  CHECK_EQ(content(x, DType::kFloat32), content(std::vector<double>(x), DType::kFloat32));
  CHECK(content(x, DType::kFloat32) != content(y, DType::kFloat32));
  CHECK(content(x, DType::kFloat32) != content(x, DType::kFloat64));
  const std::vector<ColumnInPlace> one = {{x.data(), nullptr}};
  CHECK_THROWS(RowsInPlace(DType::kInt64, Shape{3}, one), Code::kInvalidArgument, "int64");
  CHECK_THROWS(RowsInPlace(DType::kInt32, Shape{3}, one), Code::kInternal, "no numbers of its type");
  CHECK_THROWS(RowsInPlace(DType::kFloat32, Shape{3, 2}, one), Code::kInternal, "have the shape");
}
