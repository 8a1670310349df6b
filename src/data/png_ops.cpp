// DecodePng and EncodePng: PNG images as tensors [height, width, channels].
#include "graph/op_registry.h"
#include "io/formats/png.h"
#include "tensor/output_dictionary.h"

namespace runhooks {

namespace {

class DecodePngKernel : public Kernel {
 public:
  void compute(KernelContext& c) override {
    const Image image =
        read_png(c.input(0).string_at(0), static_cast<int>(c.op().attr_int("channels")));
    Tensor& out =
        c.allocate_output(0, DType::kUint8, Shape{image.height, image.width, image.channels});
    // Keeps the upper byte of 16-bit samples, as TensorFlow configures libpng.
    const int shift = image.bits - 8;
    auto* to = out.data<uint8_t>();
    for (const uint16_t sample : image.samples) *to++ = static_cast<uint8_t>(sample >> shift);
  }
};

class EncodePngKernel : public Kernel {
 public:
  void compute(KernelContext& c) override {
    const Tensor& x = c.input(0);
    Image image;
    image.height = x.shape().dim(0);
    image.width = x.shape().dim(1);
    image.channels = static_cast<int>(x.shape().dim(2));
    if (image.channels < 1 || image.channels > 4 || x.num_elements() == 0 ||
        image.height > 2147483647 || image.width > 2147483647) {
      invalid_argument("An image must have 1 to 4 channels and at least one pixel; got shape ",
                       x.shape(), ".");
    }
    const auto* from = x.data<uint8_t>();
    image.samples.assign(from, from + x.num_elements());
    const std::string bytes = write_png(image, static_cast<int>(c.op().attr_int("compression")));
    Tensor& out = c.output(0);
    out.set_dictionary(dictionary_.for_elements(1));
    *out.data<int32_t>() = out.dictionary()->code(bytes);
  }

 private:
  OutputDictionary dictionary_;
};

void decode_png_shape(ShapeContext& c) {
  const int64_t channels = c.op().attr_int("channels");
  if (channels == 2) invalid_argument("channels must be 0, 1, 3, or 4; got 2.");
  c.set_output(0, Shape{-1, -1, channels == 0 ? -1 : channels});
}

}  // namespace

RUNHOOKS_REGISTER_OP("DecodePng")
    .input("contents: string, scalar")
    .output("image: dtype")
    .attr("channels: int >= 0, <= 4 = 0")
    .attr("dtype: {uint8} = DT_UINT8")
    .shape(decode_png_shape)
    .kernel(kernel_of<DecodePngKernel>())
    .allocates_outputs()
    .not_differentiable()
    .endpoint("image.decode_png")
    .endpoint("io.decode_png")
    .summary("Decode a PNG image to a tensor [height, width, channels].");

RUNHOOKS_REGISTER_OP("EncodePng")
    .input("image: T, rank 3")
    .output("contents: string")
    .attr("compression: int >= -1, <= 9 = -1")
    .attr("T: {uint8} = DT_UINT8")
    .shape(scalar_shape)
    .kernel(kernel_of<EncodePngKernel>())
    .not_differentiable()
    .r("image.encode_png(image, compression = -1, name = NULL)")
    .summary("Encode an image as PNG.");

}  // namespace runhooks
