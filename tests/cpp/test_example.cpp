// tf.Example messages: reading TensorFlow's, writing, and parsing ops.
#include <cstdint>

#include "data/example_parser.h"
#include "graph/graph.h"
#include "io/formats/example.h"
#include "io/formats/png.h"
#include "nn/parse_functions.h"
#include "session/session.h"
#include "test.h"

using namespace runhooks;

namespace {

std::string example_of(float x, const std::vector<std::string_view>& texts) {
  ExampleWriter writer;
  writer.add_floats("x", {x, x + 1});
  writer.add_ints("n", {7});
  if (!texts.empty()) writer.add_bytes("w", texts);
  return writer.take();
}

FeatureSpec spec_of(const std::string& key, FeatureSpec::Kind kind, DType dtype, Shape shape = {}) {
  FeatureSpec spec;
  spec.key = key;
  spec.kind = kind;
  spec.dtype = dtype;
  spec.shape = shape;
  return spec;
}

// Calls run() and returns the message of the error that it throws, or "".
template <typename Run>
std::string message_of(Run run) {
  try {
    run();
    return "";
  } catch (const Error& error) {
    return error.message();
  }
}

struct Parsed {
  std::shared_ptr<Graph> graph = std::make_shared<Graph>();
  std::vector<std::pair<std::string, ParsedTensor>> tensors;
  Output serialized;
  Parsed(const std::vector<FeatureSpec>& specs, bool is_single = false) {
    serialized = graph->op("Placeholder")
                     .attr("dtype", DType::kString)
                     .attr("shape", is_single ? Shape() : Shape{-1});
    tensors = parse_example(*graph, serialized, Output(), specs, is_single);
  }
  std::vector<Tensor> run(const std::vector<std::string>& examples) {
    Session session(graph);
    std::vector<Fetch> fetches;
    for (const auto& tensor : tensors) {
      fetches.push_back(tensor.second.values);
      if (tensor.second.indices) fetches.push_back(tensor.second.indices);
      if (tensor.second.indices) fetches.push_back(tensor.second.dense_shape);
    }
    const bool is_single = serialized.shape().rank() == 0;
    const Shape shape = is_single ? Shape() : Shape{static_cast<int64_t>(examples.size())};
    return session.run(fetches, {{serialized, Tensor::strings(shape, examples)}});
  }
};

}  // namespace

TEST(example_round_trip) {
  const std::string bytes = example_of(1.5, {"a", ""});
  ExampleView example, other;
  read_example(bytes, "test", example);
  CHECK_EQ(example.size(), 3u);
  std::vector<float> floats;
  read_float_list(*find_feature(example, "x"), "test", floats);
  CHECK(floats == (std::vector<float>{1.5f, 2.5f}));
  std::vector<std::string_view> texts;
  read_bytes_list(*find_feature(example, "w"), "test", texts);
  CHECK_EQ(texts.size(), 2u);
  CHECK(find_feature(example, "nothing") == nullptr);
  CHECK(message_of([&] { read_example(bytes.substr(0, bytes.size() - 1), "test", other); }) != "");
}

TEST(example_is_parsed_in_batches) {
  Parsed parsed({spec_of("x", FeatureSpec::Kind::kFixedLen, DType::kFloat32, Shape{2}),
                 spec_of("w", FeatureSpec::Kind::kVarLen, DType::kString),
                 spec_of("n", FeatureSpec::Kind::kFixedLen, DType::kInt64, Shape())});
  const auto values =
      parsed.run({example_of(1, {"a", "b"}), example_of(3, {}), example_of(5, {"c"})});
  CHECK(values[0].equals(Tensor::of<float>(Shape{3, 2}, {1, 2, 3, 4, 5, 6})));
  CHECK(values[1].equals(Tensor::strings(Shape{3}, {"a", "b", "c"})));
  CHECK(values[2].equals(Tensor::of<int64_t>(Shape{3, 2}, {0, 0, 0, 1, 2, 0})));
  CHECK(values[3].equals(Tensor::vector<int64_t>({3, 2})));
  CHECK(values[4].equals(Tensor::vector<int64_t>({7, 7, 7})));
}

