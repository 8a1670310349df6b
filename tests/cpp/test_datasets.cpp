// Kinds of datasets: their elements, and resuming their iterators.
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>

#include "data/data_fingerprint.h"
#include "data/dataset_function.h"
#include "dataset_kinds.h"
#include "test.h"

using namespace runhooks;
using namespace runhooks_test;

using Numbers = std::vector<double>;

TEST(datasets_of_counts) {
  CHECK(numbers_of(*dataset_of("TakeDataset", {{"count", number(2)}}, range_of(5))) ==
        (Numbers{0, 1}));
  CHECK(numbers_of(*dataset_of("SkipDataset", {{"count", number(3)}}, range_of(5))) ==
        (Numbers{3, 4}));
  CHECK(numbers_of(*dataset_of("RepeatDataset", {{"count", number(2)}}, range_of(2))) ==
        (Numbers{0, 1, 0, 1}));
  CHECK(numbers_of(*dataset_of("RepeatDataset", {}, range_of(0))).empty());
}

TEST(each_kind_of_dataset_resumes) {
  for (const DatasetPtr& dataset : datasets_in_memory()) {
    for (const size_t cut : {0, 1, 4, 6, 11, 13}) check_resumes(*dataset, cut, 25);
  }
}

// Pads an element with one value and an element with two values, of each type.
TEST(elements_of_all_types_are_padded) {
  for (const DType dtype :
       {DType::kInt8, DType::kUint8, DType::kInt16, DType::kUint16, DType::kFloat16,
        DType::kBfloat16, DType::kInt32, DType::kUint32, DType::kInt64, DType::kUint64,
        DType::kFloat32, DType::kFloat64, DType::kBool}) {
    const auto filled = [dtype](int64_t n) {
      Tensor x(dtype, Shape{n});
      std::memset(x.raw(), 1, x.num_bytes());
      const auto components = std::make_shared<ValueList>();
      components->push_back(Value::of(x));
      return dataset_of("TensorDataset", {{"components", Value::of(components)}});
    };
    const auto pair =
        dataset_of("ConcatenateDataset",
                   {{"other", Value::of(std::shared_ptr<CoreObject>(filled(2)))}}, filled(1));
    for (const bool has_value : {false, true}) {
      const auto values = std::make_shared<ValueList>();
      values->push_back(has_value ? Value::of(1.0) : Value());
      const auto padded =
          dataset_of("PaddedBatchDataset",
                     {{"batch_size", number(2)}, {"padding_values", Value::of(values)}}, pair);
      ComponentsSink sink;
      CHECK(padded->make_iterator()->next(sink));
      const Tensor batch = sink.take()[0];
      CHECK(batch.shape() == (Shape{2, 2}));
      const Tensor pad = Tensor::number(dtype, has_value ? 1 : 0);
      const size_t size = dtype_size(dtype);
      const auto* bytes = static_cast<const unsigned char*>(batch.raw());
      const std::vector<unsigned char> ones(size, 1);
      for (const size_t k : {0, 2, 3}) {
        CHECK(std::memcmp(bytes + k * size, ones.data(), size) == 0);
      }
      CHECK(std::memcmp(bytes + size, pad.raw(), size) == 0);
    }
  }
  CHECK_EQ(*Tensor::number(DType::kFloat16, -1.5).data<uint16_t>(), 0xbe00);
  CHECK_EQ(*Tensor::number(DType::kFloat16, 65519).data<uint16_t>(), 0x7bff);
  CHECK_EQ(*Tensor::number(DType::kFloat16, 65520).data<uint16_t>(), 0x7c00);
  CHECK_EQ(*Tensor::number(DType::kFloat16, std::ldexp(1.0, -24)).data<uint16_t>(), 1);
  CHECK_EQ(*Tensor::number(DType::kBfloat16, 1).data<uint16_t>(), 0x3f80);
  CHECK_THROWS(Tensor::number(DType::kUint8, 256), Code::kInvalidArgument, "not a value of type");
}

