// Kinds of datasets: what they give, and that their iterators go on where they stopped.
#include <cstdlib>

#include "datasets_test.h"
#include "test.h"

using namespace runhooks;
using namespace runhooks_test;

namespace {

Value number(int64_t x) { return Value::of(x); }

DatasetPtr rows_of(int64_t n) {
  const auto components = std::make_shared<ValueList>();
  Tensor numbers(DType::kFloat32, Shape{n, 2});
  std::vector<std::string> words;
  for (int64_t i = 0; i < n; ++i) {
    numbers.data<float>()[2 * i] = static_cast<float>(i);
    numbers.data<float>()[2 * i + 1] = static_cast<float>(-i);
    words.push_back(str_cat("w", i % 5));
  }
  components->push_back(Value::of(numbers));
  components->push_back(Value::of(Tensor::strings({n}, words)));
  return dataset_of("TensorSliceDataset", {{"components", Value::of(components)}});
}

using Numbers = std::vector<double>;

}  // namespace

TEST(datasets_of_counts) {
  CHECK(numbers_of(*dataset_of("TakeDataset", {{"count", number(2)}}, range_of(5))) ==
        (Numbers{0, 1}));
  CHECK(numbers_of(*dataset_of("SkipDataset", {{"count", number(3)}}, range_of(5))) ==
        (Numbers{3, 4}));
  CHECK(numbers_of(*dataset_of("RepeatDataset", {{"count", number(2)}}, range_of(2))) ==
        (Numbers{0, 1, 0, 1}));
  CHECK(numbers_of(*dataset_of("RepeatDataset", {}, range_of(0))).empty());
}

TEST(each_kind_of_dataset_goes_on_where_it_stopped) {
  const std::vector<DatasetPtr> all = {
      range_of(20),
      rows_of(20),
      dataset_of("BatchDataset", {{"batch_size", number(3)}}, rows_of(20)),
      dataset_of("TakeDataset", {{"count", number(12)}}, rows_of(20)),
      dataset_of("SkipDataset", {{"count", number(5)}}, rows_of(20)),
      dataset_of("RepeatDataset", {}, rows_of(7)),
      dataset_of("ShuffleDataset", {{"buffer_size", number(6)}}, rows_of(20)),
      dataset_of("RepeatDataset", {{"count", number(3)}},
                 dataset_of("ShuffleDataset", {{"buffer_size", number(9)}}, rows_of(7))),
      dataset_of("ShuffleAndRepeatDataset", {{"buffer_size", number(5)}, {"count", number(3)}},
                 rows_of(7))};
  for (const DatasetPtr& dataset : all) {
    for (const size_t cut : {0, 1, 4, 6, 11, 13}) check_goes_on(*dataset, cut, 25);
  }
}

TEST(shuffles_refuse_states_that_do_not_fit) {
  const auto dataset = dataset_of("ShuffleDataset", {{"buffer_size", number(6)}}, rows_of(20));
  auto iterator = dataset->make_iterator();
  elements_of(*iterator, 2);
  const NamedTensors good = iterator->save();
  NamedTensors bad = good;
  bad["slices"] = Tensor::vector<int64_t>({2, 1000000});
  CHECK_THROWS(iterator->restore(bad), Code::kDataLoss, "The buffer of a shuffle is damaged");
  bad = good;
  bad.erase("random/drawn");
  CHECK_THROWS(iterator->restore(bad), Code::kDataLoss, "no integer 'drawn'");
  const std::string rest = text_of(elements_of(*iterator));
  auto again = dataset->make_iterator();
  again->restore(good);
  CHECK_EQ(text_of(elements_of(*again)), rest);
}

TEST(descriptions_tell_pipelines_apart) {
  const auto batch = dataset_of("BatchDataset", {{"batch_size", number(3)}}, range_of(5));
  CHECK_EQ(batch->description(), "Batch(batch_size = 3) of Range(to = 5)");
  const auto one =
      dataset_of("ShuffleDataset", {{"buffer_size", number(6)}, {"seed", number(1)}}, range_of(5));
  const auto other =
      dataset_of("ShuffleDataset", {{"buffer_size", number(6)}, {"seed", number(2)}}, range_of(5));
  CHECK_EQ(one->description(), other->description());  // seeds are part of the state
}

TEST(string_dictionaries_grow_and_keep_what_they_gave) {
  StringDictionary dictionary;
  const std::string& first = dictionary.at(dictionary.code("0"));
  for (int i = 0; i < 1000; ++i) CHECK_EQ(dictionary.code(str_cat(i)), i);
  for (int i = 0; i < 1000; ++i) CHECK_EQ(dictionary.at(i), str_cat(i));
  CHECK_EQ(dictionary.size(), 1000);
  CHECK_EQ(&first, &dictionary.at(0));
}
