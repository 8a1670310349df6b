#include <cmath>

#include "io/events/event_file.h"
#include "io/proto/text_format.h"
#include "io_test.h"

using namespace runhooks;
using namespace runhooks_test;

namespace {

// Returns the parser's message for an invalid CheckpointState, or "".
std::string problem_of(const std::string& text) {
  std::string bytes, problem;
  return text_to_proto(text, "CheckpointState", &bytes, &problem) ? "" : problem;
}

// Returns the text in protobuf's canonical format.
std::string canonical(const std::string& text, const std::string& message = "CheckpointState") {
  std::string bytes, problem;
  if (!text_to_proto(text, message, &bytes, &problem)) return problem;
  return proto_to_text(bytes, message, "x");
}

std::string quoted(const std::string& bytes) {
  std::string text;
  append_quoted(text, bytes);
  return text;
}

}  // namespace

TEST(io_text_of_a_graph_matches_tensorflow) {
  const auto events = read_events(golden_file("events/events.out.tfevents.1700000000.host"));
  const std::string golden = read_whole_file(golden_file("events/graph.pbtxt"));
  CHECK(proto_to_text(events[3].bytes, "GraphDef", "x", FloatText::kAsDouble) == golden);
  std::string bytes, problem;
  CHECK(text_to_proto(golden, "GraphDef", &bytes, &problem));
  CHECK(proto_to_text(bytes, "GraphDef", "x", FloatText::kAsDouble) == golden);
}

TEST(io_text_formats_numbers_like_python) {
  CHECK_EQ(double_text(0.1), "0.1");
  CHECK_EQ(double_text(1e16), "1e+16");
  CHECK_EQ(double_text(1e15), "1000000000000000.0");
  CHECK_EQ(double_text(1e-5), "1e-05");
  CHECK_EQ(double_text(1e-4), "0.0001");
  CHECK_EQ(double_text(1.0 / 3), "0.3333333333333333");
  CHECK_EQ(double_text(5e-324), "5e-324");
  CHECK_EQ(double_text(-1.5e300), "-1.5e+300");
  CHECK_EQ(double_text(-0.0), "-0.0");
  CHECK_EQ(double_text(100), "100.0");
  CHECK_EQ(double_text(NAN), "nan");
  CHECK_EQ(double_text(-INFINITY), "-inf");
  CHECK_EQ(float_text(0.1f), "0.1");
  CHECK_EQ(float_text(-1.2247449f), "-1.2247449");
  CHECK_EQ(float_text(16777216.0f), "16777216.0");
  CHECK_EQ(float_text(3.4e38f), "3.4e+38");
  CHECK_EQ(double_text(static_cast<double>(0.05f)), "0.05000000074505806");
}

TEST(io_text_escapes_strings) {
  CHECK_EQ(quoted("caf\xc3\xa9 \x01\x7f\t\n\r'\"\\?x"),
           "\"caf\\303\\251 \\001\\177\\t\\n\\r\\'\\\"\\\\?x\"");
  std::mt19937_64 random = seeded_generator();
  for (int round = 0; round < 200; ++round) {
    const std::string bytes = random_bytes(random, random() % 40);
    std::string message, problem;
    CHECK(text_to_proto("value: " + quoted(bytes), "CollectionDef.BytesList", &message,
                        &problem));
    CHECK(canonical("value: " + quoted(bytes), "CollectionDef.BytesList") ==
          "value: " + quoted(bytes) + "\n");
  }
}