TEST(shuffles_reject_invalid_states) {
  const auto dataset = dataset_of("ShuffleDataset", {{"buffer_size", number(6)}}, rows_of(20));
  auto iterator = dataset->make_iterator();
  elements_of(*iterator, 2);
  const NamedTensors good = iterator->save();
  NamedTensors bad = good;
  bad["numbers"] = Tensor::vector(std::vector<int64_t>(7, 3));
  CHECK_THROWS(iterator->restore(bad), Code::kDataLoss,
               "7 saved elements do not fit into a buffer of 6");
  bad = good;
  bad["numbers"] = Tensor::vector(std::vector<int64_t>(6, 20));
  CHECK_THROWS(iterator->restore(bad), Code::kDataLoss, "Invalid saved row 20 in 20 rows");
  bad = good;
  bad.erase("random/drawn");
  CHECK_THROWS(iterator->restore(bad), Code::kDataLoss, "no integer 'drawn'");
  const std::string rest = text_of(elements_of(*iterator));
  auto again = dataset->make_iterator();
  again->restore(good);
  CHECK_EQ(text_of(elements_of(*again)), rest);
}

TEST(row_numbers_match_single_elements) {
  std::mt19937_64 random(11);
  for (int i = 0; i < 50; ++i) {
    // Only the first dataset has a row table; the second passes on elements, not row numbers.
    std::vector<DatasetPtr> pair = {rows_of(20),
                                    dataset_of("SkipDataset", {{"count", number(0)}}, rows_of(20))};
    CHECK(pair[0]->row_table() && !pair[1]->row_table());
    for (int64_t steps = 0; steps < 4; ++steps) {
      const uint64_t kind = random() % 4;
      const auto size = static_cast<int64_t>(random() % 30) + 1;
      for (DatasetPtr& dataset : pair) {
        const Value count = number(size);
        if (kind == 0) dataset = dataset_of("TakeDataset", {{"count", count}}, dataset);
        if (kind == 1)
          dataset = dataset_of("RepeatDataset", {{"count", number(size % 4)}}, dataset);
        if (kind == 2) {
          dataset =
              dataset_of("ShuffleDataset", {{"buffer_size", count}, {"seed", number(5)}}, dataset);
        }
        if (kind == 3) {
          dataset = dataset_of("ShuffleAndRepeatDataset",
                               {{"buffer_size", count}, {"seed", number(6)}, {"count", number(2)}},
                               dataset);
        }
      }
    }
    for (const bool batched : {false, true}) {
      std::vector<std::string> texts;
      std::vector<int64_t> seen;
      for (DatasetPtr dataset : pair) {
        if (batched) dataset = dataset_of("BatchDataset", {{"batch_size", number(3)}}, dataset);
        auto iterator = dataset->make_iterator();
        texts.push_back(text_of(elements_of(*iterator, 7)));
        seen.push_back(iterator->rows_seen());
        texts.back() += text_of(elements_of(*iterator, 200));
      }
      CHECK_EQ(texts[0], texts[1]);
      CHECK_EQ(seen[0], seen[1]);
    }
  }
}

TEST(descriptions_distinguish_pipelines) {
  const auto batch = dataset_of("BatchDataset", {{"batch_size", number(3)}}, range_of(5));
  CHECK_EQ(batch->description(), "Batch(batch_size = 3) of Range(to = 5)");
  const auto one =
      dataset_of("ShuffleDataset", {{"buffer_size", number(6)}, {"seed", number(1)}}, range_of(5));
  const auto other =
      dataset_of("ShuffleDataset", {{"buffer_size", number(6)}, {"seed", number(2)}}, range_of(5));
  CHECK_EQ(one->pipeline_signature(), other->pipeline_signature());  // it does not contain the seed
}

