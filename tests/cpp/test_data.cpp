// Tests batches of rows in memory: order, epochs, shuffling, positions.

#include <algorithm>
#include <set>
#include <thread>

#include "child_test.h"
#include "data/dataset_function.h"
#include "data/in_memory.h"
#include "data/input_progress.h"
#include "datasets_test.h"
#include "io/files/atomic_file.h"
#include "ops/state/py_func.h"
#include "session/session.h"
#include "test.h"
#include "training/saver.h"

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

TEST(batches_span_epochs_and_only_the_last_is_short) {
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
  auto iterator = dataset->make_iterator(), second = dataset->make_iterator();
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
  std::vector<int32_t> second_stream;
  for (const auto& batch : all_batches(*second))
    second_stream.insert(second_stream.end(), batch.begin(), batch.end());
  CHECK(stream == second_stream);
}

TEST(iterators_resume_from_a_saved_position) {
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

TEST(datasets_reject_invalid_arguments) {
  CHECK_THROWS(in_memory_dataset({rows(2), rows(3)}, options(1, 1)), Code::kInvalidArgument,
               "same number of rows");
  CHECK_THROWS(in_memory_dataset({rows(2)}, options(0, 1)), Code::kInvalidArgument,
               "batch size must be 1 or more");
  CHECK(all_batches(*in_memory_dataset({rows(0)}, options(2, 0))->make_iterator()).empty());
}

TEST(next_element_is_an_operation_that_ends_out_of_range) {
  auto g = std::make_shared<Graph>();
  const Tensor matrix = Tensor::of<float>({3, 2}, {0, 1, 2, 3, 4, 5});
  const Tensor strings = Tensor::strings({3}, {"a", "b", "a"});
  const auto next = next_element(*g, in_memory_dataset({matrix, strings}, options(2, 1)));
  Session session(g);
  const auto first = session.run({next[0], next[1]});
  CHECK(first[0].equals(Tensor::of<float>({2, 2}, {0, 1, 2, 3})));
  CHECK_EQ(first[1].string_at(1), "b");
  CHECK_EQ(session.run({next[0], next[1]})[1].string_at(0), "a");
  CHECK_THROWS(session.run(next[0]), Code::kOutOfRange, "End of sequence");
  const InputProgress progress = input_progress(session);
  CHECK(progress.is_known);
  CHECK_EQ(progress.rows, 3);
  CHECK(progress.wait_seconds > 0);
  Session anew(g);
  CHECK_EQ(anew.run(next[0]).shape(), (Shape{2, 2}));
}

TEST(states_of_iterators_hold_the_seed_and_are_checked) {
  InMemoryOptions options_with_seed = options(4, 3, true), other = options(4, 3, true);
  other.seed = 7;
  auto one = in_memory_dataset({rows(11)}, options_with_seed)->make_iterator();
  const auto expected =
      all_batches(*in_memory_dataset({rows(11)}, options_with_seed)->make_iterator());
  CollectingSink sink;
  one->next(sink);
  auto next = in_memory_dataset({rows(11)}, other)->make_iterator();
  next->restore(one->save());
  CHECK(next->next(sink));
  CHECK(sink.values() == expected[1]);
  NamedTensors damaged = one->save();
  damaged["position"] = Tensor::scalar(int64_t{12});
  CHECK_THROWS(next->restore(damaged), Code::kDataLoss, "Invalid saved position: row 12");
  damaged["position"] = Tensor::scalar(int64_t{-1});
  CHECK_THROWS(next->restore(damaged), Code::kDataLoss, "Invalid saved position: row -1");
  damaged.erase("position");
  CHECK_THROWS(next->restore(damaged), Code::kDataLoss, "no integer 'position'");
  CHECK(next->next(sink));
  CHECK(sink.values() == expected[2]);
}

namespace {

// Returns a function that maps x to x + noise, and to x as text. The noise comes from a random
// generator that belongs to the function.
std::shared_ptr<const DatasetFunction> noise_function(double scale = 1) {
  const auto builder = [scale](Graph& g, const std::vector<Output>& args) {
    const Output x = g.op("Cast", {args[0]}).attr("DstT", DType::kFloat64);
    const Output shape = g.op("Shape", {args[0]}).attr("out_type", DType::kInt32);
    const Output noise = g.op("RandomUniform", {shape}).attr("dtype", DType::kFloat64);
    const Output scaled = g.op("Mul", {noise, g.scalar(DType::kFloat64, scale)});
    return std::vector<Output>{g.op("Add", {x, scaled}), g.op("AsString", {args[0]})};
  };
  return DatasetFunction::make({DType::kInt32}, {Shape{-1}}, builder);
}

// Maps `function` over the elements of `source`, and prefetches `buffer_size` elements.
std::shared_ptr<Dataset> map_dataset(std::shared_ptr<Dataset> source,
                                     std::shared_ptr<const DatasetFunction> function,
                                     int64_t buffer_size = 0) {
  auto mapped = runhooks_test::dataset_of(
      "MapDataset",
      {{"function", Value::of(std::shared_ptr<CoreObject>(
                        std::const_pointer_cast<DatasetFunction>(std::move(function))))}},
      std::move(source));
  if (buffer_size == 0) return mapped;
  return runhooks_test::dataset_of("PrefetchDataset", {{"buffer_size", Value::of(buffer_size)}},
                                   mapped);
}

struct Pair {
  std::vector<double> numbers;
  std::vector<std::string> strings;
  bool operator==(const Pair& o) const { return numbers == o.numbers && strings == o.strings; }
};

std::vector<Pair> all_pairs(DatasetIterator& iterator, size_t limit = 1000) {
  std::vector<Pair> all;
  ComponentsSink sink;
  while (all.size() < limit && iterator.next(sink)) {
    const Components components = sink.take();
    Pair pair;
    for (int64_t i = 0; i < components[0].num_elements(); ++i) {
      pair.numbers.push_back(components[0].number_at(i));
      pair.strings.push_back(components[1].string_at(i));
    }
    all.push_back(pair);
    sink = ComponentsSink();
  }
  return all;
}

}  // namespace

TEST(mapped_elements_come_from_a_function_with_its_own_plan) {
  const auto mapped = map_dataset(in_memory_dataset({rows(7)}, options(3, 2)), noise_function(), 2);
  CHECK(mapped->dtypes() == (std::vector<DType>{DType::kFloat64, DType::kString}));
  CHECK(!mapped->runs_on_main_thread());
  const std::vector<Pair> all = all_pairs(*mapped->make_iterator());
  CHECK_EQ(all.size(), size_t{5});
  CHECK_EQ(all[2].strings[1], "0");  // this batch has the rows 6, 0, 1
  CHECK(all[2].numbers[0] > 6 && all[2].numbers[0] < 7);
  CHECK(all[0].numbers[0] != all[2].numbers[1]);  // the same row, with other noise
}

TEST(mapped_iterators_resume_bit_for_bit) {
  for (const int64_t buffer_size : {0, 3}) {
    const auto source = in_memory_dataset({rows(11)}, options(2, 3, true));
    const auto mapped = map_dataset(source, noise_function(), buffer_size);
    auto whole = mapped->make_iterator();
    const NamedTensors start = whole->save();
    const std::vector<Pair> expected = all_pairs(*whole);
    for (size_t cut = 0; cut <= expected.size(); cut += 3) {
      auto first = mapped->make_iterator(), second = mapped->make_iterator();
      first->restore(start);  // uses the random seeds of `start`
      all_pairs(*first, cut);
      all_pairs(*second, 2);
      second->restore(first->save());
      CHECK_EQ(second->rows_seen(), first->rows_seen());
      const std::vector<Pair> rest = all_pairs(*second);
      CHECK(std::equal(rest.begin(), rest.end(), expected.begin() + static_cast<long>(cut),
                       expected.end()));
    }
  }
}

TEST(nested_forks_of_a_context_have_different_seeds) {
  Graph graph;
  graph.set_seed(7);
  IteratorContext context(graph);
  std::set<std::pair<uint64_t, uint64_t>> seen;
  const auto draws = [&](IteratorContext& from) {
    for (int i = 0; i < 3; ++i) {
      const Seeds seeds = from.seeds(std::nullopt);
      CHECK(seen.emplace(seeds.seed, seeds.seed2).second);
    }
  };
  for (int depth = 0; depth < 4; ++depth) {
    draws(context);
    context = context.fork();
  }
}

TEST(dataset_functions_are_thread_safe) {
  const auto function = noise_function();
  IteratorContext context;
  const auto instance = function->instantiate(context);
  std::vector<std::thread> threads;
  std::vector<int> num_valid(4, 0);
  for (size_t t = 0; t < num_valid.size(); ++t) {
    threads.emplace_back([&, t] {
      for (int64_t n = 1; n <= 50; ++n) {
        const Components results = instance->run({rows(n)});
        const double last = results[0].number_at(n - 1);
        num_valid[t] += results[0].num_elements() == n && last >= double(n - 1) && last < double(n);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const int count : num_valid) CHECK_EQ(count, 50);
}

TEST(dataset_functions_reject_variables_and_other_graphs) {
  Graph outer;
  const Output foreign = outer.scalar(DType::kFloat32, 1);
  const auto make = [](const DatasetFunction::Builder& builder) {
    return DatasetFunction::make({DType::kInt32}, {Shape{-1}}, builder);
  };
  CHECK_THROWS(
      make([&](Graph&, const std::vector<Output>&) { return std::vector<Output>{foreign}; }),
      Code::kInvalidArgument, "is not an element of this graph");
  CHECK_THROWS(make([](Graph& g, const std::vector<Output>&) {
                 VariableOptions variable;
                 variable.initializer = zeros_initializer();
                 return std::vector<Output>{g.variables().get("v", {}, variable)->snapshot};
               }),
               Code::kUnimplemented, "cannot create variables");
  CHECK(noise_function()->fingerprint() == noise_function()->fingerprint());
  CHECK(noise_function()->fingerprint() != noise_function(2)->fingerprint());
}

namespace {

class Doubling : public TensorFunction {
 public:
  std::vector<Tensor> call(const std::vector<Tensor>& inputs, const std::vector<DType>&) override {
    return {Tensor::number(DType::kFloat64, 2 * inputs[0].number_at(0))};
  }
};

}  // namespace

TEST(functions_that_call_the_language_run_on_the_main_thread) {
  const auto builder = [](Graph& g, const std::vector<Output>& args) {
    Operation* op =
        make_py_func(g, std::make_shared<Doubling>(), args, {DType::kFloat64}, true, "f");
    return std::vector<Output>{op->output(0)};
  };
  const auto function = DatasetFunction::make({DType::kInt32}, {Shape{-1}}, builder);
  CHECK(function->runs_on_main_thread());
  const auto source = in_memory_dataset({rows(3)}, options(1, 1));
  CHECK(!source->runs_on_main_thread());
  const auto mapped = map_dataset(source, function);
  CHECK(mapped->runs_on_main_thread());
  auto iterator = mapped->make_iterator();
  ComponentsSink sink;
  CHECK(iterator->next(sink) && iterator->next(sink));
  CHECK_EQ(sink.take()[0].number_at(0), 2.0);
}

namespace {

// Like hook_checkpoint_input_pipeline(): a graph whose checkpoints contain the position of its
// iterator.
struct Pipeline {
  std::shared_ptr<Graph> graph = std::make_shared<Graph>();
  std::vector<Output> next;
  Saver saver;
  std::unique_ptr<Session> session;
  explicit Pipeline(const std::shared_ptr<Dataset>& dataset, bool saves = true) {
    get_or_create_global_step(*graph);
    next = next_element(*graph, dataset);
    const Output handle = std::get<Output>(graph->collection("iterators").front());
    if (saves) {
      graph->add_to_collection(collection_keys::kSaveableObjects,
                               make_saveable_from_iterator(handle));
    }
    saver.build(*graph);
    session = std::make_unique<Session>(graph);
    session->run(global_step(*graph)->initializer);
  }
  Pair element() {
    const std::vector<Tensor> values = session->run({next[0], next[1]});
    Pair pair;
    for (int64_t i = 0; i < values[0].num_elements(); ++i) {
      pair.numbers.push_back(values[0].number_at(i));
      pair.strings.push_back(values[1].string_at(i));
    }
    return pair;
  }
};

std::shared_ptr<Dataset> noisy_rows(uint64_t seed, int64_t batch_size = 3) {
  InMemoryOptions shuffled = options(batch_size, 0, true);
  shuffled.seed = seed;
  return map_dataset(in_memory_dataset({rows(10)}, shuffled), noise_function(), 2);
}

}  // namespace

TEST(killed_input_pipeline_resumes_from_its_checkpoint) {
  const std::string folder = runhooks_test::temporary_folder() + "/pipeline";
  create_directories(folder);
  std::vector<Pair> expected;
  // The child process draws the random seeds, so this process knows them only from the checkpoint.
  const std::string path = folder + "/input.ckpt", rest = folder + "/rest";
  runhooks_test::ChildProcess child([&]() -> int {
    Pipeline killed(noisy_rows(1));
    for (int i = 0; i < 5; ++i) killed.element();
    killed.saver.save(*killed.session, path, -1);
    std::string text;
    for (int i = 0; i < 6; ++i) {
      for (const double x : killed.element().numbers) {
        text.append(reinterpret_cast<const char*>(&x), sizeof x);
      }
    }
    write_file_atomically(rest, text);
    runhooks_test::kill_this_process();
  });
  CHECK_EQ(child.wait(), runhooks_test::ChildProcess::kKilled);
  Pipeline second(noisy_rows(99));
  second.element();
  second.saver.restore(*second.session, path);
  std::string text;
  for (int i = 0; i < 6; ++i) {
    for (const double x : second.element().numbers) {
      text.append(reinterpret_cast<const char*>(&x), sizeof x);
    }
  }
  CHECK(text == read_whole_file(rest));

  Pipeline other(noisy_rows(1, 4));
  const Pair before = Pipeline(noisy_rows(1, 4)).element();
  CHECK_THROWS(other.saver.restore(*other.session, path), Code::kFailedPrecondition,
               "belongs to another input pipeline");
  CHECK(other.element().strings == before.strings);  // the failed restore changed nothing
  // Restoring a checkpoint without iterators, like TensorFlow's, leaves their positions unchanged.
  Pipeline plain(noisy_rows(1, 4), /*saves=*/false);
  other.saver.restore(*other.session, plain.saver.save(*plain.session, folder + "/plain", -1));
  CHECK(other.element().strings != before.strings);
}