// Expected messages are those of Python's protobuf 4.25 (TensorFlow 2.15.1).
TEST(io_text_parser_has_protobufs_messages) {
  CHECK_EQ(problem_of("this is garbage"),
           "1:1 : Message type \"tensorflow.CheckpointState\" has no field named \"this\".");
  CHECK_EQ(problem_of("model_checkpoint_path: 3"),
           "1:24 : 'model_checkpoint_path: 3': Expected string but found: '3'");
  CHECK_EQ(problem_of("model_checkpoint_path \"a\""),
           "1:23 : 'model_checkpoint_path \"a\"': Expected \":\".");
  CHECK_EQ(problem_of("model_checkpoint_path: \"a"),
           "1:24 : 'model_checkpoint_path: \"a': String missing ending quote: '\"a");
  CHECK_EQ(problem_of("# x\nlast_preserved_timestamp: x"),
           "2:27 : 'last_preserved_timestamp: x': Couldn't parse float: x");
  CHECK_EQ(problem_of("{"), "1:1 : '{': Expected identifier or number, got {.");
  CHECK_EQ(problem_of("last_preserved_timestamp:"), "1:26 : '': Couldn't parse float: ");
}

TEST(io_text_parser_accepts_all_forms) {
  CHECK_EQ(canonical("all_model_checkpoint_timestamps: [1, 2.5e3,inf]"),
           "all_model_checkpoint_timestamps: 1.0\nall_model_checkpoint_timestamps: 2500.0\n"
           "all_model_checkpoint_timestamps: inf\n");
  CHECK_EQ(canonical("last_preserved_timestamp: 1f; model_checkpoint_path: 'a' \"b\", "
                     "last_preserved_timestamp: -2"),
           "model_checkpoint_path: \"ab\"\nlast_preserved_timestamp: -2.0\n");
  CHECK_EQ(canonical("model_checkpoint_path: \"\\x4Z \\7\\18\\a\\v\\?\\u00e9\""),
           "model_checkpoint_path: \"\\004Z \\007\\0018\\007\\013\\\\?\\303\\251\"\n");
  CHECK_EQ(
      canonical(
          "dtype: 1 tensor_shape < dim: { size: 0x10 } dim {} > float_val: [1.5] bool_val: true",
          "TensorProto"),
      "dtype: DT_FLOAT\ntensor_shape {\n  dim {\n    size: 16\n  }\n  dim {\n  }\n}\nfloat_val: "
      "1.5\n"
      "bool_val: true\n");
  const std::string any =
      "any_list {\n  value {\n    [type.googleapis.com/tensorflow.AssetFileDef] {\n"
      "      filename: \"vocab.txt\"\n    }\n  }\n}\n";
  CHECK_EQ(canonical(any, "CollectionDef"), any);
}

TEST(io_text_of_maps_is_sorted_and_oneofs_show_zeros) {
  CHECK_EQ(
      canonical(
          "attr { key: 'b' value { i: 0 } } attr { key: 'a' value { list {} } } attr { key: 'c' }",
          "NodeDef"),
      "attr {\n  key: \"a\"\n  value {\n    list {\n    }\n  }\n}\n"
      "attr {\n  key: \"b\"\n  value {\n    i: 0\n  }\n}\n"
      "attr {\n  key: \"c\"\n  value {\n  }\n}\n");
}

TEST(io_text_parser_survives_random_input) {
  std::mt19937_64 random = seeded_generator();
  const std::string golden = read_whole_file(golden_file("events/graph.pbtxt")).substr(0, 3000);
  const auto events = read_events(golden_file("events/events.out.tfevents.1700000000.host"));
  const std::string message = events[1].bytes.substr(0, 4000);
  for (int round = 0; round < 1000; ++round) {
    std::string text = golden.substr(random() % 1000, random() % 2000), bytes, problem;
    for (int n = 0; n < 4 && !text.empty(); ++n)
      text[random() % text.size()] = static_cast<char>(random());
    text_to_proto(text, "GraphDef", &bytes, &problem);
    std::string bent = message;
    for (int n = 0; n < 4; ++n) bent[random() % bent.size()] = static_cast<char>(random());
    reads_or_reports("a file", [&] { proto_to_text(bent, "GraphDef", "a file"); });
  }
  std::string deep = "value { func { attr {";
  for (int i = 0; i < 12; ++i) deep += deep;
  std::string bytes, problem;
  CHECK(!text_to_proto(deep, "NameAttrList", &bytes, &problem));
}
