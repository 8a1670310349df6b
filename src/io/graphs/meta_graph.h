// MetaGraphDef and SavedModel: a graph with its saver, collections and signatures.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "graph/variable.h"

namespace runhooks {

struct SaverDef {
  std::string filename_tensor_name, save_tensor_name, restore_op_name;
  int max_to_keep = 5;
  bool sharded = true;
  float keep_checkpoint_every_n_hours = 10000;
  int version = 2;
};

struct TensorInfo {
  std::string name;
  DType dtype = DType::kInvalid;
  std::optional<Shape> shape;
  // Component tensors of a sparse tensor, which has no `name`.
  std::string values_name, indices_name, dense_shape_name;

  TensorInfo() = default;
  explicit TensorInfo(const Output& tensor)
      : name(tensor.name()), dtype(tensor.dtype()), shape(tensor.shape()) {}
};

struct SignatureDef {
  std::map<std::string, TensorInfo> inputs, outputs;
  std::string method_name;
};

struct AssetFileDef {
  std::string tensor_name, filename;
};

struct CollectionDef {
  enum class Kind { kNodeList = 1, kBytesList = 2, kInt64List = 3, kFloatList = 4, kAnyList = 5 };
  Kind kind = Kind::kNodeList;
  std::vector<std::string> strings;
  std::vector<int64_t> ints;
  std::vector<float> floats;
  std::vector<std::pair<std::string, std::string>> anys;  // type URL and serialized message
};

struct MetaGraphDef {
  std::vector<std::string> tags;
  std::string meta_graph_version, tensorflow_version = "1.15.5", tensorflow_git_version;
  bool stripped_default_attrs = false;
  std::string op_list;
  std::string graph_def;
  std::optional<SaverDef> saver_def;
  std::map<std::string, CollectionDef> collections;
  std::map<std::string, SignatureDef> signatures;
  std::vector<AssetFileDef> asset_files;
};

std::string write_meta_graph(const MetaGraphDef& meta_graph);
// Serializes `meta_graph`. Its graph is the concatenated parts, not `meta_graph.graph_def`.
std::string write_meta_graph(const MetaGraphDef& meta_graph,
                             const std::vector<std::string_view>& graph_def_parts);
MetaGraphDef read_meta_graph(std::string_view bytes, const std::string& where);
// Returns the serialized MetaGraphDefs.
std::vector<std::string> read_saved_model(std::string_view bytes, const std::string& where);

struct VariableDef {
  std::string variable_name, initializer_name, snapshot_name, initial_value_name;
  bool is_resource = false, trainable = true;
  std::optional<SaveSliceInfo> slice;
};
VariableDef read_variable_def(std::string_view bytes, const std::string& where);
SaverDef read_saver_def(std::string_view bytes, const std::string& where);
// Returns the assets of a SavedModel, from its field `asset_file_def` and from its collection
// "saved_model_assets".
std::vector<AssetFileDef> asset_files(const MetaGraphDef& meta_graph, const std::string& where);
std::string write_saved_model(const std::vector<std::string>& meta_graphs);

std::string write_saver_def(const SaverDef& saver);
std::string write_variable_def(const Variable& variable);

// Returns the collections as tf.train.export_meta_graph() writes them: variables as VariableDefs,
// tensors and operations by name, strings as bytes. Omits collections with other items.
std::map<std::string, CollectionDef> collection_defs(const Graph& graph);

CollectionDef node_list(std::vector<std::string> names);
CollectionDef asset_collection(const std::vector<AssetFileDef>& assets);

}  // namespace runhooks
