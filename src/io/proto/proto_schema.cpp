#include "io/proto/proto_schema.h"

#include <algorithm>

#include "base/split_text.h"
#include "base/status.h"
#include "tensor/dtype.h"

namespace runhooks {

namespace {

// One line per message, from TensorFlow 2.15's .proto files: name, number and type of each field.
// "*" marks repeated fields, "?" members of a oneof.
const char* const kMessages[] = {
    "CheckpointState: model_checkpoint_path 1 string, all_model_checkpoint_paths 2 string*, "
    "all_model_checkpoint_timestamps 3 double*, last_preserved_timestamp 4 double",
    "SavedModel: saved_model_schema_version 1 int64, meta_graphs 2 MetaGraphDef*",
    "MetaGraphDef: meta_info_def 1 MetaGraphDef.MetaInfoDef, graph_def 2 GraphDef, "
    "saver_def 3 SaverDef, collection_def 4 map<string CollectionDef>, "
    "signature_def 5 map<string SignatureDef>, asset_file_def 6 AssetFileDef*",
    "MetaGraphDef.MetaInfoDef: meta_graph_version 1 string, stripped_op_list 2 OpList, "
    "any_info 3 Any, tags 4 string*, tensorflow_version 5 string, tensorflow_git_version 6 string, "
    "stripped_default_attrs 7 bool, function_aliases 8 map<string string>",
    "SaverDef: filename_tensor_name 1 string, save_tensor_name 2 string, restore_op_name 3 string, "
    "max_to_keep 4 int32, sharded 5 bool, keep_checkpoint_every_n_hours 6 float, "
    "version 7 SaverDef.CheckpointFormatVersion",
    "CollectionDef: node_list 1 CollectionDef.NodeList?, bytes_list 2 CollectionDef.BytesList?, "
    "int64_list 3 CollectionDef.Int64List?, float_list 4 CollectionDef.FloatList?, "
    "any_list 5 CollectionDef.AnyList?",
    "CollectionDef.NodeList: value 1 string*",
    "CollectionDef.BytesList: value 1 bytes*",
    "CollectionDef.Int64List: value 1 int64*",
    "CollectionDef.FloatList: value 1 float*",
    "CollectionDef.AnyList: value 1 Any*",
    "Any: type_url 1 string, value 2 bytes",
    "SignatureDef: inputs 1 map<string TensorInfo>, outputs 2 map<string TensorInfo>, "
    "method_name 3 string, defaults 4 map<string TensorProto>",
    "TensorInfo: name 1 string?, dtype 2 DataType, tensor_shape 3 TensorShapeProto, "
    "coo_sparse 4 TensorInfo.CooSparse?",
    "TensorInfo.CooSparse: values_tensor_name 1 string, indices_tensor_name 2 string, "
    "dense_shape_tensor_name 3 string",
    "AssetFileDef: tensor_info 1 TensorInfo, filename 2 string",
    "GraphDef: node 1 NodeDef*, library 2 FunctionDefLibrary, version 3 int32, versions 4 "
    "VersionDef",
    "VersionDef: producer 1 int32, min_consumer 2 int32, bad_consumers 3 int32*",
    "NodeDef: name 1 string, op 2 string, input 3 string*, device 4 string, "
    "attr 5 map<string AttrValue>, experimental_debug_info 6 NodeDef.ExperimentalDebugInfo, "
    "experimental_type 7 FullTypeDef",
    "NodeDef.ExperimentalDebugInfo: original_node_names 1 string*, original_func_names 2 string*",
    "AttrValue: list 1 AttrValue.ListValue?, s 2 bytes?, i 3 int64?, f 4 float?, b 5 bool?, "
    "type 6 DataType?, shape 7 TensorShapeProto?, tensor 8 TensorProto?, placeholder 9 string?, "
    "func 10 NameAttrList?",
    "AttrValue.ListValue: s 2 bytes*, i 3 int64*, f 4 float*, b 5 bool*, type 6 DataType*, "
    "shape 7 TensorShapeProto*, tensor 8 TensorProto*, func 9 NameAttrList*",
    "NameAttrList: name 1 string, attr 2 map<string AttrValue>",
    "TensorShapeProto: dim 2 TensorShapeProto.Dim*, unknown_rank 3 bool",
    "TensorShapeProto.Dim: size 1 int64, name 2 string",
    "TensorProto: dtype 1 DataType, tensor_shape 2 TensorShapeProto, version_number 3 int32, "
    "tensor_content 4 bytes, float_val 5 float*, double_val 6 double*, int_val 7 int32*, "
    "string_val 8 bytes*, scomplex_val 9 float*, int64_val 10 int64*, bool_val 11 bool*, "
    "dcomplex_val 12 double*, half_val 13 int32*, resource_handle_val 14 ResourceHandleProto*, "
    "variant_val 15 VariantTensorDataProto*, uint32_val 16 uint32*, uint64_val 17 uint64*",
    "VariantTensorDataProto: type_name 1 string, metadata 2 bytes, tensors 3 TensorProto*",
    "ResourceHandleProto: device 1 string, container 2 string, name 3 string, hash_code 4 uint64, "
    "maybe_type_name 5 string, dtypes_and_shapes 6 ResourceHandleProto.DtypeAndShape*",
    "ResourceHandleProto.DtypeAndShape: dtype 1 DataType, shape 2 TensorShapeProto",
    "OpList: op 1 OpDef*",
    "OpDef: name 1 string, input_arg 2 OpDef.ArgDef*, output_arg 3 OpDef.ArgDef*, "
    "attr 4 OpDef.AttrDef*, summary 5 string, description 6 string, deprecation 8 OpDeprecation, "
    "is_aggregate 16 bool, is_stateful 17 bool, is_commutative 18 bool, "
    "allows_uninitialized_input 19 bool, control_output 20 string*, "
    "is_distributed_communication 21 bool",
    "OpDef.ArgDef: name 1 string, description 2 string, type 3 DataType, type_attr 4 string, "
    "number_attr 5 string, type_list_attr 6 string, "
    "handle_data 7 ResourceHandleProto.DtypeAndShape*, is_ref 16 bool, experimental_full_type 17 "
    "FullTypeDef",
    "OpDef.AttrDef: name 1 string, type 2 string, default_value 3 AttrValue, description 4 string, "
    "has_minimum 5 bool, minimum 6 int64, allowed_values 7 AttrValue",
    "FullTypeDef: type_id 1 FullTypeId, args 2 FullTypeDef*, s 3 string?, i 4 int64?",
    "OpDeprecation: version 1 int32, explanation 2 string",
    "FunctionDefLibrary: function 1 FunctionDef*, gradient 2 GradientDef*, "
    "registered_gradients 3 RegisteredGradient*",
    "FunctionDef: signature 1 OpDef, node_def 3 NodeDef*, ret 4 map<string string>, "
    "attr 5 map<string AttrValue>, control_ret 6 map<string string>, "
    "arg_attr 7 map<uint32 FunctionDef.ArgAttrs>, resource_arg_unique_id 8 map<uint32 uint32>",
    "FunctionDef.ArgAttrs: attr 1 map<string AttrValue>",
    "GradientDef: function_name 1 string, gradient_func 2 string",
    "RegisteredGradient: gradient_func 1 string, registered_op_type 2 string",
};

const char* const kEnums[] = {
    "DataType: DT_INVALID 0, DT_FLOAT 1, DT_DOUBLE 2, DT_INT32 3, DT_UINT8 4, DT_INT16 5, "
    "DT_INT8 6, DT_STRING 7, DT_COMPLEX64 8, DT_INT64 9, DT_BOOL 10, DT_QINT8 11, DT_QUINT8 12, "
    "DT_QINT32 13, DT_BFLOAT16 14, DT_QINT16 15, DT_QUINT16 16, DT_UINT16 17, DT_COMPLEX128 18, "
    "DT_HALF 19, DT_RESOURCE 20, DT_VARIANT 21, DT_UINT32 22, DT_UINT64 23, DT_FLOAT8_E5M2 24, "
    "DT_FLOAT8_E4M3FN 25, DT_INT4 29, DT_UINT4 30",
    "SaverDef.CheckpointFormatVersion: LEGACY 0, V1 1, V2 2",
    "FullTypeId: TFT_UNSET 0, TFT_VAR 1, TFT_ANY 2, TFT_PRODUCT 3, TFT_NAMED 4, TFT_FOR_EACH 20, "
    "TFT_CALLABLE 100, TFT_BOOL 200, TFT_UINT8 201, TFT_UINT16 202, TFT_UINT32 203, "
    "TFT_UINT64 204, TFT_INT8 205, TFT_INT16 206, TFT_INT32 207, TFT_INT64 208, TFT_HALF 209, "
    "TFT_FLOAT 210, TFT_DOUBLE 211, TFT_COMPLEX64 212, TFT_COMPLEX128 213, TFT_STRING 214, "
    "TFT_BFLOAT16 215, TFT_TENSOR 1000, TFT_ARRAY 1001, TFT_OPTIONAL 1002, TFT_LITERAL 1003, "
    "TFT_ENCODED 1004, TFT_SHAPE_TENSOR 1005, TFT_DATASET 10102, TFT_RAGGED 10103, "
    "TFT_ITERATOR 10104, TFT_MUTEX_LOCK 10202, TFT_LEGACY_VARIANT 10203",
};

const std::map<std::string, ProtoType> kScalars = {
    {"int32", ProtoType::kInt32},     {"int64", ProtoType::kInt64},
    {"uint32", ProtoType::kUint32},   {"uint64", ProtoType::kUint64},
    {"bool", ProtoType::kBool},       {"float", ProtoType::kFloat},
    {"fixed32", ProtoType::kFixed32}, {"double", ProtoType::kDouble},
    {"string", ProtoType::kString},   {"bytes", ProtoType::kBytes},
};

class Schema {
 public:
  Schema() {
    for (const char* line : kEnums) add_enum(line);
    // Registers all names before the fields, because messages refer to each other.
    for (const char* line : kMessages) messages_[name_of(line)].name = name_of(line);
    for (const char* line : kMessages) add_message(line);
  }

