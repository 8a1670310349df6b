#include "graph/variable.h"
#include "io/events/event_file.h"
#include "io/graphs/graph_def.h"
#include "io/graphs/meta_graph.h"
#include "io/proto/attr_proto.h"
#include "io/proto/tensor_proto.h"
#include "io/proto/text_format.h"
#include "io_test.h"
#include "io_test_ops.h"

using namespace runhooks;
using namespace runhooks_test;

namespace {

// Returns the first graph of the training's event file.
std::string golden_graph() {
  return read_events(golden_file("events/events.out.tfevents.1700000000.host"))[3].bytes;
}

std::string tensor_text(const Tensor& tensor) {
  return proto_to_text(write_tensor(tensor).bytes(), "TensorProto", "x");
}

const NodeDef& node(const GraphDef& graph, const std::string& name) {
  for (const NodeDef& node : graph.nodes) {
    if (node.name == name) return node;
  }
  fail_at(__FILE__, __LINE__, "no node " + name);
}

AttrValue attr_round_trip(const AttrValue& value, const std::string& type = "") {
  WireWriter out;
  put_attr(out, 1, value);
  WireReader field(out.bytes(), "x");
  CHECK(field.next());
  return *read_attr(field.message(), type);
}

}  // namespace

// Expects the encodings that make_tensor_proto() of TensorFlow 2.15.1 chooses.
TEST(io_tensor_proto_uses_tensorflows_encodings) {
  const std::string vector2 = "tensor_shape {\n  dim {\n    size: 2\n  }\n}\n";
  CHECK_EQ(tensor_text(Tensor::scalar<float>(0.1f)),
           "dtype: DT_FLOAT\ntensor_shape {\n}\nfloat_val: 0.1\n");
  CHECK_EQ(
      tensor_text(Tensor::vector<float>({1, 2})),
      "dtype: DT_FLOAT\n" + vector2 + "tensor_content: \"\\000\\000\\200?\\000\\000\\000@\"\n");
  CHECK_EQ(tensor_text(Tensor::vector<int32_t>({5, 5})),
           "dtype: DT_INT32\n" + vector2 +
               "tensor_content: \"\\005\\000\\000\\000\\005\\000\\000\\000\"\n");
  CHECK_EQ(tensor_text(Tensor::zeros(DType::kFloat32, {2})),
           "dtype: DT_FLOAT\n" + vector2 + "float_val: 0.0\n");
  CHECK_EQ(tensor_text(Tensor::vector<bool>({true, false})),
           "dtype: DT_BOOL\n" + vector2 + "bool_val: true\nbool_val: false\n");
  CHECK_EQ(tensor_text(Tensor::strings({2}, {"a", ""})),
           "dtype: DT_STRING\n" + vector2 + "string_val: \"a\"\nstring_val: \"\"\n");
  CHECK_EQ(tensor_text(Tensor::zeros(DType::kFloat32, {0, 3})),
           "dtype: DT_FLOAT\ntensor_shape {\n  dim {\n  }\n  dim {\n    size: 3\n  }\n}\n");
  CHECK_EQ(tensor_text(Tensor::scalar<int64_t>(-1)),
           "dtype: DT_INT64\ntensor_shape {\n}\nint64_val: -1\n");
  Tensor half(DType::kFloat16, {}), byte(DType::kInt8, {});
  half.data<uint16_t>()[0] = 0x3e00;
  byte.data<int8_t>()[0] = -3;
  CHECK_EQ(tensor_text(half), "dtype: DT_HALF\ntensor_shape {\n}\nhalf_val: 15872\n");
  CHECK_EQ(tensor_text(byte), "dtype: DT_INT8\ntensor_shape {\n}\nint_val: -3\n");
}

