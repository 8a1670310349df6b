// Writes one file of each kind. tests/interop/io_check.py sets RUNHOOKS_INTEROP and reads the files
// with TensorFlow. Otherwise they go to the temporary folder, and only our readers read them.
#include <cstdlib>
#include <cstring>

#include "graph/variable.h"
#include "io/checkpoint/checkpoint_state.h"
#include "io/checkpoint/tensor_bundle.h"
#include "io/events/event_file.h"
#include "io/graphs/graph_def.h"
#include "io/graphs/meta_graph.h"
#include "io_test.h"
#include "io_test_ops.h"

using namespace runhooks;
using namespace runhooks_test;

namespace {

std::string interop_folder() {
  const char* folder_setting = std::getenv("RUNHOOKS_INTEROP");
  const std::string folder = folder_setting ? folder_setting : fresh_folder("interop");
  create_directories(folder);
  return folder;
}

// A model y = x w + b with the operation "save/restore_all", which a SavedModel needs.
struct Model {
  Graph graph;
  VariablePtr w, b;
  Output x, y;
  MetaGraphDef meta;

  Model() {
    ensure_test_ops();
    VariableOptions options;
    options.use_resource = true;
    w = make_variable(graph, graph.constant(Tensor::zeros(DType::kFloat32, {2, 1}), "w/zeros"),
                      "w/", options);
    b = make_variable(graph, graph.constant(Tensor::of<float>({1}, {0.5f}), "b/value"), "b/",
                      options);
    x = graph.op("Placeholder")
            .attr("dtype", DType::kFloat32)
            .attr("shape", Shape{-1, 2})
            .named("x");
    const Output product = graph.op("MatMul", {x, read(w)}).named("product");
    y = graph.op("AddV2", {product, read(b)}).named("y");
    add_restore_ops();
    describe();
  }

  Output read(const VariablePtr& variable) {
    const Output value =
        graph.op("ReadVariableOp", {variable->handle}).attr("dtype", DType::kFloat32);
    value.op->set_output_shape(0, variable->shape);
    return value;
  }

  void add_restore_ops() {
    const Output file = graph.constant(Tensor::string_scalar("model"), "save/Const");
    Operation* restore =
        graph
            .op("RestoreV2", {file, graph.constant(Tensor::strings({2}, {"b", "w"}), "save/names"),
                              graph.constant(Tensor::strings({2}, {"", ""}), "save/slices")})
            .attr("dtypes", std::vector<DType>{DType::kFloat32, DType::kFloat32})
            .named("save/RestoreV2");
    Operation* assign_b =
        graph.op("AssignVariableOp", {b->handle, restore->output(0)}).named("save/assign_b");
    Operation* assign_w =
        graph.op("AssignVariableOp", {w->handle, restore->output(1)}).named("save/assign_w");
    graph.group({assign_w, assign_b}, "save/restore_all");
    graph.group({w->initializer, b->initializer}, "init");
    graph.add_to_collection("train_op", graph.operation("init"));
  }

  void describe() {
    meta.tags = {"serve"};
    meta.op_list = write_op_list(graph);
    meta.graph_def = write_graph_def(make_graph_def(graph, {true, false}));
    meta.saver_def = SaverDef();
    meta.saver_def->filename_tensor_name = "save/Const:0";
    meta.saver_def->save_tensor_name = "save/Const:0";
    meta.saver_def->restore_op_name = "save/restore_all";
    meta.collections = collection_defs(graph);
    SignatureDef& predict = meta.signatures["serving_default"];
    predict.method_name = "tensorflow/serving/predict";
    predict.inputs["x"] = TensorInfo(x);
    predict.outputs["y"] = TensorInfo(y);
  }
};

Tensor from_hex_bits(DType dtype, const Shape& shape, const std::string& hex) {
  Tensor tensor(dtype, shape);
  const std::string bytes = from_hex(hex);
  std::memcpy(tensor.raw(), bytes.data(), bytes.size());
  return tensor;
}

void write_bundle_of_all_types(const std::string& prefix) {
  BundleWriter writer(prefix);
  writer.add("f32", Tensor::of<float>({2, 2}, {1.5f, -2, 0, 3e38f}));
  writer.add("f64", Tensor::scalar(0.1));
  writer.add("i32", Tensor::vector<int32_t>({-1, 7}));
  writer.add("i64", Tensor::scalar<int64_t>(-5));
  writer.add("bool", Tensor::vector<bool>({true, false}));
  writer.add("string", Tensor::strings({2, 1}, {"h\xc3\xa9llo", std::string("\0\xff", 2)}));
  writer.add("empty", Tensor::zeros(DType::kFloat32, {0, 3}));
  writer.add("u8", from_hex_bits(DType::kUint8, {2}, "00ff"));
  writer.add("i8", from_hex_bits(DType::kInt8, {2}, "807f"));
  writer.add("i16", from_hex_bits(DType::kInt16, {1}, "d4fe"));
  writer.add("u16", from_hex_bits(DType::kUint16, {1}, "ffff"));
  writer.add("f16", from_hex_bits(DType::kFloat16, {1}, "003e"));
  writer.add("bf16", from_hex_bits(DType::kBfloat16, {1}, "c03f"));
  writer.add("u32", from_hex_bits(DType::kUint32, {1}, "ffffffff"));
  writer.add("u64", from_hex_bits(DType::kUint64, {1}, "ffffffffffffffff"));
  writer.add_slice("part", {3, 2}, {{0, 0}, {2, 2}}, Tensor::of<float>({2, 2}, {1, 2, 3, 4}));
  writer.add_slice("part", {3, 2}, {{2, 0}, {1, 2}}, Tensor::of<float>({1, 2}, {5, 6}));
  for (int i = 0; i < 5000; ++i)
    writer.add(str_cat("many/variable_", i), Tensor::scalar<int32_t>(i));
  writer.finish();
  BundleReader reader(prefix);
  CHECK(reader.read("part").equals(Tensor::of<float>({3, 2}, {1, 2, 3, 4, 5, 6})));
}

}  // namespace

