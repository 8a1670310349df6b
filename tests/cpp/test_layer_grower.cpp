// Compares trees grown on binned data with an exhaustive search in double precision. Also tests
// extreme data.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <map>
#include <memory>
#include <random>
#include <set>
#include <vector>

#include "test.h"
#include "threads_test.h"
#include "trees/layer_grower.h"

using namespace runhooks;
using runhooks_test::Threads;

namespace {

constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();
constexpr float kInf = std::numeric_limits<float>::infinity();

// A table whose columns contain bin numbers, with -1 for missing values.
struct Table {
  std::vector<BinnedColumn> columns;
  std::vector<std::vector<int32_t>> bins;
  int64_t rows() const { return static_cast<int64_t>(bins[0].size()); }
  std::unique_ptr<BinnedMatrix> matrix() const {
    auto made = std::make_unique<BinnedMatrix>(rows(), columns);
    made->fill([this](int32_t column, int64_t first, int64_t n, int32_t* out) {
      std::copy_n(bins[static_cast<size_t>(column)].begin() + first, n, out);
    });
    return made;
  }
  int32_t bucket(int32_t feature, int64_t row) const {
    for (size_t c = 0; c < columns.size(); ++c) {
      const BinnedColumn& column = columns[c];
      const int32_t bin = bins[c][static_cast<size_t>(row)];
      if (column.kind == BinnedColumn::Kind::kOrdered) {
        if (column.first_feature == feature) return bin;
      } else if (feature >= column.first_feature &&
                 feature < column.first_feature + column.features) {
        return bin < 0 ? kMissingBucket : bin == feature - column.first_feature;
      }
    }
    return kMissingBucket;
  }
};

Table random_table(std::mt19937& random, int64_t rows, size_t columns) {
  Table table;
  int32_t feature = 0;
  for (size_t c = 0; c < columns; ++c) {
    BinnedColumn column;
    column.first_feature = feature;
    const int32_t sizes[] = {1, 2, 5, 40, 255, 256, 300};
    column.bins = sizes[random() % 7];
    column.has_missing = random() % 3 == 0;
    if (column.bins <= 40 && random() % 3 == 0) column.kind = BinnedColumn::Kind::kCategories;
    // The last bin may belong to no string, because a column can have fewer strings than bins.
    if (column.kind == BinnedColumn::Kind::kCategories) {
      column.features = std::max(1, column.bins - static_cast<int32_t>(random() % 2));
    }
    feature += column.features;
    std::vector<int32_t> bins;
    for (int64_t i = 0; i < rows; ++i) {
      const bool missing = column.has_missing && random() % 5 == 0;
      bins.push_back(missing ? -1
                             : static_cast<int32_t>(random() % static_cast<uint32_t>(column.bins)));
    }
    table.columns.push_back(column);
    table.bins.push_back(std::move(bins));
  }
  return table;
}

double gain_of(const std::vector<GradientSums>& sums, const SplitCosts& costs) {
  double gain = 0;
  for (const GradientSums& own : sums) gain += leaf_gain(own, costs);
  return gain;
}

// The sums of gradients on each side of a split, one per logit.
struct Sides {
  std::vector<GradientSums> left, right;
  int64_t rows_left = 0, rows_right = 0;
};

Sides part(const Table& table,
           const std::vector<int64_t>& rows,
           const TreeNode& question,
           const std::vector<float>& g,
           const std::vector<float>& h,
           size_t logits) {
  Sides sides{std::vector<GradientSums>(logits), std::vector<GradientSums>(logits)};
  for (const int64_t row : rows) {
    const bool left = question.child(table.bucket(question.feature_id, row)) == question.left_id;
    (left ? sides.rows_left : sides.rows_right) += 1;
    for (size_t k = 0; k < logits; ++k) {
      GradientSums& sum = (left ? sides.left : sides.right)[k];
      sum.gradient += static_cast<double>(g[static_cast<size_t>(row) * logits + k]);
      sum.hessian += static_cast<double>(h[static_cast<size_t>(row) * logits + k]);
    }
  }
  return sides;
}

double gain_of(const Sides& sides, const SplitCosts& costs) {
  std::vector<GradientSums> all = sides.left;
  double weight = 0;
  for (size_t k = 0; k < all.size(); ++k) {
    all[k].gradient += sides.right[k].gradient;
    all[k].hessian += sides.right[k].hessian;
    weight += all[k].hessian;
  }
  if (!(weight > costs.min_node_weight)) return -kInf;
  return gain_of(sides.left, costs) + gain_of(sides.right, costs) - gain_of(all, costs) -
         costs.tree_complexity;
}

// Returns the best gain of all splits.
double best_gain(const Table& table,
                 const std::vector<int64_t>& rows,
                 const std::vector<float>& g,
                 const std::vector<float>& h,
                 size_t logits,
                 const SplitCosts& costs) {
  double best = -kInf;
  TreeNode question;
  question.kind = TreeNode::Kind::kBucketized;
  question.left_id = 1;
  question.right_id = 2;
  for (const BinnedColumn& column : table.columns) {
    const bool ordered = column.kind == BinnedColumn::Kind::kOrdered;
    for (int32_t i = 0; i < (ordered ? column.bins : column.features); ++i) {
      question.feature_id = column.first_feature + (ordered ? 0 : i);
      question.threshold = ordered ? i : 0;
      for (const bool right : {false, true}) {
        question.missing_goes_right = right;
        best = std::max(best, gain_of(part(table, rows, question, g, h, logits), costs));
      }
    }
  }
  return best;
}

TreeNode question_of(const LayerSplit& split, const Tree& tree) {
  TreeNode node;
  node.kind = TreeNode::Kind::kBucketized;
  node.feature_id = split.feature;
  node.threshold = split.threshold;
  node.missing_goes_right = split.missing_goes_right;
  node.left_id = static_cast<int32_t>(tree.nodes.size());
  node.right_id = node.left_id + 1;
  return node;
}

bool is_close(double a, double b) { return std::abs(a - b) <= 2e-4 * (1 + std::abs(b)); }

// Grows a tree of three layers and checks that each split is the best one. Gradients and hessians
// are multiples of `step`, so that the grower's fixed-point numbers are exact. Without leaf costs,
// the gain of a tiny hessian would mostly be its rounding error.
void check_tree(const Table& table,
                size_t logits,
                const SplitCosts& costs,
                std::mt19937& random,
                float step = 0) {
  const auto n = static_cast<size_t>(table.rows());
  LayerGrower grower(table.matrix(), static_cast<int32_t>(logits));
  std::normal_distribution<float> draw;
  Tree tree;
  int32_t begin = 0, end = 1;
  for (int64_t layer = 0; layer < 3; ++layer) {
    std::vector<float> g(n * logits), h(n * logits);
    const auto drawn = [&] {
      const float x = draw(random);
      return step > 0 ? std::round(x / step) * step : x;
    };
    for (float& x : g) x = drawn();
    for (float& x : h) x = std::abs(drawn());
    std::map<int32_t, std::vector<int64_t>> rows;
    std::set<int64_t> seen;
    Threads one(1);
    grower.each_segment(
        [&](int32_t node, const uint16_t* ids, int64_t count, int64_t first, int64_t) {
          for (int64_t i = 0; i < count; ++i) {
            rows[node].push_back(first + ids[i]);
            seen.insert(first + ids[i]);
          }
        });
    CHECK_EQ(seen.size(), n);
    const std::vector<LayerSplit> splits =
        grower.best_splits(begin, end, g.data(), h.data(), layer, costs);
    begin = static_cast<int32_t>(tree.nodes.size());
    for (const LayerSplit& split : splits) {
      const TreeNode question = question_of(split, tree);
      const Sides sides = part(table, rows[split.node], question, g, h, logits);
      CHECK(is_close(split.gain, gain_of(sides, costs)));
      CHECK(is_close(split.gain, best_gain(table, rows[split.node], g, h, logits, costs)));
      for (size_t k = 0; k < logits; ++k) {
        CHECK(is_close(split.left[k], leaf_contribution(sides.left[k], costs)));
        CHECK(is_close(split.right[k], leaf_contribution(sides.right[k], costs)));
      }
      tree.split(split.node, question, split.left, split.right);
    }
    end = static_cast<int32_t>(tree.nodes.size());
    grower.route_rows(tree, [](int64_t) {});
  }
}

// Grows some layers and returns their splits as text.
std::string grown(const Table& table, int threads, const std::vector<float>& y) {
  Threads set(threads);
  LayerGrower grower(table.matrix(), 1);
  std::vector<float> logits(y.size()), g(y.size()), h(y.size());
  std::string text;
  for (int t = 0; t < 2; ++t) {
    const std::vector<float> before = logits;
    Tree tree;
    int32_t begin = 0, end = 1;
    grower.start_tree();
    for (int layer = 0; layer < 4; ++layer) {
      for (size_t i = 0; i < y.size(); ++i) {
        const float p = 1 / (1 + std::exp(-logits[i]));
        g[i] = p - y[i];
        h[i] = p * (1 - p);
      }
      const auto splits = grower.best_splits(begin, end, g.data(), h.data(), 4 * t + layer, {});
      begin = static_cast<int32_t>(tree.nodes.size());
      for (const LayerSplit& split : splits) {
        char words[200];
        std::snprintf(words, sizeof(words), "%d: %d %d %d %a %a %a\n", split.node, split.feature,
                      split.threshold, split.missing_goes_right, split.gain,
                      static_cast<double>(split.left[0]), static_cast<double>(split.right[0]));
        text += words;
        tree.split(split.node, question_of(split, tree), split.left, split.right);
      }
      end = static_cast<int32_t>(tree.nodes.size());
      grower.route_rows(tree, [](int64_t) {});
      grower.each_segment(
          [&](int32_t node, const uint16_t* ids, int64_t n, int64_t first, int64_t) {
            const float leaf = leaf_value(tree.nodes[static_cast<size_t>(node)].leaf, 0);
            for (int64_t i = 0; i < n; ++i) {
              const auto row = static_cast<size_t>(first + ids[i]);
              logits[row] = before[row] + leaf;
            }
          });
    }
  }
  return text;
}

}  // namespace