  const ProtoMessage* find(const std::string& name) const {
    const auto message = messages_.find(name);
    return message == messages_.end() ? nullptr : &message->second;
  }

 private:
  static std::string name_of(const std::string& line) { return line.substr(0, line.find(':')); }

  static std::vector<std::string> list_items(const std::string& line) {
    return split_text(line.substr(line.find(':') + 1), ',');
  }

  void add_enum(const std::string& line) {
    ProtoEnum& enumeration = enums_[name_of(line)];
    const auto add = [&](const std::string& name, int number) {
      enumeration.names[number] = name;
      enumeration.numbers[name] = number;
    };
    for (const std::string& item : list_items(line)) {
      const std::vector<std::string> parts = split_text(item, ' ');  // an empty part, name, number
      const std::string& name = parts[1];
      const int number = std::stoi(parts[2]);
      add(name, number);
      if (name_of(line) == "DataType" && number) add(name + "_REF", number + kRefOffset);
    }
  }

  void add_message(const std::string& line) {
    ProtoMessage& message = messages_[name_of(line)];
    for (const std::string& item : list_items(line)) {
      const size_t number = item.find(' ', 1), begin = item.find(' ', number + 1) + 1;
      ProtoField field;
      field.name = item.substr(1, number - 1);
      field.number = std::stoi(item.substr(number + 1, begin - number - 2));
      std::string type = item.substr(begin);
      if (type.back() == '*') field.is_repeated = true;
      if (type.back() == '?') field.is_in_oneof = true;
      if (field.is_repeated || field.is_in_oneof) type.pop_back();
      set_type(type, field);
      message.fields.push_back(field);
    }
  }

