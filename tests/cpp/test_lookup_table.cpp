// Tests ops without an example in the registry, because they have state or lists of types: tables,
// SparseCross.
#include <fstream>
#include <random>

#include "base/fingerprint.h"
#include "session/session.h"
#include "test.h"

using namespace runhooks;
using namespace runhooks_test;

namespace {

Output make_table(Graph& g) {
  return g.op("HashTableV2").attr("key_dtype", DType::kString).attr("value_dtype", DType::kInt64);
}

Output find(Graph& g, Output table, const std::vector<std::string>& words) {
  const Shape shape{static_cast<int64_t>(words.size())};
  return g.op("LookupTableFindV2", {table, g.constant(Tensor::strings(shape, words)),
                                    g.constant(Tensor::scalar<int64_t>(-1))});
}

std::vector<int64_t> values(const Tensor& t) {
  return {t.data<int64_t>(), t.data<int64_t>() + t.num_elements()};
}

}  // namespace

TEST(lookup_tables_find_inserted_keys) {
  auto graph = std::make_shared<Graph>();
  Graph& g = *graph;
  const Output table = make_table(g);
  Operation* initialize =
      g.op("LookupTableImportV2", {table, g.constant(Tensor::strings(Shape{2}, {"b", "a"})),
                                   g.constant(Tensor::vector<int64_t>({7, 8}))});
  const Output found = find(g, table, {"a", "c", "b"});
  const Output size = g.op("LookupTableSizeV2", {table});
  Session session(graph);
  CHECK_THROWS(session.run({found}), Code::kFailedPrecondition, "Table not initialized");
  session.run(initialize);
  CHECK(values(session.run({found})) == std::vector<int64_t>({8, -1, 7}));
  CHECK(values(session.run({size})) == std::vector<int64_t>({2}));
}

TEST(lookup_tables_are_filled_from_files) {
  const std::string path = temporary_folder() + "/words.txt";
  std::ofstream(path) << "red\ngreen\nblue\n";
  auto graph = std::make_shared<Graph>();
  Graph& g = *graph;
  const Output table = make_table(g);
  const auto initialize = [&](int64_t size) -> Operation* {
    return g.op("InitializeTableFromTextFileV2", {table, g.constant(Tensor::string_scalar(path))})
        .attr("key_index", -2)
        .attr("value_index", -1)
        .attr("vocab_size", size);
  };
  Operation *too_long = initialize(4), *good = initialize(2);
  const Output found = find(g, table, {"green", "blue"});
  Session session(graph);
  CHECK_THROWS(session.run(too_long), Code::kInvalidArgument, "expected 4 but got 3");
  Session other(graph);
  other.run(good);
  CHECK(values(other.run({found})) == std::vector<int64_t>({1, -1}));
}

// Uses neighbouring integers that round to the same double, as keys and as values.
TEST(lookup_tables_distinguish_large_integers) {
  const int64_t large = (int64_t{1} << 53) + 1;
  auto graph = std::make_shared<Graph>();
  Graph& g = *graph;
  const Output table =
      g.op("HashTableV2").attr("key_dtype", DType::kInt64).attr("value_dtype", DType::kInt64);
  const Output keys = g.constant(Tensor::vector<int64_t>({large, large - 1}));
  Operation* initialize = g.op("InitializeTableV2", {table, keys, keys});
  const Output queries = g.constant(Tensor::vector<int64_t>({large - 1, large, 0}));
  const Output found =
      g.op("LookupTableFindV2", {table, queries, g.constant(Tensor::scalar<int64_t>(large + 2))});
  Session session(graph);
  session.run(initialize);
  CHECK(values(session.run({found})) == std::vector<int64_t>({large - 1, large, large + 2}));
}

// TensorFlow's reader drops carriage returns, so a Windows file has the same strings.
TEST(lookup_tables_read_files_with_carriage_returns) {
  const std::string path = temporary_folder() + "/words.txt";
  std::ofstream(path, std::ios::binary) << "red\r\ngreen\r\nblue\r\n";
  auto graph = std::make_shared<Graph>();
  Graph& g = *graph;
  const Output table = make_table(g);
  Operation* initialize =
      g.op("InitializeTableFromTextFileV2", {table, g.constant(Tensor::string_scalar(path))})
          .attr("key_index", -2)
          .attr("value_index", -1);
  const Output words = g.constant(Tensor::strings({2}, {"green", "blue"}));
  const Output ids = g.op("VocabularyFileIds", {words})
                         .attr("filename", path)
                         .attr("vocab_size", 3)
                         .attr("key_dtype", DType::kString);
  const Output found = find(g, table, {"green", "blue"});
  Session session(graph);
  session.run(initialize);
  CHECK(values(session.run({found})) == std::vector<int64_t>({1, 2}));
  CHECK(values(session.run({ids})) == std::vector<int64_t>({1, 2}));
}