TEST(layer_grower_matches_an_exhaustive_search) {
  const auto seed =
      static_cast<uint32_t>(std::chrono::system_clock::now().time_since_epoch().count());
  std::printf("layer_grower: seed %u\n", seed);
  std::mt19937 random(seed);
  for (int i = 0; i < 12; ++i) {
    const Table table =
        random_table(random, 1 + static_cast<int64_t>(random() % 300), 1 + random() % 6);
    SplitCosts costs;
    if (i % 2) costs = {0.5, 0.3, 0.01, 1};
    check_tree(table, i % 4 == 3 ? 3 : 1, costs, random, i % 2 ? 0 : 1.0f / 1024);
  }
  // Tests more rows than a chunk has, and more columns than a group has.
  check_tree(random_table(random, 17000, 2), 1, {0, 1, 0, 0}, random);
  check_tree(random_table(random, 60, 70), 1, {0, 1, 0, 0}, random);
}

TEST(layer_grower_gives_the_same_bits_with_any_number_of_threads) {
  std::mt19937 random(19);
  Table table = random_table(random, 70000, 5);
  std::vector<float> y;
  for (int64_t i = 0; i < table.rows(); ++i) y.push_back(random() % 3 == 0);
  const std::string one = grown(table, 1, y);
  CHECK(one.size() > 500);
  CHECK(grown(table, 2, y) == one);
}

