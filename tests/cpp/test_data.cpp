// Batches of rows in memory: order, epochs, shuffling, positions.
#include <algorithm>
#include <set>

#include "data/in_memory.h"
#include "session/session.h"
#include "test.h"

using namespace runhooks;

namespace {

Tensor rows(int64_t n) {
  Tensor t(DType::kInt32, Shape{n});
  for (int64_t i = 0; i < n; ++i) t.data<int32_t>()[i] = static_cast<int32_t>(i);
  return t;
}

class CollectingSink : public ElementSink {
 public:
  Tensor& allocate(int, DType dtype, const Shape& shape) override {
    tensor = Tensor(dtype, shape);
    return tensor;
  }
  std::vector<int32_t> values() const {
    return std::vector<int32_t>(tensor.data<int32_t>(),
                                tensor.data<int32_t>() + tensor.num_elements());
  }
  Tensor tensor;
};

std::vector<std::vector<int32_t>> all_batches(DatasetIterator& iterator) {
  std::vector<std::vector<int32_t>> batches;
  CollectingSink sink;
  while (iterator.next(sink)) batches.push_back(sink.values());
  return batches;
}

InMemoryOptions options(int64_t batch_size, int64_t num_epochs, bool shuffle = false) {
  InMemoryOptions all;
  all.batch_size = batch_size;
  all.num_epochs = num_epochs;
  all.shuffle = shuffle;
  all.seed = 42;
  return all;
}

}  // namespace

TEST(batches_run_on_across_epochs_and_only_the_last_is_short) {
  const auto dataset = in_memory_dataset({rows(5)}, options(3, 2));
  auto iterator = dataset->make_iterator();
  const std::vector<std::vector<int32_t>> expected = {{0, 1, 2}, {3, 4, 0}, {1, 2, 3}, {4}};
  CHECK(all_batches(*iterator) == expected);
  CHECK_EQ(iterator->rows_seen(), int64_t{10});
  CHECK(dataset->shapes()[0] == Shape{-1});
}

TEST(batches_larger_than_the_data) {
  CHECK(all_batches(*in_memory_dataset({rows(2)}, options(8, 1))->make_iterator()) ==
        (std::vector<std::vector<int32_t>>{{0, 1}}));
  const auto endless = in_memory_dataset({rows(2)}, options(5, 0));
  CHECK(endless->shapes()[0] == Shape{5});
  auto iterator = endless->make_iterator();
  CollectingSink sink;
  CHECK(iterator->next(sink));
  CHECK(sink.values() == (std::vector<int32_t>{0, 1, 0, 1, 0}));
}

TEST(shuffled_epochs_hold_each_row_once_and_repeat_by_seed) {
  const auto dataset = in_memory_dataset({rows(50)}, options(7, 3, true));
  auto iterator = dataset->make_iterator(), again = dataset->make_iterator();
  std::vector<int32_t> stream;
  for (const auto& batch : all_batches(*iterator))
    stream.insert(stream.end(), batch.begin(), batch.end());
  CHECK_EQ(stream.size(), size_t{150});
  std::vector<std::vector<int32_t>> orders;
  for (size_t epoch = 0; epoch < 3; ++epoch) {
    const auto begin = stream.begin() + static_cast<long>(50 * epoch);
    orders.emplace_back(begin, begin + 50);
    CHECK_EQ(std::set<int32_t>(begin, begin + 50).size(), size_t{50});
  }
  CHECK(orders[0] != orders[1] && orders[1] != orders[2]);
  std::vector<int32_t> second;
  for (const auto& batch : all_batches(*again))
    second.insert(second.end(), batch.begin(), batch.end());
  CHECK(stream == second);
}

TEST(iterators_go_on_from_a_saved_position) {
  for (const bool shuffle : {false, true}) {
    const auto dataset = in_memory_dataset({rows(11)}, options(4, 3, shuffle));
    auto whole = dataset->make_iterator(), first = dataset->make_iterator(),
         second = dataset->make_iterator();
    const auto expected = all_batches(*whole);
    for (size_t cut = 0; cut <= expected.size(); ++cut) {
      first = dataset->make_iterator();
      CollectingSink sink;
      for (size_t i = 0; i < cut; ++i) first->next(sink);
      second->restore(first->save());
      const auto rest = all_batches(*second);
      CHECK(std::equal(rest.begin(), rest.end(), expected.begin() + static_cast<long>(cut),
                       expected.end()));
    }
  }
}

TEST(datasets_refuse_what_does_not_fit) {
  CHECK_THROWS(in_memory_dataset({rows(2), rows(3)}, options(1, 1)), Code::kInvalidArgument,
               "same number of rows");
  CHECK_THROWS(in_memory_dataset({rows(2)}, options(0, 1)), Code::kInvalidArgument,
               "batch size must be 1 or more");
  CHECK(all_batches(*in_memory_dataset({rows(0)}, options(2, 0))->make_iterator()).empty());
}

TEST(next_element_is_an_operation_that_ends_out_of_range) {
  auto g = std::make_shared<Graph>();
  const Tensor matrix = Tensor::of<float>({3, 2}, {0, 1, 2, 3, 4, 5});
  const Tensor words = Tensor::strings({3}, {"a", "b", "a"});
  const auto next = next_element(*g, in_memory_dataset({matrix, words}, options(2, 1)));
  Session session(g);
  const auto first = session.run({next[0], next[1]});
  CHECK(first[0].equals(Tensor::of<float>({2, 2}, {0, 1, 2, 3})));
  CHECK_EQ(first[1].string_at(1), "b");
  CHECK_EQ(session.run({next[0], next[1]})[1].string_at(0), "a");
  CHECK_THROWS(session.run(next[0]), Code::kOutOfRange, "End of sequence");
  CHECK(find_iterator(session.resources(), "IteratorV2") != nullptr);
  Session anew(g);
  CHECK_EQ(anew.run(next[0]).shape(), (Shape{2, 2}));
}