TEST(pipeline_signature_and_fingerprint_identify_a_position) {
  const auto rows = [](int64_t n, double last) {
    Tensor numbers(DType::kFloat32, Shape{n});
    for (int64_t i = 0; i < n; ++i) numbers.data<float>()[i] = static_cast<float>(i);
    numbers.data<float>()[n - 1] = static_cast<float>(last);
    const auto components = std::make_shared<ValueList>();
    components->push_back(Value::of(numbers));
    return dataset_of("BatchDataset", {{"batch_size", number(2)}},
                      dataset_of("TensorSliceDataset", {{"components", Value::of(components)}}));
  };
  const auto one = rows(9, 1), same = rows(9, 1), value = rows(9, 2), longer = rows(10, 1);
  CHECK_EQ(one->pipeline_signature(), "Batch(batch_size = 2) of TensorSlice()");
  CHECK_EQ(one->pipeline_signature(), longer->pipeline_signature());
  CHECK_EQ(one->data_fingerprint().fingerprint(), same->data_fingerprint().fingerprint());
  CHECK(one->data_fingerprint().fingerprint() != value->data_fingerprint().fingerprint());
  CHECK(one->data_fingerprint().fingerprint() != longer->data_fingerprint().fingerprint());
  CHECK(one->data_fingerprint().description().find("in memory float32(9,)") == 0);
  // Functions that return datasets are part of the signature, including their data.
  CHECK(flat_mapped(range_of(3))->pipeline_signature() !=
        interleaved(range_of(3), 1, 1)->pipeline_signature());
  const auto by_two =
                 dataset_of("FlatMapDataset",
                            {{"map_func", repeating_function(range_of(3), 2, false)}}, range_of(3)),
             by_three =
                 dataset_of("FlatMapDataset",
                            {{"map_func", repeating_function(range_of(3), 3, false)}}, range_of(3));
  CHECK(by_two->pipeline_signature() != by_three->pipeline_signature());
  // Strings are compared by content, not by dictionary code.
  const auto words = [](const std::vector<std::string>& before) {
    const auto dictionary = std::make_shared<StringDictionary>();
    for (const std::string& word : before) dictionary->code(word);
    Tensor tensor(DType::kString, Shape{2});
    tensor.set_dictionary(dictionary);
    tensor.data<int32_t>()[0] = dictionary->code("a");
    tensor.data<int32_t>()[1] = dictionary->code("b");
    DataFingerprint content;
    content.add(tensor);
    return content.fingerprint();
  };
  CHECK_EQ(words({}), words({"b", "x"}));
}

TEST(string_dictionaries_grow_and_keep_their_codes) {
  StringDictionary dictionary;
  const std::string& first = dictionary.at(dictionary.code("0"));
  for (int i = 0; i < 1000; ++i) CHECK_EQ(dictionary.code(str_cat(i)), i);
  for (int i = 0; i < 1000; ++i) CHECK_EQ(dictionary.at(i), str_cat(i));
  CHECK_EQ(dictionary.size(), 1000);
  CHECK_EQ(&first, &dictionary.at(0));
}

TEST(dataset_functions_receive_elements_in_order) {
  CHECK(numbers_of(*doubled(range_of(4))) == (Numbers{0, 2, 4, 6}));
  CHECK(numbers_of(*doubled(range_of(200), 4)) == numbers_of(*doubled(range_of(200))));
  CHECK(numbers_of(*filtered(range_of(6), 4)) == (Numbers{4, 5}));
  CHECK(numbers_of(*flat_mapped(range_of(3))) == (Numbers{0, 0, 1, 1, 2, 2}));
  CHECK(numbers_of(*interleaved(range_of(4), 2, 2)) ==
        (Numbers{0, 0, 1, 1, 0, 1, 2, 2, 3, 3, 2, 3}));
  CHECK(numbers_of(*windows(range_of(5), 2, 3, true)) == (Numbers{0, 1, 3, 4}));
}

namespace {

// Returns a dataset of the numbers 0, 1, ..., n - 1, with errors at the positions in `bad`.
DatasetPtr failing_at(const std::vector<int>& bad, int n, int64_t calls = 1) {
  std::vector<std::string> words;
  for (int i = 0; i < n; ++i) {
    words.push_back(std::count(bad.begin(), bad.end(), i) ? "x" : str_cat(i));
  }
  const auto components = std::make_shared<ValueList>();
  components->push_back(Value::of(Tensor::strings({n}, words)));
  const auto source = dataset_of("TensorSliceDataset", {{"components", Value::of(components)}});
  const auto builder = [](Graph& g, const std::vector<Output>& args) {
    return std::vector<Output>{g.op("StringToNumber", {args[0]}).attr("out_type", DType::kFloat32)};
  };
  return dataset_of(
      "MapDataset",
      {{"function", function_value(source, builder)}, {"num_parallel_calls", number(calls)}},
      source);
}

// Returns the results of reading from an iterator as text, such as "0 E 2 ", where E is an error.
std::string outcomes_of(DatasetIterator& iterator, size_t limit = 40) {
  std::string text;
  for (size_t i = 0; i < limit; ++i) {
    ComponentsSink sink;
    try {
      if (!iterator.next(sink)) break;
      const Tensor x = sink.take()[0];
      for (int64_t k = 0; k < x.num_elements(); ++k) text += str_cat(k ? "," : "", x.number_at(k));
    } catch (const Error&) {
      text += "E";
    }
    text += " ";
  }
  return text;
}

// Checks the results of reading, also if the iterator is saved and restored at any position.
void check_outcomes(const DatasetPtr& dataset, const std::string& expected) {
  CHECK_EQ(outcomes_of(*dataset->make_iterator()), expected);
  for (size_t cut = 0; cut < 9; ++cut) {
    auto one = dataset->make_iterator(), other = dataset->make_iterator();
    const std::string before = outcomes_of(*one, cut);
    other->restore(one->save());
    CHECK_EQ(before + outcomes_of(*other), expected);
  }
}

}  // namespace

