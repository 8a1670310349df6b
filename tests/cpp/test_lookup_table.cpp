// Ops with state or lists of types, which have no example in the registry: tables, SparseCross.
#include <fstream>

#include "session/session.h"
#include "test.h"

using namespace runhooks;
using namespace runhooks_test;

namespace {

Output table_of(Graph& g) {
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

TEST(lookup_tables_find_what_was_put_into_them) {
  auto graph = std::make_shared<Graph>();
  Graph& g = *graph;
  const Output table = table_of(g);
  Operation* fill =
      g.op("LookupTableImportV2", {table, g.constant(Tensor::strings(Shape{2}, {"b", "a"})),
                                   g.constant(Tensor::vector<int64_t>({7, 8}))});
  const Output found = find(g, table, {"a", "c", "b"});
  const Output size = g.op("LookupTableSizeV2", {table});
  Session session(graph);
  CHECK_THROWS(session.run({found}), Code::kFailedPrecondition, "Table not initialized");
  session.run(fill);
  CHECK(values(session.run({found})) == std::vector<int64_t>({8, -1, 7}));
  CHECK(values(session.run({size})) == std::vector<int64_t>({2}));
}

TEST(lookup_tables_are_filled_from_files) {
  const std::string path = temporary_folder() + "/words.txt";
  std::ofstream(path) << "red\ngreen\nblue\n";
  auto graph = std::make_shared<Graph>();
  Graph& g = *graph;
  const Output table = table_of(g);
  const auto fill = [&](int64_t size) -> Operation* {
    return g.op("InitializeTableFromTextFileV2", {table, g.constant(Tensor::string_scalar(path))})
        .attr("key_index", -2)
        .attr("value_index", -1)
        .attr("vocab_size", size);
  };
  Operation *too_long = fill(4), *good = fill(2);
  const Output found = find(g, table, {"green", "blue"});
  Session session(graph);
  CHECK_THROWS(session.run(too_long), Code::kInvalidArgument, "expected 4 but got 3");
  Session other(graph);
  other.run(good);
  CHECK(values(other.run({found})) == std::vector<int64_t>({1, -1}));
}

// Neighbours that one double stands for, as keys and as values.
TEST(lookup_tables_keep_large_integers_apart) {
  const int64_t large = (int64_t{1} << 53) + 1;
  auto graph = std::make_shared<Graph>();
  Graph& g = *graph;
  const Output table =
      g.op("HashTableV2").attr("key_dtype", DType::kInt64).attr("value_dtype", DType::kInt64);
  const Output keys = g.constant(Tensor::vector<int64_t>({large, large - 1}));
  Operation* fill = g.op("InitializeTableV2", {table, keys, keys});
  const Output asked = g.constant(Tensor::vector<int64_t>({large - 1, large, 0}));
  const Output found =
      g.op("LookupTableFindV2", {table, asked, g.constant(Tensor::scalar<int64_t>(large + 2))});
  Session session(graph);
  session.run(fill);
  CHECK(values(session.run({found})) == std::vector<int64_t>({large - 1, large, large + 2}));
}

// TensorFlow's reader drops carriage returns, so a file of Windows has the same words.
TEST(lookup_tables_read_files_with_carriage_returns) {
  const std::string path = temporary_folder() + "/words.txt";
  std::ofstream(path, std::ios::binary) << "red\r\ngreen\r\nblue\r\n";
  auto graph = std::make_shared<Graph>();
  Graph& g = *graph;
  const Output table = table_of(g);
  Operation* fill =
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
  session.run(fill);
  CHECK(values(session.run({found})) == std::vector<int64_t>({1, 2}));
  CHECK(values(session.run({ids})) == std::vector<int64_t>({1, 2}));
}

// As TensorFlow 1.15 crosses ["a", ""] with "x" in 100 buckets.
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