// The expected buckets are TensorFlow 1.15's.
TEST(sparse_cross_of_dense_keys) {
  auto graph = std::make_shared<Graph>();
  Graph& g = *graph;
  const Output words = g.constant(Tensor::strings(Shape{2, 2}, {"a", "", "", ""}));
  const Output letters = g.constant(Tensor::strings(Shape{2, 1}, {"x", ""}));
  Operation* cross = g.op("SparseCross", {words, letters})
                         .attr("N", 0)
                         .attr("hashed_output", true)
                         .attr("num_buckets", 100)
                         .attr("hash_key", int64_t{956888297470})
                         .attr("out_type", DType::kInt64)
                         .attr("internal_type", DType::kInt64)
                         .attr("sparse_types", std::vector<DType>{})
                         .attr("dense_types", std::vector<DType>{DType::kString, DType::kString});
  Session session(graph);
  CHECK(values(session.run({cross->output(1)})) == std::vector<int64_t>({92, 62, 73, 73}));
  CHECK(values(session.run({cross->output(2)})) == std::vector<int64_t>({2, 2}));
}

TEST(sparse_cross_of_random_keys_has_all_combinations) {
  std::mt19937 random(7);
  const auto random_below = [&random](int64_t n) { return static_cast<int64_t>(random() % n); };
  constexpr uint64_t kHashKey = 956888297470;
  for (int round = 0; round < 20; ++round) {
    const int64_t rows = 1 + random_below(6), width = random_below(3);
    const int num_sparse = static_cast<int>(random_below(3));
    auto graph = std::make_shared<Graph>();
    Graph& g = *graph;
    std::vector<Output> indices, numbers, shapes;
    std::vector<std::vector<std::vector<uint64_t>>> keys;
    for (int k = 0; k < num_sparse; ++k) {
      const int64_t n = random_below(2 * rows + 1);
      std::vector<int64_t> coordinates, row_values;
      keys.emplace_back(static_cast<size_t>(rows));
      for (int64_t i = 0; i < n; ++i) {  // random order of rows
        coordinates.insert(coordinates.end(), {random_below(rows), i});
        row_values.push_back(random_below(1000) - 500);
        keys.back()[static_cast<size_t>(coordinates[coordinates.size() - 2])].push_back(
            static_cast<uint64_t>(row_values.back()));
      }
      Tensor key_indices(DType::kInt64, Shape{n, 2});
      std::copy(coordinates.begin(), coordinates.end(), key_indices.data<int64_t>());
      indices.push_back(g.constant(key_indices));
      numbers.push_back(g.constant(Tensor::vector<int64_t>(row_values)));
      shapes.push_back(g.constant(Tensor::vector<int64_t>({rows, n})));
    }
    std::vector<std::string> words;
    keys.emplace_back(static_cast<size_t>(rows));
    for (int64_t i = 0; i < rows * width; ++i) {
      words.push_back(str_cat("w", random_below(9)));
      keys.back()[static_cast<size_t>(i / width)].push_back(fingerprint64(words.back()));
    }
    std::vector<Output> inputs = indices;
    inputs.insert(inputs.end(), numbers.begin(), numbers.end());
    inputs.insert(inputs.end(), shapes.begin(), shapes.end());
    inputs.push_back(g.constant(Tensor::strings(Shape{rows, width}, words)));
    Operation* cross = g.op("SparseCross", inputs)
                           .attr("N", num_sparse)
                           .attr("hashed_output", true)
                           .attr("num_buckets", 1000)
                           .attr("hash_key", static_cast<int64_t>(kHashKey))
                           .attr("out_type", DType::kInt64)
                           .attr("internal_type", DType::kInt64)
                           .attr("sparse_types",
                                 std::vector<DType>(static_cast<size_t>(num_sparse), DType::kInt64))
                           .attr("dense_types", std::vector<DType>{DType::kString});
    std::vector<int64_t> expected, expected_indices;
    int64_t max_count = 0;
    for (int64_t r = 0; r < rows; ++r) {
      std::vector<uint64_t> hashes{kHashKey};
      for (const auto& key : keys) {
        std::vector<uint64_t> combined;
        for (uint64_t hash : hashes) {
          for (uint64_t value : key[static_cast<size_t>(r)]) {
            combined.push_back(fingerprint_cat64(hash, value));
          }
        }
        hashes = combined;
      }
      for (size_t i = 0; i < hashes.size(); ++i) {
        expected.push_back(static_cast<int64_t>(hashes[i] % 1000));
        expected_indices.insert(expected_indices.end(), {r, static_cast<int64_t>(i)});
      }
      max_count = std::max(max_count, static_cast<int64_t>(hashes.size()));
    }
    Session session(graph);
    for (int again = 0; again < 2; ++again) {
      CHECK(values(session.run({cross->output(0)})) == expected_indices);
      CHECK(values(session.run({cross->output(1)})) == expected);
      CHECK(values(session.run({cross->output(2)})) == (std::vector<int64_t>{rows, max_count}));
    }
  }
}
