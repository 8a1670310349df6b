#include <limits>

#include "io/proto/wire.h"
#include "trees/ensemble.h"

namespace runhooks {

namespace {

// --- Writing

void write_leaf(WireWriter& out, int field, const std::vector<float>& leaf) {
  out.put_nested(field, [&] {
    if (leaf.size() <= 1) {
      out.add_float(3, leaf_value(leaf, 0));
    } else {
      out.put_nested(1, [&] { out.add_packed_floats(1, leaf.data(), leaf.size()); });
    }
  });
}

// Categorical splits of TensorFlow have no default direction: it skips their field 6.
void write_split(WireWriter& out, int field, const TreeNode& node) {
  out.put_nested(field, [&] {
    out.add_int(1, node.feature_id).add_int(2, node.threshold);
    out.add_int(3, node.left_id).add_int(4, node.right_id);
    out.add_int(5, node.dimension_id).add_int(6, node.missing_goes_right);
  });
}

void write_node(WireWriter& out, const TreeNode& node) {
  out.put_nested(1, [&] {
    switch (node.kind) {
      case TreeNode::Kind::kLeaf:
        write_leaf(out, 1, node.leaf);
        break;
      case TreeNode::Kind::kBucketized:
        write_split(out, 2, node);
        break;
      case TreeNode::Kind::kCategorical:
        write_split(out, 3, node);
        break;
    }
    if (!node.has_metadata) return;
    out.put_nested(777, [&] {
      out.add_float(1, node.gain);
      if (node.has_original_leaf) write_leaf(out, 2, node.original_leaf);
    });
  });
}

void write_metadata(WireWriter& out, const Tree& tree) {
  out.put_nested(3, [&] {
    out.add_int(2, tree.num_layers_grown).add_bool(3, tree.is_finalized);
    for (const PrunedNode& node : tree.pruned) {
      out.put_nested(4, [&] {
        out.add_int(1, node.new_node_id);
        out.add_packed_floats(2, node.logit_change.data(), node.logit_change.size());
      });
    }
  });
}

// --- Reading

// Reads a non-negative id or count; `name` is for the message.
int32_t read_number(const WireReader& r, const char* name) {
  const int64_t value = r.integer();
  if (value < 0 || value > std::numeric_limits<int32_t>::max()) {
    r.damaged(str_cat(name, " ", value, " is invalid"));
  }
  return static_cast<int32_t>(value);
}

std::vector<float> read_vector(WireReader r) {
  std::vector<float> values;
  while (r.next()) {
    if (r.field() == 1) r.append_floats(values);
  }
  return values;
}

std::vector<float> read_leaf(WireReader r) {
  std::vector<float> leaf;
  while (r.next()) {
    if (r.field() == 1) leaf = read_vector(r.message());
    if (r.field() == 2) r.damaged("a leaf is a sparse vector, which is not supported");
    if (r.field() == 3) leaf = {r.float32()};
  }
  return leaf;
}

void read_split(WireReader r, TreeNode::Kind kind, TreeNode* node) {
  node->kind = kind;
  while (r.next()) {
    switch (r.field()) {
      case 1:
        node->feature_id = read_number(r, "feature");
        break;
      case 2:
        node->threshold = r.int32();
        break;
      case 3:
        node->left_id = read_number(r, "node");
        break;
      case 4:
        node->right_id = read_number(r, "node");
        break;
      case 5:
        node->dimension_id = read_number(r, "dimension");
        break;
      case 6:
        node->missing_goes_right = r.boolean();
        break;
      default:
        break;
    }
  }
}

void read_node_metadata(WireReader r, TreeNode* node) {
  node->has_metadata = true;
  while (r.next()) {
    if (r.field() == 1) node->gain = r.float32();
    if (r.field() != 2) continue;
    node->has_original_leaf = true;
    node->original_leaf = read_leaf(r.message());
  }
}

TreeNode read_node(WireReader r) {
  TreeNode node;
  bool has_kind = false;
  while (r.next()) {
    if (r.field() >= 1 && r.field() <= 3) has_kind = true;
    if (r.field() == 1) node.leaf = read_leaf(r.message());
    if (r.field() == 2) read_split(r.message(), TreeNode::Kind::kBucketized, &node);
    if (r.field() == 3) read_split(r.message(), TreeNode::Kind::kCategorical, &node);
    if (r.field() == 4) r.damaged("a node splits values instead of buckets, which is unsupported");
    if (r.field() == 777) read_node_metadata(r.message(), &node);
  }
  if (!has_kind) r.damaged("a node is neither a leaf nor a split");
  if (!node.is_leaf()) node.leaf.clear();
  return node;
}

std::vector<TreeNode> read_nodes(WireReader r) {
  std::vector<TreeNode> nodes;
  while (r.next()) {
    if (r.field() == 1) nodes.push_back(read_node(r.message()));
  }
  return nodes;
}

PrunedNode read_pruned(WireReader r) {
  PrunedNode node;
  while (r.next()) {
    if (r.field() == 1) node.new_node_id = read_number(r, "node");
    if (r.field() == 2) r.append_floats(node.logit_change);
  }
  return node;
}

// Members of Tree that TensorFlow stores in a separate message, TreeMetadata.
struct TreeMetadata {
  int32_t num_layers_grown = 0;
  bool is_finalized = false;
  std::vector<PrunedNode> pruned;
};

TreeMetadata read_tree_metadata(WireReader r) {
  TreeMetadata metadata;
  while (r.next()) {
    if (r.field() == 2) metadata.num_layers_grown = read_number(r, "layer");
    if (r.field() == 3) metadata.is_finalized = r.boolean();
    if (r.field() == 4) metadata.pruned.push_back(read_pruned(r.message()));
  }
  return metadata;
}

void read_growing_metadata(WireReader r, TreeEnsemble* ensemble) {
  ensemble->last_layer_node_end = 0;
  while (r.next()) {
    if (r.field() == 1) ensemble->num_trees_attempted = read_number(r, "tree");
    if (r.field() == 2) ensemble->num_layers_attempted = read_number(r, "layer");
    if (r.field() == 3) ensemble->last_layer_node_start = read_number(r, "node");
    if (r.field() == 4) ensemble->last_layer_node_end = read_number(r, "node");
  }
}

// --- Checks

class TreeChecker {
 public:
  TreeChecker(const Tree& tree, size_t index, const WireReader& r)
      : tree_(tree), index_(index), r_(r) {}