TEST(io_tensor_proto_reads_all_encodings) {
  const auto read = [](const std::string& text) {
    std::string bytes, problem;
    CHECK(text_to_proto(text, "TensorProto", &bytes, &problem));
    return read_tensor(WireReader(bytes, "/a/file"));
  };
  const std::string vector3 = " tensor_shape { dim { size: 3 } } ";
  CHECK(read("dtype: DT_FLOAT" + vector3 + "float_val: [1, 2]")
            .equals(Tensor::vector<float>({1, 2, 2})));
  CHECK(read("dtype: DT_INT32" + vector3).equals(Tensor::vector<int32_t>({0, 0, 0})));
  CHECK(read("dtype: DT_STRING" + vector3 + "string_val: 'x'")
            .equals(Tensor::strings({3}, {"x", "x", "x"})));
  CHECK(read("dtype: DT_UINT8" + vector3 + "int_val: [7, 255]")
            .equals(Tensor::vector<uint8_t>({7, 255, 255})));
  CHECK(read("dtype: DT_INT64 tensor_content: '\\001\\0\\0\\0\\0\\0\\0\\0' tensor_shape {}")
            .equals(Tensor::scalar<int64_t>(1)));
  // A byte other than 0 and 1, which no writer of bools produces, reads as TRUE.
  const Tensor bools = read("dtype: DT_BOOL" + vector3 + "tensor_content: '\\000\\001\\002'");
  CHECK(bools.equals(Tensor::vector<bool>({false, true, true})));
  CHECK_EQ(static_cast<const char*>(bools.raw())[2], char{1});
  CHECK_THROWS(read("dtype: DT_COMPLEX64 tensor_shape {}"), Code::kUnimplemented,
               "'/a/file' has data type 8");
  CHECK_THROWS(read("dtype: DT_INT64 tensor_content: 'abc' tensor_shape {}"), Code::kDataLoss,
               "3 bytes");
  CHECK_THROWS(read("dtype: DT_INT64 float_val: 1 tensor_shape {}"), Code::kDataLoss,
               "another type");
  CHECK_THROWS(read("dtype: DT_FLOAT float_val: [1, 2] tensor_shape {}"), Code::kDataLoss,
               "has 2 elements");
  CHECK_THROWS(read("dtype: DT_FLOAT tensor_shape { dim { size: -1 } }"), Code::kDataLoss,
               "shape (?,)");
  CHECK_THROWS(
      read("dtype: DT_FLOAT tensor_shape { dim { size: 4611686018427387904 } dim { size: 4 } }"),
      Code::kDataLoss, "a tensor has shape");
}

TEST(io_tensor_proto_round_trip) {
  std::mt19937_64 random = seeded_generator();
  for (int i = 0; i < 300; ++i) {
    const DType types[] = {DType::kFloat32, DType::kFloat64,  DType::kInt32,  DType::kInt64,
                           DType::kUint8,   DType::kInt16,    DType::kInt8,   DType::kUint16,
                           DType::kFloat16, DType::kBfloat16, DType::kUint32, DType::kUint64};
    Tensor tensor =
        Tensor::zeros(types[random() % std::size(types)],
                      {static_cast<int64_t>(random() % 4), static_cast<int64_t>(random() % 12)});
    const bool is_varied = random() % 3 != 0;
    for (size_t k = 0; k < tensor.num_bytes(); ++k) {
      static_cast<uint8_t*>(tensor.raw())[k] = static_cast<uint8_t>(is_varied ? random() : 0x42);
    }
    const std::string bytes = write_tensor(tensor).take();
    CHECK(read_tensor(WireReader(bytes, "x")).equals(tensor));
  }
}

TEST(io_attr_round_trip_of_every_kind) {
  const AttrValue values[] = {int64_t{0},
                              int64_t{-5},
                              0.0f,
                              1.5f,
                              false,
                              true,
                              std::string(),
                              std::string("a\0b", 3),
                              DType::kResource,
                              Shape(),
                              Shape{2, -1},
                              Shape::unknown(),
                              Tensor::vector<float>({1, 2}),
                              std::vector<int64_t>{1, -2},
                              std::vector<float>{0.5f},
                              std::vector<std::string>{"x", ""},
                              std::vector<DType>{DType::kFloat32, DType::kInvalid},
                              std::vector<Shape>{Shape{1}, Shape::unknown()},
                              AttrValue()};
  for (const AttrValue& value : values) CHECK(attr_equal(attr_round_trip(value), value));
  const AttrValue empties[] = {std::vector<int64_t>(), std::vector<float>(),
                               std::vector<std::string>(), std::vector<DType>(),
                               std::vector<Shape>()};
  for (const AttrValue& value : empties)
    CHECK(attr_equal(attr_round_trip(value, attr_type_name(value)), value));
}