  void set_type(const std::string& type, ProtoField& field) {
    const auto scalar = kScalars.find(type);
    if (scalar != kScalars.end()) {
      field.type = scalar->second;
    } else if (enums_.count(type)) {
      field.type = ProtoType::kEnum;
      field.enumeration = &enums_[type];
    } else if (type.rfind("map<", 0) == 0) {
      const size_t space = type.find(' ');
      ProtoMessage& entry = messages_[type];  // shared by all maps of these types
      if (entry.fields.empty()) {
        ProtoField key, value;
        key.number = 1;
        key.name = "key";
        set_type(type.substr(4, space - 4), key);
        value.number = 2;
        value.name = "value";
        set_type(type.substr(space + 1, type.size() - space - 2), value);
        entry.name = type;
        entry.fields = {key, value};
      }
      field.type = ProtoType::kMap;
      field.is_repeated = true;
      field.message = &entry;
    } else {
      const auto message = messages_.find(type);
      if (message == messages_.end())
        fail(Code::kInternal, "No message '", type, "' in the schema.");
      field.type = ProtoType::kMessage;
      field.message = &message->second;
    }
  }

  std::map<std::string, ProtoMessage> messages_;
  std::map<std::string, ProtoEnum> enums_;
};

}  // namespace

const ProtoField* ProtoMessage::find(const std::string& field_name) const {
  for (const ProtoField& field : fields) {
    if (field.name == field_name) return &field;
  }
  return nullptr;
}

const ProtoField* ProtoMessage::find(int number) const {
  // Fast path: most messages have no gaps in their field numbers.
  const auto index = static_cast<size_t>(number - 1);
  if (index < fields.size() && fields[index].number == number) return &fields[index];
  for (const ProtoField& field : fields) {
    if (field.number == number) return &field;
  }
  return nullptr;
}

const ProtoMessage* find_proto_message(const std::string& name) {
  static const Schema schema;
  return schema.find(name);
}

const ProtoMessage* find_proto_message_of_url(const std::string& url) {
  const std::string prefix = "type.googleapis.com/tensorflow.";
  return url.rfind(prefix, 0) == 0 ? find_proto_message(url.substr(prefix.size())) : nullptr;
}

}  // namespace runhooks