TEST(errors_repeat_after_a_restore_and_later_elements_follow) {
  for (const int64_t calls : {1, 3}) {
    const auto mapped =
        dataset_of("PrefetchDataset", {{"buffer_size", number(3)}}, failing_at({5}, 10, calls));
    check_outcomes(mapped, "0 1 2 3 4 E 6 7 8 9 ");
    auto one = mapped->make_iterator(), other = mapped->make_iterator();
    CHECK_EQ(elements_of(*one, 5).size(), size_t{5});
    other->restore(one->save());
    CHECK_THROWS(elements_of(*other, 1), Code::kInvalidArgument, "x");
  }
}

// Expected results are those of TensorFlow 1.15 and 2.15.
TEST(an_error_belongs_to_the_windows_of_its_element) {
  const auto windows_at = [](int64_t size, int64_t shift, int64_t stride, bool drops,
                             const std::vector<int>& bad) {
    return windows(failing_at(bad, 8), size, shift, true, stride, drops);
  };
  check_outcomes(windows_at(1, 2, 1, false, {1}), "0 2 4 6 ");
  check_outcomes(windows_at(1, 2, 1, false, {2}), "0 E 4 6 ");
  check_outcomes(windows_at(2, 1, 1, false, {3}), "0,1 1,2 E E 4,5 5,6 6,7 7 ");
  check_outcomes(windows_at(2, 1, 2, false, {3}), "0,2 E 2,4 E 4,6 5,7 6 7 ");
  check_outcomes(windows_at(3, 1, 1, true, {3}), "0,1,2 E E E 4,5,6 5,6,7 ");
  check_outcomes(windows_at(2, 3, 1, false, {1, 2}), "E 3,4 6,7 ");
  check_outcomes(windows_at(2, 4, 2, false, {1, 2}), "E 4,6 ");
  check_outcomes(windows_at(2, 1, 2, false, {7}), "0,2 1,3 2,4 3,5 4,6 E 6 E ");
  check_outcomes(windows_at(3, 2, 2, true, {7}), "0,2,4 2,4,6 ");
}

// Expected results are those of TensorFlow 2.15. In 1.15, elements after an error are combined with
// elements of other positions.
TEST(an_error_of_one_zipped_dataset_is_an_error_of_the_pair) {
  const auto zipped = [](const std::vector<DatasetPtr>& datasets) {
    return dataset_of("ZipDataset", {{"datasets", list_of(datasets)}});
  };
  const auto second = [](const DatasetPtr& dataset) {
    const auto builder = [](Graph&, const std::vector<Output>& args) {
      return std::vector<Output>{args[1]};
    };
    return dataset_of("MapDataset", {{"function", function_value(dataset, builder)}}, dataset);
  };
  check_outcomes(zipped({failing_at({1}, 3), failing_at({}, 1)}), "0 E ");
  check_outcomes(zipped({failing_at({}, 1), failing_at({1}, 3)}), "0 ");
  check_outcomes(zipped({failing_at({0}, 2), failing_at({0}, 2)}), "E 1 ");
  check_outcomes(zipped({failing_at({1, 2}, 4), failing_at({}, 1)}), "0 E ");
  check_outcomes(second(zipped({failing_at({1}, 4), range_of(3)})), "0 E 2 ");
  check_outcomes(zipped({failing_at({2}, 5), range_of(4), failing_at({1}, 5)}), "0 E E 3 ");
}

// Expected results are TensorFlow's with a prefetch between batches and windows. Without it,
// TensorFlow's windows drop an error at the end of the data, and treat it as the end.
TEST(windows_keep_an_error_of_the_last_batch) {
  const auto batches =
      dataset_of("BatchDataset", {{"batch_size", number(3)}}, windows(range_of(9), 2, 2, true));
  check_outcomes(batches, "0,1,2,3,4,5 E ");
  check_outcomes(windows(batches, 1, 1, true), "0,1,2,3,4,5 E ");
  check_outcomes(windows(batches, 2, 1, true), "E E ");
  check_outcomes(windows(dataset_of("RepeatDataset", {{"count", number(2)}}, batches), 1, 1, true),
                 "0,1,2,3,4,5 E 0,1,2,3,4,5 E ");
}