  // Each node except the root has at most one parent, which precedes it.
  void check() const {
    const auto count = static_cast<int64_t>(tree_.nodes.size());
    if (count == 0) damaged("has no nodes");
    std::vector<char> is_child(tree_.nodes.size(), 0);
    for (int64_t i = 0; i < count; ++i) {
      const TreeNode& node = tree_.nodes[static_cast<size_t>(i)];
      if (node.is_leaf()) continue;
      for (const int32_t child : {node.left_id, node.right_id}) {
        if (child <= i || child >= count) {
          damaged(str_cat("has ", count, " nodes, but node ", i, " has child ", child));
        }
        char& has_parent = is_child[static_cast<size_t>(child)];
        if (has_parent) damaged(str_cat("has two parents of node ", child));
        has_parent = 1;
      }
    }
    for (const PrunedNode& pruned : tree_.pruned) {
      if (pruned.new_node_id >= count) {
        damaged(str_cat("has ", count, " nodes, but a pruned node became ", pruned.new_node_id));
      }
    }
  }

 private:
  [[noreturn]] void damaged(const std::string& problem) const {
    r_.damaged(str_cat("tree ", static_cast<int64_t>(index_), " ", problem));
  }
  const Tree& tree_;
  size_t index_;
  const WireReader& r_;
};

void check(const TreeEnsemble& ensemble, const WireReader& r) {
  for (size_t i = 0; i < ensemble.trees.size(); ++i) {
    TreeChecker(ensemble.trees[i], i, r).check();
  }
  if (ensemble.trees.empty()) return;
  const auto count = static_cast<int64_t>(ensemble.trees.back().nodes.size());
  const int64_t start = ensemble.last_layer_node_start, end = ensemble.last_layer_node_end;
  if (start > end || end > count) {
    r.damaged(
        str_cat("the last tree has ", count, " nodes, but its last layer is ", start, " to ", end));
  }
  for (int64_t i = start; i < end; ++i) {
    if (ensemble.trees.back().nodes[static_cast<size_t>(i)].is_leaf()) continue;
    r.damaged(str_cat("node ", i, " of the last layer is not a leaf"));
  }
}

}  // namespace

std::string TreeEnsemble::serialize() const {
  WireWriter out;
  std::vector<float> weights;
  for (const Tree& tree : trees) {
    out.put_nested(1, [&] {
      for (const TreeNode& node : tree.nodes) write_node(out, node);
    });
    weights.push_back(tree.weight);
  }
  out.add_packed_floats(2, weights.data(), weights.size());
  for (const Tree& tree : trees) write_metadata(out, tree);
  if (trees.empty()) return out.take();
  out.put_nested(4, [&] {
    out.add_int(1, num_trees_attempted).add_int(2, num_layers_attempted);
    out.add_int(3, last_layer_node_start).add_int(4, last_layer_node_end);
  });
  return out.take();
}

TreeEnsemble TreeEnsemble::parse(std::string_view bytes, std::string_view where) {
  TreeEnsemble ensemble;
  std::vector<float> weights;
  std::vector<TreeMetadata> metadata;
  WireReader r(bytes, where);
  while (r.next()) {
    if (r.field() == 1) {
      ensemble.trees.emplace_back();
      ensemble.trees.back().nodes = read_nodes(r.message());
    }
    if (r.field() == 2) r.append_floats(weights);
    if (r.field() == 3) metadata.push_back(read_tree_metadata(r.message()));
    if (r.field() == 4) read_growing_metadata(r.message(), &ensemble);
  }
  const size_t count = ensemble.trees.size();
  if (weights.size() != count || metadata.size() != count) {
    r.damaged(str_cat("it has ", static_cast<int64_t>(count), " trees, but ",
                      static_cast<int64_t>(weights.size()), " weights and ",
                      static_cast<int64_t>(metadata.size()), " metadata entries"));
  }
  for (size_t i = 0; i < count; ++i) {
    Tree& tree = ensemble.trees[i];
    tree.weight = weights[i];
    tree.num_layers_grown = metadata[i].num_layers_grown;
    tree.is_finalized = metadata[i].is_finalized;
    tree.pruned = std::move(metadata[i].pruned);
  }
  check(ensemble, r);
  return ensemble;
}

}  // namespace runhooks