TEST(io_graph_def_reads_and_rewrites_tensorflows) {
  const std::string bytes = golden_graph();
  const GraphDef graph = read_graph_def(bytes, "x");
  CHECK_EQ(graph.producer, 1645);
  CHECK_EQ(graph.min_consumer, 12);
  CHECK(!graph.library.empty());
  const NodeDef& pooled = node(graph, "global_step/cond");
  CHECK_EQ(pooled.op, "If");
  CHECK(pooled.inputs == (std::vector<std::string>{"global_step/VarIsInitializedOp", "global_step",
                                                   "global_step/Initializer/zeros"}));
  CHECK(std::get<DType>(*pooled.attrs.find("Tcond")) == DType::kBool);
  CHECK_EQ(pooled.raw_attrs.size(), 2u);  // attributes that are functions stay unparsed
  const NodeDef& component = node(graph, "normalize_element/component_0");
  CHECK_EQ(component.device, "/device:CPU:0");
  CHECK(std::get<Tensor>(*component.attrs.find("value"))
            .equals(Tensor::of<float>({4, 2}, {1, -2, 0, 3, -4, 0.5, 2, 2})));
  CHECK(node(graph, "save/restore_shard").inputs[2] == "^save/AssignVariableOp_2");
  // The attributes in the bytes of a GraphDef have no fixed order, but those in its text have.
  const std::string rewritten = write_graph_def(graph);
  CHECK_EQ(rewritten.size(), bytes.size());
  CHECK(graph_def_text(graph) == read_whole_file(golden_file("events/graph.pbtxt")));
  CHECK(write_graph_def(read_graph_def(rewritten, "x")) == rewritten);
}

TEST(io_graph_def_of_a_graph) {
  ensure_test_ops();
  Graph graph;
  const Output x =
      graph.op("Placeholder").attr("dtype", DType::kFloat32).attr("shape", Shape{-1, 2}).named("x");
  const Output w = graph.constant(Tensor::of<float>({2, 1}, {1, 2}), "w");
  Operation* late = graph.op("NoOp").named("zz");
  Operation* early = graph.op("NoOp").named("aa");
  const Output y = graph.op("MatMul", {x, w}).named("y").after({late, early});
  const Output flat = graph.op("Reshape", {y, graph.int_vector({-1}, "all")}).named("flat");
  Operation* unique = graph.op("Unique", {flat}).named("u");
  graph.op("AddV2", {unique->output(1), unique->output(1)}).named("sum").build();
  const GraphDef def = make_graph_def(graph, {true, false});
  CHECK(node(def, "y").inputs == (std::vector<std::string>{"x", "w", "^aa", "^zz"}));
  CHECK(node(def, "sum").inputs == (std::vector<std::string>{"u:1", "u:1"}));
  CHECK(std::get<std::vector<Shape>>(*node(def, "y").attrs.find("_output_shapes")) ==
        (std::vector<Shape>{Shape{-1, 1}}));
  CHECK(!node(def, "aa").attrs.find("_output_shapes"));
  const std::string text = graph_def_text(def);
  CHECK(text.find("node {\n  name: \"aa\"\n  op: \"NoOp\"\n}\n") != std::string::npos);
  CHECK(text.find("versions {\n  producer: 1087\n}\n") != std::string::npos);
  const GraphDef stripped = make_graph_def(graph, {false, true});
  CHECK(node(def, "y").attrs.find("transpose_a") && !node(stripped, "y").attrs.find("transpose_a"));
  CHECK(node(stripped, "y").attrs.find("T"));
  const std::string bytes = write_graph_def(def);
  CHECK(write_graph_def(read_graph_def(bytes, "x")) == bytes);
}

// Writing only the new nodes after each change gives the same bytes as writing the whole graph.
TEST(io_graph_def_of_a_growing_graph) {
  Graph graph;
  GraphDefOptions options;
  options.add_shapes = true;
  GraphDefWriter writer(graph, options);
  WireWriter nodes;
  const auto bytes = [&] {
    writer.put_new_nodes(nodes);
    WireWriter combined = nodes;
    writer.put_end(combined);
    return combined.take();
  };
  Output x = graph.scalar(DType::kFloat32, 0);
  for (int i = 1; i < 20; ++i) {
    x = graph.op("AddV2", {x, graph.constant(Tensor::zeros(DType::kFloat32, {1, i * 200}))});
    x = graph.op("Max", {x, graph.constant(Tensor::scalar<int32_t>(1))});
    CHECK(bytes() == write_graph_def(make_graph_def(graph, options)));
  }
  CHECK(bytes() == bytes());
}