TEST(layer_grower_resumes_within_a_tree) {
  std::mt19937 random(23);
  const Table table = random_table(random, 20000, 4);
  std::vector<float> g(20000), h(20000, 1);
  for (float& x : g) x = static_cast<float>(random() % 100) - 50;
  LayerGrower grower(table.matrix(), 1);
  Tree tree;
  for (int32_t layer = 0, begin = 0, end = 1; layer < 3; ++layer) {
    const auto splits = grower.best_splits(begin, end, g.data(), h.data(), layer, {});
    begin = end = static_cast<int32_t>(tree.nodes.size());
    for (const LayerSplit& s : splits) tree.split(s.node, question_of(s, tree), s.left, s.right);
    end = static_cast<int32_t>(tree.nodes.size());
    grower.route_rows(tree, [](int64_t) {});
  }
  LayerGrower other(table.matrix(), 1);
  other.route_rows(tree, [](int64_t) {});
  const auto nodes = [](const LayerGrower& of) {
    std::vector<int32_t> node(20000, -1);
    of.each_segment([&](int32_t own, const uint16_t* ids, int64_t n, int64_t first, int64_t) {
      for (int64_t i = 0; i < n; ++i) node[static_cast<size_t>(first + ids[i])] = own;
    });
    return node;
  };
  CHECK(nodes(grower) == nodes(other));
  for (int64_t row = 0; row < 20000; row += 17) {
    int32_t node = 0;
    while (!tree.nodes[static_cast<size_t>(node)].is_leaf()) {
      const TreeNode& question = tree.nodes[static_cast<size_t>(node)];
      node = question.child(table.bucket(question.feature_id, row));
    }
    CHECK_EQ(nodes(grower)[static_cast<size_t>(row)], node);
  }
  // Tests a finished tree, whose last splits are evaluated but not applied.
  const std::vector<int32_t> expected = nodes(other);
  for (const bool is_new : {false, true}) {
    LayerGrower last(table.matrix(), 1);
    LayerGrower& of = is_new ? last : other;
    of.start_tree();
    std::vector<int32_t> leaves(20000, -1);
    of.each_leaf(tree, [&](const std::array<int32_t, 2>& pair, const uint16_t* ids,
                           const uint8_t* which, int64_t n, int64_t first) {
      for (int64_t i = 0; i < n; ++i) leaves[static_cast<size_t>(first + ids[i])] = pair[which[i]];
    });
    CHECK(leaves == expected);
  }
}

