// Reads MetaGraphDefs and SavedModels.

#include "io/files/atomic_file.h"
#include "io/graphs/meta_graph.h"
#include "io/proto/tensor_proto.h"

namespace runhooks {

namespace {

TensorInfo read_tensor_info(WireReader r) {
  TensorInfo info;
  while (r.next()) {
    if (r.field() == 1) info.name = r.text();
    if (r.field() == 2) info.dtype = static_cast<DType>(r.int32());
    if (r.field() == 3) info.shape = read_shape(r.message());
    if (r.field() != 4) continue;
    for (WireReader sparse = r.message(); sparse.next();) {
      if (sparse.field() == 1) info.values_name = sparse.text();
      if (sparse.field() == 2) info.indices_name = sparse.text();
      if (sparse.field() == 3) info.dense_shape_name = sparse.text();
    }
  }
  return info;
}

std::pair<std::string, std::string_view> read_map_entry(WireReader r) {
  std::pair<std::string, std::string_view> entry;
  while (r.next()) {
    if (r.field() == 1) entry.first = r.text();
    if (r.field() == 2) entry.second = r.bytes();
  }
  return entry;
}

SignatureDef read_signature(WireReader r) {
  SignatureDef signature;
  while (r.next()) {
    if (r.field() == 1 || r.field() == 2) {
      const auto entry = read_map_entry(r.message());
      auto& infos = r.field() == 1 ? signature.inputs : signature.outputs;
      infos[entry.first] = read_tensor_info(WireReader(entry.second, r.where()));
    }
    if (r.field() == 3) signature.method_name = r.text();
  }
  return signature;
}

AssetFileDef read_asset(WireReader r) {
  AssetFileDef asset;
  while (r.next()) {
    if (r.field() == 1) asset.tensor_name = read_tensor_info(r.message()).name;
    if (r.field() == 2) asset.filename = r.text();
  }
  return asset;
}

CollectionDef read_collection(WireReader r) {
  CollectionDef collection;
  while (r.next()) {
    if (r.field() < 1 || r.field() > 5) continue;
    collection = CollectionDef();
    collection.kind = static_cast<CollectionDef::Kind>(r.field());
    for (WireReader list = r.message(); list.next();) {
      if (list.field() != 1) continue;
      switch (collection.kind) {
        case CollectionDef::Kind::kNodeList:
        case CollectionDef::Kind::kBytesList:
          collection.strings.push_back(list.text());
          break;
        case CollectionDef::Kind::kInt64List:
          list.append_ints(collection.ints);
          break;
        case CollectionDef::Kind::kFloatList:
          list.append_floats(collection.floats);
          break;
        case CollectionDef::Kind::kAnyList: {
          const auto any = read_map_entry(list.message());
          collection.anys.emplace_back(any.first, std::string(any.second));
        }
      }
    }
  }
  return collection;
}

void read_meta_info(WireReader r, MetaGraphDef& meta_graph) {
  while (r.next()) {
    if (r.field() == 1) meta_graph.meta_graph_version = r.text();
    if (r.field() == 2) meta_graph.op_list = r.text();
    if (r.field() == 4) meta_graph.tags.push_back(r.text());
    if (r.field() == 5) meta_graph.tensorflow_version = r.text();
    if (r.field() == 6) meta_graph.tensorflow_git_version = r.text();
    if (r.field() == 7) meta_graph.stripped_default_attrs = r.boolean();
  }
}

SaveSliceInfo read_slice_info(WireReader r) {
  SaveSliceInfo slice;
  std::vector<int64_t> full_dims, slice_dims;
  while (r.next()) {
    if (r.field() == 1) slice.full_name = r.text();
    if (r.field() == 2) r.append_ints(full_dims);
    if (r.field() == 3) r.append_ints(slice.offset);
    if (r.field() == 4) r.append_ints(slice_dims);
  }
  const bool has_equal_rank = full_dims.size() == slice.offset.size() &&
                              full_dims.size() == slice_dims.size() &&
                              full_dims.size() <= static_cast<size_t>(Shape::kMaxRank);
  bool is_within_shape = has_equal_rank;
  for (size_t i = 0; has_equal_rank && i < full_dims.size(); ++i) {
    is_within_shape = is_within_shape && slice.offset[i] >= 0 && slice_dims[i] >= 0 &&
                      full_dims[i] >= 0 && full_dims[i] <= Shape::kMaxElements &&
                      slice_dims[i] <= full_dims[i] &&
                      slice.offset[i] <= full_dims[i] - slice_dims[i];
  }
  if (!is_within_shape)
    r.damaged("the slice of variable '" + slice.full_name + "' exceeds its shape");
  slice.full_shape = Shape(full_dims);
  slice.shape = Shape(slice_dims);
  return slice;
}

}  // namespace

VariableDef read_variable_def(std::string_view bytes, const std::string& where) {
  VariableDef def;
  for (WireReader r(bytes, where); r.next();) {
    if (r.field() == 1) def.variable_name = r.text();
    if (r.field() == 2) def.initializer_name = r.text();
    if (r.field() == 3) def.snapshot_name = r.text();
    if (r.field() == 4) def.slice = read_slice_info(r.message());
    if (r.field() == 5) def.is_resource = r.boolean();
    if (r.field() == 6) def.initial_value_name = r.text();
    if (r.field() == 7) def.trainable = r.boolean();
  }
  return def;
}

SaverDef read_saver_def(std::string_view bytes, const std::string& where) {
  SaverDef saver;
  saver.max_to_keep = 0;
  saver.sharded = false;
  saver.keep_checkpoint_every_n_hours = 0;
  saver.version = 0;
  for (WireReader r(bytes, where); r.next();) {
    if (r.field() == 1) saver.filename_tensor_name = r.text();
    if (r.field() == 2) saver.save_tensor_name = r.text();
    if (r.field() == 3) saver.restore_op_name = r.text();
    if (r.field() == 4) saver.max_to_keep = r.int32();
    if (r.field() == 5) saver.sharded = r.boolean();
    if (r.field() == 6) saver.keep_checkpoint_every_n_hours = r.float32();
    if (r.field() == 7) saver.version = r.int32();
  }
  return saver;
}

MetaGraphDef read_meta_graph(std::string_view bytes, const std::string& where) {
  MetaGraphDef meta_graph;
  meta_graph.tensorflow_version.clear();
  for (WireReader r(bytes, where); r.next();) {
    if (r.field() == 1) read_meta_info(r.message(), meta_graph);
    if (r.field() == 2) meta_graph.graph_def = r.text();
    if (r.field() == 3) meta_graph.saver_def = read_saver_def(r.bytes(), where);
    if (r.field() == 4) {
      const auto entry = read_map_entry(r.message());
      meta_graph.collections[entry.first] = read_collection(WireReader(entry.second, where));
    }
    if (r.field() == 5) {
      const auto entry = read_map_entry(r.message());
      meta_graph.signatures[entry.first] = read_signature(WireReader(entry.second, where));
    }
    if (r.field() == 6) meta_graph.asset_files.push_back(read_asset(r.message()));
  }
  return meta_graph;
}

std::vector<std::string> read_saved_model(std::string_view bytes, const std::string& where) {
  std::vector<std::string> meta_graphs;
  for (WireReader r(bytes, where); r.next();) {
    if (r.field() == 2) meta_graphs.push_back(r.text());
  }
  return meta_graphs;
}

std::vector<AssetFileDef> asset_files(const MetaGraphDef& meta_graph, const std::string& where) {
  std::vector<AssetFileDef> assets = meta_graph.asset_files;
  const auto assets_collection = meta_graph.collections.find("saved_model_assets");
  if (assets_collection != meta_graph.collections.end()) {
    for (const auto& any : assets_collection->second.anys)
      assets.push_back(read_asset({any.second, where}));
  }
  for (const AssetFileDef& asset : assets) {
    if (!is_path_within_folder(asset.filename)) {
      fail(Code::kDataLoss, "The asset '", asset.filename, "' of '", where,
           "' is outside its folder.");
    }
  }
  return assets;
}

}  // namespace runhooks