TEST(io_graph_def_damage_is_reported) {
  const std::string bytes = golden_graph(), name = "/a/graph.pb";
  std::mt19937_64 random = seeded_generator();
  for (int i = 0; i < 300; ++i) {
    std::string bent = bytes.substr(0, random() % 6000);
    for (int n = 0; n < 5 && !bent.empty(); ++n)
      bent[random() % bent.size()] = static_cast<char>(random());
    reads_or_reports(name, [&] {
      try {
        read_graph_def(bent, name);
      } catch (const Error& error) {
        // The modified bytes may contain a shape with too many dimensions, which is well formed.
        if (error.code() != Code::kUnimplemented) throw;
      }
    });
  }
  CHECK_THROWS(read_graph_def(bytes.substr(0, 5000), name), Code::kDataLoss, "'/a/graph.pb'");
}

TEST(io_op_list_describes_the_ops) {
  ensure_test_ops();
  Graph graph;
  const Output x = graph.constant(Tensor::vector<float>({1, 2}), "x");
  graph.op("Unique", {x}).build();
  const std::string text = proto_to_text(write_op_list(graph), "OpList", "x");
  CHECK(text.find("op {\n  name: \"Const\"\n") == 0);
  CHECK(text.find("op {\n  name: \"Unique\"\n  input_arg {\n    name: \"x\"\n    type_attr: "
                  "\"T\"\n  }\n") != std::string::npos);
  CHECK(text.find("default_value {\n      type: DT_INT32\n    }\n") != std::string::npos);
}

// The expected bytes come from the collections of the golden .meta file.
TEST(io_meta_graph_parts_match_tensorflow) {
  ensure_test_ops();
  SaverDef saver;
  saver.filename_tensor_name = "save/Const:0";
  saver.save_tensor_name = "save/Identity:0";
  saver.restore_op_name = "save/restore_all";
  const std::string meta = read_whole_file(golden_file("events/model.ckpt-5.meta"));
  CHECK(meta.find(write_saver_def(saver)) != std::string::npos);
  Graph graph;
  VariableOptions options;
  options.use_resource = true;
  const auto zeros = [&](const std::string& name, DType dtype, const Shape& shape) {
    return graph.constant(Tensor::zeros(dtype, shape), name + "/Initializer/zeros");
  };
  const VariablePtr w = make_variable(graph, zeros("w", DType::kFloat32, {2, 1}), "w/", options);
  options.trainable = false;
  const VariablePtr step =
      make_variable(graph, zeros("global_step", DType::kInt64, {}), "global_step/", options);
  graph.add_to_collection(collection_keys::kGlobalStep, step);
  for (const VariablePtr& variable : {w, step}) {
    CHECK(meta.find(write_variable_def(*variable)) != std::string::npos);
  }
  w->slice = std::make_shared<SaveSliceInfo>(SaveSliceInfo{"all", {4, 1}, {0, 0}, {2, 1}});
  CHECK(write_variable_def(*w).find(std::string("\"\x11\n\x03"
                                                "all\x12\x02\x04\x01\x1a\x02\0\0\"\x02\x02\x01",
                                                19)) != std::string::npos);
}

TEST(io_meta_graph_collections_have_tensorflows_kinds) {
  ensure_test_ops();
  Graph graph;
  const Output x = graph.constant(Tensor::scalar<float>(1), "x");
  graph.add_to_collection("losses", x);
  graph.add_to_collection("train_op", x.op);
  graph.add_to_collection("words", std::string("text"));
  graph.add_to_collection("things", std::make_shared<int>(1));
  graph.add_to_collection("mixed", x);
  graph.add_to_collection("mixed", std::string("text"));
  const auto collections = collection_defs(graph);
  CHECK_EQ(collections.size(), 3u);
  CHECK(collections.at("losses").kind == CollectionDef::Kind::kNodeList);
  CHECK_EQ(collections.at("losses").strings[0], "x:0");
  CHECK_EQ(collections.at("train_op").strings[0], "x");
  CHECK(collections.at("words").kind == CollectionDef::Kind::kBytesList);
}