TEST(single_example_has_no_batch_dimension) {
  Parsed parsed({spec_of("x", FeatureSpec::Kind::kFixedLen, DType::kFloat32, Shape{2}),
                 spec_of("w", FeatureSpec::Kind::kVarLen, DType::kString)},
                /*is_single=*/true);
  const auto values = parsed.run({example_of(1, {"a", "b"})});
  CHECK(values[0].equals(Tensor::of<float>(Shape{2}, {1, 2})));
  CHECK(values[2].equals(Tensor::of<int64_t>(Shape{2, 1}, {0, 1})));
  CHECK(values[3].equals(Tensor::vector<int64_t>({2})));
}

TEST(example_without_a_required_feature_is_named) {
  Parsed parsed({spec_of("y", FeatureSpec::Kind::kFixedLen, DType::kFloat32, Shape{1})});
  const std::string message = message_of([&] { parsed.run({example_of(1, {})}); });
  CHECK(message.find("Index: 0, Feature: y (data type: float32) is required") != std::string::npos);
  Parsed typed({spec_of("n", FeatureSpec::Kind::kFixedLen, DType::kFloat32, Shape{1})});
  CHECK(message_of([&] { typed.run({example_of(1, {})}); }).find("Data types don't match") !=
        std::string::npos);
  Parsed sized({spec_of("x", FeatureSpec::Kind::kFixedLen, DType::kFloat32, Shape{1})});
  CHECK(message_of([&] { sized.run({example_of(1, {})}); }).find("Values size: 2") !=
        std::string::npos);
}

TEST(example_gets_defaults_and_padded_sequences) {
  FeatureSpec missing = spec_of("y", FeatureSpec::Kind::kFixedLen, DType::kFloat32, Shape{2});
  missing.default_value = Tensor::scalar<float>(9);
  FeatureSpec texts = spec_of("w", FeatureSpec::Kind::kFixedLenSequence, DType::kString);
  texts.default_value = Tensor::string_scalar("-");
  Parsed parsed({missing, texts});
  const auto values = parsed.run({example_of(1, {"a", "b"}), example_of(1, {"c"})});
  CHECK(values[0].equals(Tensor::of<float>(Shape{2, 2}, {9, 9, 9, 9})));
  CHECK(values[1].equals(Tensor::strings(Shape{2, 2}, {"a", "b", "c", "-"})));
}

TEST(example_with_indices_and_values_is_sparse) {
  ExampleWriter writer;
  writer.add_ints("at", {5, 2});
  writer.add_floats("v", {50, 20});
  FeatureSpec spec = spec_of("s", FeatureSpec::Kind::kSparse, DType::kFloat32);
  spec.index_key = "at";
  spec.value_key = "v";
  spec.size = 8;
  Parsed parsed({spec});
  const auto values = parsed.run({writer.take()});
  CHECK(values[0].equals(Tensor::vector<float>({20, 50})));
  CHECK(values[1].equals(Tensor::of<int64_t>(Shape{2, 2}, {0, 2, 0, 5})));
  CHECK(values[2].equals(Tensor::vector<int64_t>({1, 8})));
}

TEST(png_round_trip) {
  for (int channels = 1; channels <= 4; ++channels) {
    for (const int bits : {8, 16}) {
      Image image;
      image.height = 3;
      image.width = 5;
      image.channels = channels;
      image.bits = bits;
      for (int i = 0; i < 15 * channels; ++i) {
        image.samples.push_back(static_cast<uint16_t>(bits == 8 ? i * 7 % 256 : i * 999));
      }
      const Image read = read_png(write_png(image), 0);
      CHECK_EQ(read.channels, channels);
      CHECK(read.samples == image.samples);
    }
  }
  CHECK(message_of([] { read_png("no image", 0); }) != "");
}