// Expected results are those of TensorFlow 2.15: an endless repeat ends after such a pass. In 1.15,
// it does not end.
TEST(a_pass_with_only_an_error_is_repeated) {
  const auto repeated = [](int64_t count, const DatasetPtr& dataset) {
    return dataset_of("RepeatDataset", {{"count", number(count)}}, dataset);
  };
  check_outcomes(repeated(2, failing_at({0}, 1)), "E E ");
  check_outcomes(repeated(2, failing_at({0, 1}, 2)), "E E E E ");
  check_outcomes(repeated(2, range_of(0)), "");
  check_outcomes(repeated(-1, failing_at({0}, 1)), "E ");
  CHECK_EQ(outcomes_of(*repeated(-1, failing_at({0}, 2))->make_iterator(), 5), "E 1 E 1 E ");
  CHECK_EQ(outcomes_of(*repeated(-1, failing_at({1}, 2))->make_iterator(), 5), "0 E 0 E 0 ");
}

// --- random compositions

namespace {

using Random = std::mt19937_64;

int64_t draw(Random& random, int64_t from, int64_t to) {
  return std::uniform_int_distribution<int64_t>(from, to)(random);
}

DatasetPtr random_source(Random& random) {
  switch (draw(random, 0, 2)) {
    case 0:
      return range_of(draw(random, 0, 30));
    case 1:
      return rows_of(draw(random, 1, 30));
    default:
      return dataset_of(
          "SampleFromDatasets",
          {{"datasets", list_of({range_of(draw(random, 1, 12)), range_of(draw(random, 1, 12))})}});
  }
}

DatasetPtr random_step(Random& random, const DatasetPtr& dataset) {
  const Value few = number(draw(random, 1, 5));
  switch (draw(random, 0, 14)) {
    case 0:
      return dataset_of("TakeDataset", {{"count", number(draw(random, 0, 20))}}, dataset);
    case 1:
      return dataset_of("SkipDataset", {{"count", few}}, dataset);
    case 2:
      return dataset_of("RepeatDataset", {{"count", few}}, dataset);
    case 3:
      return dataset_of("ShuffleDataset", {{"buffer_size", number(draw(random, 1, 12))}}, dataset);
    case 4:
      return dataset_of("ShuffleAndRepeatDataset",
                        {{"buffer_size", number(draw(random, 1, 12))}, {"count", few}}, dataset);
    case 5:
      return dataset_of("PaddedBatchDataset", {{"batch_size", few}}, dataset);
    case 6:
      return doubled(dataset, draw(random, 1, 3));
    case 7:
      return doubled(dataset, draw(random, 1, 3), true);
    case 8:
      return filtered(dataset, static_cast<double>(draw(random, 0, 4)));
    case 9:
      return flat_mapped(dataset);
    case 10:
      return interleaved(dataset, draw(random, 1, 4), draw(random, 1, 3));
    case 11:
      return dataset_of("PrefetchDataset", {{"buffer_size", few}}, dataset);
    case 12:
      return dataset_of("ShardDataset", {{"num_shards", number(2)}, {"index", number(1)}}, dataset);
    case 13:
      return dataset_of("CacheDataset", {}, dataset);
    default:
      return dataset_of("ConcatenateDataset",
                        {{"other", Value::of(std::shared_ptr<CoreObject>(dataset))}}, dataset);
  }
}

}  // namespace

TEST(random_pipelines_resume) {
  const char* seed_text = std::getenv("RUNHOOKS_SEED");
  const uint64_t seed = seed_text ? std::strtoull(seed_text, nullptr, 10) : std::random_device()();
  std::fprintf(stderr, "random_pipelines: RUNHOOKS_SEED=%llu repeats it\n",
               static_cast<unsigned long long>(seed));
  Random random(seed);
  const char* count = std::getenv("RUNHOOKS_PROPERTIES");
  const int64_t pipelines = count ? std::strtoll(count, nullptr, 10) : 200;
  for (int64_t i = 0; i < pipelines; ++i) {
    DatasetPtr dataset = random_source(random);
    for (int64_t steps = draw(random, 1, 6); steps > 0; --steps) {
      dataset = random_step(random, dataset);
    }
    check_resumes(*dataset, static_cast<size_t>(draw(random, 0, 40)), 60);
    check_iterators_are_independent(*dataset, random, 40);
  }
}