TEST(io_interop_bundle) {
  const std::string folder = interop_folder() + "/bundle";
  create_directories(folder);
  write_bundle_of_all_types(folder + "/model.ckpt-3");
  write_checkpoint_state(folder, make_checkpoint_state(folder, folder + "/model.ckpt-3", {}, true));
  CHECK_EQ(latest_checkpoint(folder, nullptr), folder + "/model.ckpt-3");
}

TEST(io_interop_records) {
  const std::string folder = interop_folder() + "/records";
  create_directories(folder);
  for (const char* name : {"", "GZIP", "ZLIB"}) {
    RecordWriter writer(str_cat(folder, "/x", name), compression_from_name(name));
    for (int i = 0; i < 100; ++i)
      writer.write(std::string(static_cast<size_t>(i * i), static_cast<char>(i)));
    writer.close();
  }
}

TEST(io_interop_events) {
  const Model model;
  EventFileWriter writer(interop_folder() + "/events", "", [] { return 1700000000.25; });
  writer.add_graph_def(model.meta.graph_def);
  writer.add_meta_graph(write_meta_graph(model.meta));
  writer.add_session_log(SessionLog::kStart, "", 1);
  writer.add_scalars({{"loss", 2.5}, {"zero", 0}}, 7);
  writer.add_summary({histogram_summary("h", Tensor::vector<double>({-1, 0, 0.25, 3})),
                      text_summary("note", Tensor::strings({2}, {"first", "second"}))},
                     7);
  writer.add_session_log(SessionLog::kCheckpoint, "dir/model.ckpt", 7);
  writer.close();
  CHECK_EQ(read_events(writer.path()).size(), 7u);
}

TEST(io_interop_graphs) {
  const std::string folder = interop_folder() + "/graphs";
  create_directories(folder);
  const Model model;
  const GraphDef def = make_graph_def(model.graph, {true, false});
  write_file_atomically(folder + "/graph.pb", write_graph_def(def));
  write_file_atomically(folder + "/graph.pbtxt", graph_def_text(def));
  write_file_atomically(folder + "/stripped.pb",
                        write_graph_def(make_graph_def(model.graph, {false, true})));
  write_file_atomically(folder + "/model.meta", write_meta_graph(model.meta));
  Graph kinds;
  const Output x = kinds.constant(Tensor::of<float>({1, 3, 1}, {1, -2, 0.5}), "x");
  kinds.op("Bucketize", {x})
      .attr("boundaries", std::vector<float>{-1, 0.75})
      .named("bucketize")
      .build();
  kinds.op("Squeeze", {x})
      .attr("squeeze_dims", std::vector<int64_t>{0, -1})
      .named("squeeze")
      .build();
  Operation* unique =
      kinds.op("Unique", {kinds.constant(Tensor::strings({3}, {"b", "a", "b"}), "words")})
          .named("unique");
  kinds.op("AddV2", {unique->output(1), unique->output(1)}).named("twice").after({x.op}).build();
  write_file_atomically(folder + "/kinds.pb",
                        write_graph_def(make_graph_def(kinds, {true, false})));
}

// Writes the definitions of all ops that a file can contain. Our own ops are lowered (replaced by
// TensorFlow's) before.
TEST(io_interop_ops) {
  std::set<std::string> types;
  for (const auto& entry : all_ops()) {
    const OpDef& op = entry.second;
    if (!op.lower_fn && op.summary != "for tests") types.insert(entry.first);
  }
  const std::string folder = interop_folder() + "/graphs";
  create_directories(folder);
  write_file_atomically(folder + "/ops.pb", write_op_list(types));
}

TEST(io_interop_saved_model) {
  const std::string folder = interop_folder() + "/saved_model";
  const Model model;
  BundleWriter writer(folder + "/variables/variables");
  writer.add("w", Tensor::of<float>({2, 1}, {10, 100}));
  writer.add("b", Tensor::vector<float>({0.25f}));
  writer.finish();
  write_file_atomically(folder + "/saved_model.pb",
                        write_saved_model({write_meta_graph(model.meta)}));
}