TEST(io_saved_model_as_text) {
  MetaGraphDef meta;
  meta.tags = {"serve"};
  meta.stripped_default_attrs = true;
  meta.graph_def = write_graph_def({});
  meta.saver_def = SaverDef();
  meta.collections["saved_model_main_op"] = node_list({"group_deps"});
  meta.collections["saved_model_assets"] = asset_collection({{"path:0", "vocab.txt"}});
  SignatureDef& predict = meta.signatures["predict"];
  predict.method_name = "tensorflow/serving/predict";
  predict.inputs["x"].name = "x:0";
  predict.inputs["x"].dtype = DType::kFloat32;
  predict.inputs["x"].shape = Shape{-1};
  predict.outputs["s"].values_name = "v:0";
  const std::string text =
      proto_to_text(write_saved_model({write_meta_graph(meta)}), "SavedModel", "x");
  CHECK_EQ(
      text,
      "saved_model_schema_version: 1\nmeta_graphs {\n  meta_info_def {\n    stripped_op_list {\n   "
      " }\n"
      "    tags: \"serve\"\n    tensorflow_version: \"1.15.5\"\n    stripped_default_attrs: true\n "
      " }\n"
      "  graph_def {\n    versions {\n      producer: 1087\n    }\n  }\n"
      "  saver_def {\n    max_to_keep: 5\n    sharded: true\n    keep_checkpoint_every_n_hours: "
      "10000.0\n"
      "    version: V2\n  }\n"
      "  collection_def {\n    key: \"saved_model_assets\"\n    value {\n      any_list {\n        "
      "value {\n"
      "          [type.googleapis.com/tensorflow.AssetFileDef] {\n            tensor_info {\n"
      "              name: \"path:0\"\n            }\n            filename: \"vocab.txt\"\n        "
      "  }\n"
      "        }\n      }\n    }\n  }\n"
      "  collection_def {\n    key: \"saved_model_main_op\"\n    value {\n      node_list {\n"
      "        value: \"group_deps\"\n      }\n    }\n  }\n"
      "  signature_def {\n    key: \"predict\"\n    value {\n      inputs {\n        key: \"x\"\n"
      "        value {\n          name: \"x:0\"\n          dtype: DT_FLOAT\n          tensor_shape "
      "{\n"
      "            dim {\n              size: -1\n            }\n          }\n        }\n      }\n"
      "      outputs {\n        key: \"s\"\n        value {\n          coo_sparse {\n"
      "            values_tensor_name: \"v:0\"\n          }\n        }\n      }\n"
      "      method_name: \"tensorflow/serving/predict\"\n    }\n  }\n}\n");
}

// A few bytes may declare a large shape, but reading them must not use all memory.
TEST(io_tensor_proto_expands_shapes_up_to_a_limit) {
  auto proto = [](DType dtype, std::vector<int64_t> dims) {
    WireWriter shape;
    for (const int64_t dim : dims) shape.put_message(2, WireWriter().add_int(1, dim));
    WireWriter message;
    message.put_int(1, static_cast<int>(dtype)).put_message(2, shape);
    return message;
  };
  auto read = [](const WireWriter& message) {
    return read_tensor(WireReader(message.bytes(), "/a/file"));
  };
  WireWriter filled = proto(DType::kFloat32, {1000, 100});
  filled.add_packed_floats(5, std::vector<float>{1.5f}.data(), 1);
  CHECK_EQ(read(filled).data<float>()[99999], 1.5f);
  for (const DType dtype : {DType::kFloat32, DType::kFloat64, DType::kInt64, DType::kBool,
                            DType::kUint8, DType::kString}) {
    const int64_t max_elements = kMaxExpandedTensorBytes / static_cast<int64_t>(dtype_size(dtype));
    CHECK_THROWS(read(proto(dtype, {max_elements + 1})), Code::kResourceExhausted,
                 "Repeating an element");
    CHECK_THROWS(read(proto(dtype, {int64_t{1} << 28, int64_t{1} << 28})), Code::kResourceExhausted,
                 "Repeating an element");
  }
}