TEST(layer_grower_handles_extreme_data) {
  Table table;
  table.columns = {{BinnedColumn::Kind::kOrdered, 0, 1, 1, false}};
  table.bins = {{0}};
  {
    LayerGrower one_row(table.matrix(), 1);
    const float g = 1, h = 1;
    // A split without gain is made, as TensorFlow does without pruning.
    CHECK_EQ(one_row.best_splits(0, 1, &g, &h, 0, {})[0].gain, 0.0);
  }
  table.bins = {{0, 0, 0}};
  LayerGrower constant(table.matrix(), 1);
  const std::vector<float> zeros(3, 0), ones(3, 1), huge = {1e38f, -1e38f, 3e38f};
  CHECK_EQ(constant.best_splits(0, 1, ones.data(), ones.data(), 0, {})[0].gain, 0.0);
  CHECK(constant.best_splits(0, 1, ones.data(), ones.data(), 0, {0, 0, 0, 3}).empty());
  CHECK(constant.best_splits(0, 1, zeros.data(), zeros.data(), 0, {}).empty());
  table.columns[0].bins = 3;
  table.bins = {{0, 1, 2}};
  LayerGrower grower(table.matrix(), 1);
  for (const auto& [g, h] :
       {std::pair(zeros, zeros), std::pair(huge, ones), std::pair(ones, huge)}) {
    for (const LayerSplit& split : grower.best_splits(0, 1, g.data(), h.data(), 0, {})) {
      CHECK(!std::isnan(split.gain));
      CHECK(!std::isnan(split.left[0]) && !std::isnan(split.right[0]));
    }
  }
  const std::vector<float> bad = {0, kNaN, 0}, endless = {0, 0, kInf};
  CHECK_THROWS(grower.best_splits(0, 1, bad.data(), ones.data(), 0, {}), Code::kInvalidArgument,
               "The gradient of row 2 is nan");
  CHECK_THROWS(grower.best_splits(0, 1, ones.data(), endless.data(), 0, {}), Code::kInvalidArgument,
               "The hessian of row 3 is inf");
  table.bins = {{0, 1, 3}};
  CHECK_THROWS(table.matrix(), Code::kInvalidArgument, "lies in bin 3");
  table.bins = {{0, 1, -1}};
  CHECK_THROWS(table.matrix(), Code::kInvalidArgument, "lies in bin -1");
  table.columns[0].bins = 65537;
  CHECK_THROWS(table.matrix(), Code::kInvalidArgument, "65537 bins");
}

TEST(layer_grower_supports_65536_bins) {
  Table table;
  table.columns = {{BinnedColumn::Kind::kOrdered, 0, 1, 65536, false}};
  table.bins.emplace_back();
  for (int32_t i = 0; i < 500; ++i) table.bins[0].push_back(i * 131);
  std::vector<float> g(500, 1), h(500, 1);
  for (size_t i = 300; i < 500; ++i) g[i] = -1;
  LayerGrower grower(table.matrix(), 1);
  const auto splits = grower.best_splits(0, 1, g.data(), h.data(), 0, {});
  CHECK_EQ(splits.size(), size_t{1});
  CHECK_EQ(splits[0].threshold, 299 * 131);
  CHECK_EQ(splits[0].left[0], -1.0f);
  CHECK_EQ(splits[0].right[0], 1.0f);
}
