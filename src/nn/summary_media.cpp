// Image, audio and text summaries: the ops, and the functions of tf.summary.
#include <algorithm>
#include <cmath>
#include <limits>

#include "graph/graph_function.h"
#include "io/events/summary.h"
#include "io/formats/png.h"
#include "io/proto/wire.h"
#include "nn/summary_ops.h"

namespace runhooks {

namespace {

std::string numbered_tag(const std::string& tag, const char* kind, int64_t i, int64_t max_count) {
  return max_count > 1 ? str_cat(tag, "/", kind, "/", i) : str_cat(tag, "/", kind);
}

SummaryValue encoded_value(const std::string& tag, int field, const WireWriter& message) {
  SummaryValue value;
  value.tag = tag;
  value.value = RawSummary{field, message.bytes()};
  return value;
}

// Scales pixels to bytes. Values from 0 to the maximum become 0 to 255. If any value is negative, 0
// becomes 128. Pixels with non-finite values become red.
class PixelScaler {
 public:
  PixelScaler(int64_t pixels, int64_t channels) : pixels_(pixels), channels_(channels) {}
  const uint8_t* scaled_image(const Tensor& x, int64_t image) {
    const int64_t size = pixels_ * channels_, offset = image * size;
    bytes_.resize(static_cast<size_t>(size));
    if (x.dtype() == DType::kUint8) {
      std::copy_n(x.data<uint8_t>() + offset, size, bytes_.begin());
      return bytes_.data();
    }
    float min_value = std::numeric_limits<float>::infinity(), max_value = -min_value;
    for (int64_t i = offset; i < offset + size; ++i) {
      const auto value = static_cast<float>(x.number_at(i));
      if (!is_finite_pixel(x, offset, i)) continue;
      min_value = std::min(min_value, value);
      max_value = std::max(max_value, value);
    }
    const float scale =
        min_value < 0 ? std::max(std::fabs(min_value), std::fabs(max_value)) : max_value;
    const float factor = scale < std::numeric_limits<float>::min()
                             ? 0.0f
                             : (min_value < 0 ? 127.0f : 255.0f) / scale;
    const float zero_level = min_value < 0 ? 128.0f : 0.0f;
    constexpr uint8_t kNonFiniteColor[] = {255, 0, 0, 255};
    for (int64_t i = 0; i < size; ++i) {
      const bool is_finite = is_finite_pixel(x, offset, offset + i);
      const auto value = static_cast<float>(x.number_at(offset + i));
      bytes_[static_cast<size_t>(i)] = is_finite ? static_cast<uint8_t>(value * factor + zero_level)
                                                 : kNonFiniteColor[i % channels_];
    }
    return bytes_.data();
  }

