#include "readers.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "arrow_input.h"
#include "base/memory.h"
#include "data/example_parser.h"
#include "estimators/export/loaded_model.h"
#include "import/import_graph.h"
#include "io/checkpoint/bundle_format.h"
#include "io/checkpoint/checkpoint_state.h"
#include "io/checkpoint/table.h"
#include "io/checkpoint/tensor_bundle.h"
#include "io/events/event_file.h"
#include "io/events/summary.h"
#include "io/files/append_log.h"
#include "io/files/atomic_file.h"
#include "io/files/buffered_bytes.h"
#include "io/files/crc32c.h"
#include "io/files/plain_data.h"
#include "io/files/record.h"
#include "io/formats/csv_reader.h"
#include "io/formats/example.h"
#include "io/formats/png.h"
#include "io/graphs/graph_def.h"
#include "io/graphs/meta_graph.h"
#include "io/proto/attr_proto.h"
#include "io/proto/proto_schema.h"
#include "io/proto/tensor_proto.h"
#include "io/proto/text_format.h"
#include "states.h"
#include "training/import_meta_graph.h"
#include "trees/ensemble.h"

namespace runhooks_fuzz {

using namespace runhooks;

namespace {

// In memory if the system has such a folder.
const std::string& scratch() {
  static const std::string folder = [] {
    const bool has_metadata = std::filesystem::is_directory("/dev/shm");
    std::string path = has_metadata ? "/dev/shm" : std::filesystem::temp_directory_path().string();
    path += "/runhooks-fuzz-XXXXXX";
    if (!mkdtemp(path.data())) std::abort();
    static std::string made = path;
    std::atexit([] { std::filesystem::remove_all(made); });
    return path;
  }();
  return folder;
}

std::string file_of(const std::string& bytes, const std::string& name) {
  const std::string path = scratch() + "/" + name;
  write_file_atomically(path, bytes);
  return path;
}

// --- checksums, which must be repaired so that readers continue after a mutation

void put_fixed32(std::string& bytes, size_t at, uint32_t value) {
  std::string text;
  append_fixed32(text, value);
  bytes.replace(at, 4, text);
}

constexpr size_t kFooter = 48, kTrailer = 5;

// Removes a block's handle from `handle`, repairs the block's checksum, and returns the block; an
// empty one if the handle is invalid.
std::string_view repair_block(std::string& bytes, std::string_view& handle) {
  uint64_t offset = 0, size = 0;
  if (!take_varint(handle, &offset) || !take_varint(handle, &size)) return {};
  if (offset > bytes.size() || size > bytes.size() - offset) return {};
  if (bytes.size() - offset - size < kTrailer) return {};
  put_fixed32(bytes, offset + size + 1, mask_crc(crc32c(bytes.data() + offset, size + 1)));
  return std::string_view(bytes).substr(offset, size);
}

std::string with_table_checksums(std::string bytes) {
  if (bytes.size() < kFooter) return bytes;
  const std::string footer = bytes.substr(bytes.size() - kFooter);
  std::string_view handles = footer;
  repair_block(bytes, handles);
  const std::string index(repair_block(bytes, handles));
  std::string_view rest = index;
  while (!rest.empty()) {
    uint64_t shared = 0, added = 0, size = 0;
    if (!take_varint(rest, &shared) || !take_varint(rest, &added) || !take_varint(rest, &size) ||
        added > rest.size() || size > rest.size() - added) {
      break;
    }
    std::string_view handle = rest.substr(added, size);
    repair_block(bytes, handle);
    rest.remove_prefix(added + size);
  }
  return bytes;
}

std::string with_record_checksums(std::string bytes) {
  for (size_t at = 0; bytes.size() - at >= 16;) {
    put_fixed32(bytes, at + 8, mask_crc(crc32c(bytes.data() + at, 8)));
    const uint64_t length = load_fixed64(bytes.data() + at);
    if (length > bytes.size() - at - 16) break;
    const auto size = static_cast<size_t>(length);
    put_fixed32(bytes, at + 12 + size, mask_crc(crc32c(bytes.data() + at + 12, size)));
    at += 16 + size;
  }
  return bytes;
}

// --- the readers

void walk(WireReader r, int depth) {
  while (r.next()) {
    if (depth < 8 && r.field() % 2 == 0) walk(r.message(), depth + 1);
  }
}

void read_text_of(const std::string& bytes, const char* message) {
  std::string parsed, problem;
  if (text_to_proto(bytes, message, &parsed, &problem)) proto_to_text(parsed, message, "text");
}

void read_strings(const std::string& bytes) {
  const int64_t count = bytes.empty() ? 0 : static_cast<unsigned char>(bytes[0]);
  Tensor tensor = Tensor::zeros(DType::kString, Shape{count});
  uint32_t crc = 0;
  decode_strings(bytes, tensor, &crc);
}

void read_bundle(const std::string& bytes) {
  // No format of its own: half of the bytes are also the data.
  file_of(bytes.substr(bytes.size() / 2), "bundle.data-00000-of-00001");
  file_of(with_table_checksums(bytes), "bundle.index");
  const std::string index = file_of(with_table_checksums(bytes), "bundle.index");
  const BundleReader reader(index.substr(0, index.size() - 6));
  for (const auto& tensor : reader.tensors()) {
    try {
      reader.read(tensor.name);
    } catch (const Error&) {
    }
  }
}

void read_compressed(const std::string& bytes, Compression compression) {
  bool truncated = false;
  read_records(file_of(bytes, "records.z"), &truncated, compression);
}

// Also reads the contents, and checks that no asset is outside of the folder.
void read_saved_model_of(const std::string& bytes) {
  for (const std::string& message : read_saved_model(bytes, "model")) {
    const MetaGraphDef meta_graph = read_meta_graph(message, "model");
    for (const AssetFileDef& asset : asset_files(meta_graph, "model")) {
      if (!is_path_within_folder(asset.filename)) std::abort();
    }
    Graph graph;
    import_meta_graph(graph, meta_graph, "", "model");
  }
}

// A caller chooses how long a graph may run, but its memory requests must be limited.
constexpr uint64_t kMemory = uint64_t{1} << 28;

Shape with_sizes(const Shape& shape) {
  Shape known;
  for (int i = 0; shape.has_rank() && i < shape.rank(); ++i) {
    known.append(shape.dim(i) < 0 || shape.dim(i) > 3 ? 1 : shape.dim(i));
  }
  return known;
}

// Imports, plans and runs a graph, with zeros as feeds.
void import_graph(const std::string& bytes) {
  auto graph = std::make_shared<Graph>();
  GraphImporter(*graph, read_graph_def(bytes, "graph"), {}).import_all();
  set_memory_limit(kMemory);
  Session session(graph);
  Feeds feeds;
  for (const auto& op : graph->operations()) {
    const bool is_fed = op->inputs().empty() && op->num_outputs() == 1 && !op->def().is_constant &&
                        dtype_size(op->output_dtype(0)) > 0 && !op->output_is_ref(0);
    if (is_fed) {
      feeds.emplace_back(op->output(0),
                         Tensor::zeros(op->output_dtype(0), with_sizes(op->output_shape(0))));
    }
  }
  constexpr size_t kMostRuns = 20;
  const size_t count = graph->operations().size();
  for (size_t i = count - std::min(kMostRuns, count); i < count; ++i) {
    try {
      session.run({Fetch(graph->operations()[i].get())}, feeds);
    } catch (const Error&) {
    }
  }
}

std::vector<std::string> all_below(const std::string& folder) {
  std::vector<std::string> paths;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    paths.push_back(entry.path().string());
  }
  std::sort(paths.begin(), paths.end());
  return paths;
}

// Loads and runs an untrusted folder. This may fail, but must not change files.
void load_model_of(const std::string& bytes) {
  const std::string folder = scratch() + "/model";
  create_directories(folder + "/variables");
  file_of("precious", "precious");
  file_of(bytes, "model/saved_model.pb");
  const std::vector<std::string> before = all_below(scratch());
  set_memory_limit(kMemory);
  try {
    LoadedModel model(folder, {"serve"});
    for (const auto& [name, signature] : model.signatures()) {
      try {
        std::vector<Tensor> inputs;
        for (const auto& input : signature.inputs) {
          const Shape shape = input.second.shape.value_or(Shape());
          inputs.push_back(Tensor::zeros(input.second.dtype, with_sizes(shape)));
        }
        model.run(name, inputs);
      } catch (const Error&) {
      }
    }
  } catch (const Error&) {
  }
  const bool is_as_before = all_below(scratch()) == before &&
                            read_whole_file(scratch() + "/precious") == "precious" &&
                            read_whole_file(folder + "/saved_model.pb") == bytes;
  if (!is_as_before) std::abort();
}

void read_example_of(const std::string& bytes) {
  ExampleView example;
  read_example(bytes, "example", example);
  for (const auto& [name, feature] : example) {
    std::vector<std::string_view> texts;
    std::vector<float> floats;
    std::vector<int64_t> ints;
    if (feature.kind == FeatureView::Kind::kBytes) read_bytes_list(feature, "example", texts);
    if (feature.kind == FeatureView::Kind::kFloat) read_float_list(feature, "example", floats);
    if (feature.kind == FeatureView::Kind::kInt64) read_int64_list(feature, "example", ints);
  }
  ExampleParser parser;
  std::vector<ParsedFeature> features(3);
  const DType dtypes[] = {DType::kFloat32, DType::kInt64, DType::kString};
  const char* keys[] = {"x", "n", "s"};
  for (size_t i = 0; i < 3; ++i) {
    features[i].key = keys[i];
    features[i].dtype = dtypes[i];
  }
  parser.begin(features);
  parser.add(bytes, "");
}

void read_lines(const std::string& bytes, Compression compression) {
  BufferedBytes file(file_of(bytes, "lines"), compression);
  file.skip_byte_order_mark();
  std::string line;
  while (next_line(file, &line)) {
  }
}

template <typename T>
void parse_as(std::string_view field) {
  T number;
  parse_field(field, &number);
}

// Reads once strictly, and once skipping invalid records.
void read_csv(const std::string& bytes, char delim, bool has_quotes) {
  const std::string path = file_of(bytes, "csv");
  const CsvFormat format = {delim, has_quotes};
  CsvReader lenient(path, Compression::kNone, format);
  for (bool is_over = false; !is_over;) {
    try {
      is_over = !lenient.next();
      for (const auto& field : lenient.fields()) {
        parse_as<int32_t>(field);
        parse_as<int64_t>(field);
        parse_as<float>(field);
        parse_as<double>(field);
      }
    } catch (const Error&) {
      is_over = !lenient.skip();
    }
  }
  CsvReader strict(path, Compression::kNone, format);
  while (strict.next()) {
  }
}

void read_arrow(const std::string& bytes) {
  ArrowArrayStream stream = arrow_stream_of(bytes);
  ArrowReader reader(&stream);
  std::vector<Tensor> columns;
  while (reader.next(&columns)) {
  }
}

void read_records_leniently(const std::string& bytes) {
  RecordReader reader(file_of(with_record_checksums(bytes), "records"));
  std::string data;
  for (bool is_over = false; !is_over;) {
    try {
      is_over = !reader.next(data);
    } catch (const Error&) {
      is_over = !reader.skip();
    }
  }
}

}  // namespace

