#include "io/graphs/meta_graph.h"

#include <algorithm>

#include "io/proto/tensor_proto.h"

namespace runhooks {

namespace {

// VariableAggregation.ONLY_FIRST_REPLICA, which TensorFlow uses for the global step.
constexpr int kOnlyFirstReplica = 3;

WireWriter write_tensor_info(const TensorInfo& info) {
  WireWriter out;
  const bool is_sparse = info.name.empty() && !info.values_name.empty();
  if (!is_sparse) out.put_bytes(1, info.name);
  out.add_int(2, static_cast<int>(info.dtype));
  if (info.shape) put_shape(out, 3, *info.shape);
  if (is_sparse) {
    WireWriter sparse;
    sparse.add_bytes(1, info.values_name).add_bytes(2, info.indices_name);
    out.put_message(4, sparse.add_bytes(3, info.dense_shape_name));
  }
  return out;
}

WireWriter map_entry(const std::string& key, const WireWriter& value) {
  WireWriter entry;
  return entry.add_bytes(1, key).put_message(2, value);
}

WireWriter write_signature(const SignatureDef& signature) {
  WireWriter out;
  for (const auto& input : signature.inputs) {
    out.put_message(1, map_entry(input.first, write_tensor_info(input.second)));
  }
  for (const auto& output : signature.outputs) {
    out.put_message(2, map_entry(output.first, write_tensor_info(output.second)));
  }
  return out.add_bytes(3, signature.method_name);
}

WireWriter write_asset(const AssetFileDef& asset) {
  WireWriter out;
  // Field 1 is a TensorInfo; TensorFlow writes only its name.
  out.put_message(1, WireWriter().put_bytes(1, asset.tensor_name));
  return out.add_bytes(2, asset.filename);
}

WireWriter write_collection(const CollectionDef& collection) {
  WireWriter list;
  switch (collection.kind) {
    case CollectionDef::Kind::kNodeList:
    case CollectionDef::Kind::kBytesList:
      for (const std::string& item : collection.strings) list.put_bytes(1, item);
      break;
    case CollectionDef::Kind::kInt64List:
      list.add_packed_ints(1, collection.ints);
      break;
    case CollectionDef::Kind::kFloatList:
      list.add_packed_floats(1, collection.floats.data(), collection.floats.size());
      break;
    case CollectionDef::Kind::kAnyList:
      for (const auto& any : collection.anys) {
        list.put_message(1, WireWriter().add_bytes(1, any.first).add_bytes(2, any.second));
      }
      break;
  }
  return WireWriter().put_message(static_cast<int>(collection.kind), list);
}

WireWriter write_meta_info(const MetaGraphDef& meta_graph) {
  WireWriter out;
  out.add_bytes(1, meta_graph.meta_graph_version).put_bytes(2, meta_graph.op_list);
  for (const std::string& tag : meta_graph.tags) out.put_bytes(4, tag);
  out.add_bytes(5, meta_graph.tensorflow_version).add_bytes(6, meta_graph.tensorflow_git_version);
  return out.add_bool(7, meta_graph.stripped_default_attrs);
}

bool is_global_step(const Variable& variable) {
  for (const CollectionItem& item : variable.graph().collection(collection_keys::kGlobalStep)) {
    const auto* step = std::get_if<std::shared_ptr<Variable>>(&item);
    if (step && step->get() == &variable) return true;
  }
  return false;
}

WireWriter write_slice_info(const SaveSliceInfo& slice) {
  WireWriter out;
  out.add_bytes(1, slice.full_name).add_packed_ints(2, slice.full_shape.dims());
  return out.add_packed_ints(3, slice.offset).add_packed_ints(4, slice.shape.dims());
}

// Returns the kind of a collection with this item; nothing if TensorFlow cannot serialize the item.
std::optional<CollectionDef::Kind> kind_of(const CollectionItem& item) {
  if (std::holds_alternative<std::shared_ptr<Variable>>(item))
    return CollectionDef::Kind::kBytesList;
  if (std::holds_alternative<std::string>(item)) return CollectionDef::Kind::kBytesList;
  if (std::holds_alternative<std::shared_ptr<Saveable>>(item)) return std::nullopt;
  if (std::holds_alternative<std::shared_ptr<void>>(item)) return std::nullopt;
  return CollectionDef::Kind::kNodeList;
}

std::optional<CollectionDef> make_collection(const std::vector<CollectionItem>& items) {
  if (items.empty() || !kind_of(items[0])) return std::nullopt;
  CollectionDef collection;
  collection.kind = *kind_of(items[0]);
  for (const CollectionItem& item : items) {
    if (kind_of(item) != collection.kind) return std::nullopt;
    const auto* variable = std::get_if<std::shared_ptr<Variable>>(&item);
    collection.strings.push_back(variable ? write_variable_def(**variable)
                                          : collection_item_name(item));
  }
  return collection;
}

}  // namespace

std::string write_saver_def(const SaverDef& saver) {
  WireWriter out;
  out.add_bytes(1, saver.filename_tensor_name).add_bytes(2, saver.save_tensor_name);
  out.add_bytes(3, saver.restore_op_name).add_int(4, saver.max_to_keep).add_bool(5, saver.sharded);
  return out.add_float(6, saver.keep_checkpoint_every_n_hours).add_int(7, saver.version).take();
}

std::string write_variable_def(const Variable& variable) {
  WireWriter out;
  out.add_bytes(1, variable.name());
  if (variable.initializer) out.add_bytes(2, variable.initializer->name());
  if (variable.snapshot) out.add_bytes(3, variable.snapshot.name());
  if (variable.slice) out.put_message(4, write_slice_info(*variable.slice));
  out.add_bool(5, variable.is_resource);
  if (variable.initial_value) out.add_bytes(6, variable.initial_value.name());
  out.add_bool(7, variable.trainable);
  return out.add_int(9, is_global_step(variable) ? kOnlyFirstReplica : 0).take();
}

std::string write_meta_graph(const MetaGraphDef& meta_graph) {
  return write_meta_graph(meta_graph, {meta_graph.graph_def});
}

std::string write_meta_graph(const MetaGraphDef& meta_graph,
                             const std::vector<std::string_view>& graph_def_parts) {
  size_t size = 0;
  for (std::string_view part : graph_def_parts) size += part.size();
  WireWriter out;
  out.reserve(size + size / 4);  // collections take at most about a quarter of the graph's size
  out.put_message(1, write_meta_info(meta_graph)).put_size(2, size);
  for (std::string_view part : graph_def_parts) out.append(part);
  if (meta_graph.saver_def) out.put_bytes(3, write_saver_def(*meta_graph.saver_def));
  for (const auto& item : meta_graph.collections) {
    out.put_message(4, map_entry(item.first, write_collection(item.second)));
  }
  for (const auto& item : meta_graph.signatures) {
    out.put_message(5, map_entry(item.first, write_signature(item.second)));
  }
  for (const AssetFileDef& asset : meta_graph.asset_files) out.put_message(6, write_asset(asset));
  return out.take();
}

std::string write_saved_model(const std::vector<std::string>& meta_graphs) {
  constexpr int kSchemaVersion = 1;
  WireWriter out;
  out.put_int(1, kSchemaVersion);
  for (const std::string& meta_graph : meta_graphs) out.put_bytes(2, meta_graph);
  return out.take();
}

std::map<std::string, CollectionDef> collection_defs(const Graph& graph) {
  std::map<std::string, CollectionDef> collections;
  for (const std::string& name : graph.collection_names()) {
    const auto collection = make_collection(graph.collection(name));
    if (collection) collections[name] = *collection;
  }
  return collections;
}

CollectionDef node_list(std::vector<std::string> names) {
  CollectionDef collection;
  collection.kind = CollectionDef::Kind::kNodeList;
  collection.strings = std::move(names);
  return collection;
}

CollectionDef asset_collection(const std::vector<AssetFileDef>& assets) {
  CollectionDef collection;
  collection.kind = CollectionDef::Kind::kAnyList;
  for (const AssetFileDef& asset : assets) {
    collection.anys.emplace_back("type.googleapis.com/tensorflow.AssetFileDef",
                                 write_asset(asset).take());
  }
  return collection;
}

}  // namespace runhooks