 private:
  bool is_finite_pixel(const Tensor& x, int64_t offset, int64_t i) const {
    const int64_t first = offset + (i - offset) / channels_ * channels_;
    for (int64_t k = first; k < first + channels_; ++k) {
      if (!std::isfinite(x.number_at(k))) return false;
    }
    return true;
  }
  int64_t pixels_, channels_;
  std::vector<uint8_t> bytes_;
};

class ImageSummaryKernel : public Kernel {
 public:
  void compute(KernelContext& c) override {
    const Tensor& x = c.input(1);
    const std::string& tag = c.input(0).string_at(0);
    const int64_t height = x.shape().dim(1), width = x.shape().dim(2), depth = x.shape().dim(3);
    if (depth != 1 && depth != 3 && depth != 4) {
      invalid_argument("Tensor must be 4-D with last dim 1, 3, or 4, not ", x.shape(), " (tag '",
                       tag, "').");
    }
    const int64_t max_count = c.op().attr_int("max_images");
    const int64_t n = std::min(max_count, x.shape().dim(0));
    PixelScaler pixels(height * width, depth);
    Summary summary;
    for (int64_t i = 0; i < n; ++i) {
      WireWriter image;
      image.put_int(1, height).put_int(2, width).put_int(3, depth);
      image.put_bytes(
          4, encode_png(pixels.scaled_image(x, i), width, height, static_cast<int>(depth)));
      summary.push_back(encoded_value(numbered_tag(tag, "image", i, max_count), 4, image));
    }
    set_string_output(c.output(0), write_summary(summary));
  }
};

void append_little_endian(std::string& out, uint32_t x, int bytes) {
  for (int i = 0; i < bytes; ++i) out += static_cast<char>(x >> (8 * i) & 0xff);
}

std::string encode_wav(const float* sound, int64_t frames, int64_t channels, uint32_t rate) {
  const auto bytes = static_cast<uint32_t>(frames * channels * 2);
  const auto width = static_cast<uint32_t>(channels * 2);
  std::string out = "RIFF";
  append_little_endian(out, bytes + 36, 4);
  out += "WAVEfmt ";
  append_little_endian(out, 16, 4);
  append_little_endian(out, 1, 2);  // PCM
  append_little_endian(out, static_cast<uint32_t>(channels), 2);
  append_little_endian(out, rate, 4);
  append_little_endian(out, rate * width, 4);
  append_little_endian(out, width, 2);
  append_little_endian(out, 16, 2);
  out += "data";
  append_little_endian(out, bytes, 4);
  for (int64_t i = 0; i < frames * channels; ++i) {
    const float clamped = std::max(-32768.0f, std::min(32767.0f, std::round(sound[i] * 32768.0f)));
    append_little_endian(out, static_cast<uint32_t>(static_cast<int32_t>(clamped)), 2);
  }
  return out;
}

class AudioSummaryKernel : public Kernel {
 public:
  void compute(KernelContext& c) override {
    const Tensor& x = c.input(1);
    const int64_t frames = x.shape().dim(1), channels = x.shape().rank() > 2 ? x.shape().dim(2) : 1;
    const float rate = *c.input(2).data<float>();
    if (!(rate > 0) || rate > 1e9f)
      invalid_argument("sample_rate must be above 0, not ", rate, ".");
    const int64_t max_count = c.op().attr_int("max_outputs");
    Summary summary;
    for (int64_t i = 0; i < std::min(max_count, x.shape().dim(0)); ++i) {
      WireWriter audio;
      audio.put_float(1, rate).put_int(2, channels).put_int(3, frames);
      audio.put_bytes(4, encode_wav(x.data<float>() + i * frames * channels, frames, channels,
                                    static_cast<uint32_t>(rate)));
      audio.put_bytes(5, "audio/wav");
      summary.push_back(
          encoded_value(numbered_tag(c.input(0).string_at(0), "audio", i, max_count), 6, audio));
    }
    set_string_output(c.output(0), write_summary(summary));
  }
};

class TensorSummaryKernel : public Kernel {
 public:
  void compute(KernelContext& c) override {
    WireWriter value, summary;
    value.put_bytes(9, c.input(2).string_at(0));
    summary.put_message(1, value);
    Summary parsed = read_summary(summary.bytes(), "serialized_summary_metadata");
    parsed[0].tag = c.input(0).string_at(0);
    parsed[0].value = c.input(1);
    set_string_output(c.output(0), write_summary(parsed));
  }
};

SummaryOptions summary_options(const Args& args) {
  SummaryOptions options;
  const Value* collections = args.find("collections");
  if (collections && collections->get_if<std::string>())
    options.collections = {args.text("collections")};
  if (collections && !collections->get_if<std::string>())
    options.collections = args.texts("collections");
  options.family = args.text("family", "");
  return options;
}

Value call_image(Graph& graph, const Args& args) {
  const Output tensor = tensor_argument(graph, args, "tensor", DType::kFloat32);
  const int64_t max_count = args.integer("max_outputs", 3);
  return Value::of(add_tagged_summary(
      graph, "tag", args.text("name"), summary_options(args),
      [&](Graph& g, Output tag, const std::string& op_name) -> Output {
        return g.op("ImageSummary", {tag, tensor}).attr("max_images", max_count).named(op_name);
      }));
}

Value call_audio(Graph& graph, const Args& args) {
  const Output tensor = tensor_argument(graph, args, "tensor", DType::kFloat32);
  const int64_t max_count = args.integer("max_outputs", 3);
  return Value::of(add_tagged_summary(
      graph, "tag", args.text("name"), summary_options(args),
      [&](Graph& g, Output tag, const std::string& op_name) -> Output {
        const Output rate = tensor_argument(g, args, "sample_rate", DType::kFloat32);
        return g.op("AudioSummaryV2", {tag, tensor, rate})
            .attr("max_outputs", max_count)
            .named(op_name);
      }));
}

Value call_text(Graph& graph, const Args& args) {
  const Output tensor = tensor_argument(graph, args, "tensor", DType::kString);
  if (tensor.dtype() != DType::kString) {
    invalid_argument("Expected tensor ", tensor.name(), " to have dtype string, got ",
                     dtype_name(tensor.dtype()), ".");
  }
  WireWriter plugin, metadata;
  plugin.put_bytes(1, "text");
  metadata.put_message(1, plugin);
  return Value::of(add_tagged_summary(
      graph, "tag", args.text("name"), summary_options(args),
      [&](Graph& g, Output tag, const std::string& op_name) -> Output {
        const Output metadata_tensor =
            g.constant(Tensor::string_scalar(metadata.bytes()), "serialized_summary_metadata");
        return g.op("TensorSummaryV2", {tag, tensor, metadata_tensor}).named(op_name);
      }));
}

}  // namespace

RUNHOOKS_REGISTER_OP("ImageSummary")
    .input("tag: string, scalar")
    .input("tensor: T, rank 4")
    .output("summary: string")
    .attr("max_images: int >= 1 = 3")
    .attr("T: {uint8, float} = DT_FLOAT")
    .shape(scalar_shape)
    .kernel(kernel_of<ImageSummaryKernel>())
    .not_differentiable()
    .endpoint("raw_ops.ImageSummary")
    .summary("A serialized Summary of images.")
    .example("s:image e[2,3,4,1]");

RUNHOOKS_REGISTER_OP("AudioSummaryV2")
    .input("tag: string, scalar")
    .input("tensor: float, rank >= 2, rank <= 3")
    .input("sample_rate: float, scalar")
    .output("summary: string")
    .attr("max_outputs: int >= 1 = 3")
    .shape(scalar_shape)
    .kernel(kernel_of<AudioSummaryKernel>())
    .not_differentiable()
    .endpoint("raw_ops.AudioSummaryV2")
    .summary("A serialized Summary of audio.")
    .example("s:sound e[2,30] e[]");

RUNHOOKS_REGISTER_OP("TensorSummaryV2")
    .input("tag: string, scalar")
    .input("tensor: T")
    .input("serialized_summary_metadata: string, scalar")
    .output("summary: string")
    .attr("T: type")
    .shape(scalar_shape)
    .kernel(kernel_of<TensorSummaryKernel>())
    .not_differentiable()
    .endpoint("raw_ops.TensorSummaryV2")
    .summary("A serialized Summary of any tensor.")
    .example("s:text s{a,b} s:");

RUNHOOKS_REGISTER_FUNCTION(
    "summary.image(name, tensor, max_outputs = 3, collections = NULL, family = NULL)",
    "A summary of images [batch, height, width, channels].",
    call_image);
RUNHOOKS_REGISTER_FUNCTION(
    "summary.audio(name, tensor, sample_rate, max_outputs = 3, collections = NULL, family = NULL)",
    "A summary of sound [batch, frames] or [batch, frames, channels].",
    call_audio);
RUNHOOKS_REGISTER_FUNCTION("summary.text(name, tensor, collections = NULL)",
                           "A summary of strings.",
                           call_text);

}  // namespace runhooks