const std::vector<Reader>& readers() {
  static const std::vector<Reader> all = {
      {"wire", [](const std::string& b) { walk(WireReader(b, "wire"), 0); }},
      {"TensorShapeProto", [](const std::string& b) { read_shape(WireReader(b, "shape")); }},
      {"TensorProto", [](const std::string& b) { read_tensor(WireReader(b, "tensor")); }},
      {"AttrValue", [](const std::string& b) { read_attr(WireReader(b, "attr")); }},
      {"GraphDef", [](const std::string& b) { read_graph_def(b, "graph"); }},
      {"GraphDef as text", [](const std::string& b) { proto_to_text(b, "GraphDef", "graph"); }},
      {"MetaGraphDef as text",
       [](const std::string& b) { proto_to_text(b, "MetaGraphDef", "meta"); }},
      {"text of a GraphDef", [](const std::string& b) { read_text_of(b, "GraphDef"); }},
      {"text of a MetaGraphDef", [](const std::string& b) { read_text_of(b, "MetaGraphDef"); }},
      {"checkpoint state",
       [](const std::string& b) {
         CheckpointState state;
         std::string problem;
         parse_checkpoint_state(b, &state, &problem);
       }},
      {"plain data", [](const std::string& b) { read_plain_data(b, "plain data"); }},
      {"file of plain data", [](const std::string& b) { read_plain_file(file_of(b, "plain")); }},
      {"Summary", [](const std::string& b) { read_summary(b, "summary"); }},
      {"Event", [](const std::string& b) { read_event(b, "event"); }},
      {"event file",
       [](const std::string& b) {
         bool truncated = false;
         read_events(file_of(with_record_checksums(b), "events"), &truncated);
       }},
      {"records",
       [](const std::string& b) {
         bool truncated = false;
         read_records(file_of(b, "records"), &truncated);
       }},
      {"appended records",
       [](const std::string& b) {
         size_t damaged = 0;
         read_appended_records(file_of(b, "runs"), &damaged);
       }},
      {"records in gzip", [](const std::string& b) { read_compressed(b, Compression::kGzip); }},
      {"records in zlib", [](const std::string& b) { read_compressed(b, Compression::kZlib); }},
      {"records but for ill ones", read_records_leniently},
      {"lines", [](const std::string& b) { read_lines(b, Compression::kNone); }},
      {"lines in gzip", [](const std::string& b) { read_lines(b, Compression::kGzip); }},
      {"delimited text", [](const std::string& b) { read_csv(b, ',', true); }},
      {"text with tabs", [](const std::string& b) { read_csv(b, '\t', true); }},
      {"text without quotes", [](const std::string& b) { read_csv(b, ',', false); }},
      {"Arrow stream", read_arrow},
      {"table", [](const std::string& b) { read_table(with_table_checksums(b), "table"); }},
      {"BundleHeaderProto", [](const std::string& b) { read_bundle_header(b, "header"); }},
      {"BundleEntryProto", [](const std::string& b) { read_bundle_entry(b, "entry", "file"); }},
      {"MetaGraphDef", [](const std::string& b) { read_meta_graph(b, "meta"); }},
      {"SavedModel", read_saved_model_of},
      {"loaded model", load_model_of},
      {"VariableDef", [](const std::string& b) { read_variable_def(b, "variable"); }},
      {"import of a GraphDef", import_graph},
      {"Example", read_example_of},
      {"PNG", [](const std::string& b) { read_png(b, 0, 1 << 20); }},
      {"trees", [](const std::string& b) { TreeEnsemble::parse(b, "trees").serialize(); }},
      {"strings of a bundle", read_strings},
      {"bundle", read_bundle},
      {"state of an iterator", read_state_of_iterator},
      {"state of a run", read_state_of_run},
  };
  return all;
}

void read_with(const Reader& reader, const std::string& bytes) {
  try {
    reader.read(bytes);
  } catch (const Error&) {
  }
}

}  // namespace runhooks_fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string bytes(reinterpret_cast<const char*>(data), size);
  for (const auto& reader : runhooks_fuzz::readers()) runhooks_fuzz::read_with(reader, bytes);
  return 0;
}
