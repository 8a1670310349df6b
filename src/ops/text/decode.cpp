#include <algorithm>
#include <cstring>

#include "graph/op_registry.h"

namespace runhooks {

namespace {

// Reads the bytes of each string as elements of the output type. All strings must have equal
// length.
class DecodeRawKernel : public Kernel {
 public:
  void compute(KernelContext& c) override {
    const Tensor& x = c.input(0);
    const DType dtype = c.op().attr_type("out_type");
    const size_t size = dtype_size(dtype);
    const size_t length = x.num_elements() == 0 ? 0 : x.string_at(0).size();
    if (length % size != 0) {
      invalid_argument("Input to DecodeRaw has length ", static_cast<int64_t>(length),
                       " that is not a multiple of ", static_cast<int64_t>(size), ", the size of ",
                       dtype_name(dtype), ".");
    }
    Shape shape = x.shape();
    shape.append(static_cast<int64_t>(length / size));
    Tensor& out = c.allocate_output(0, dtype, shape);
    auto* to = static_cast<char*>(out.raw());
    for (int64_t i = 0; i < x.num_elements(); ++i, to += length) {
      const std::string& bytes = x.string_at(i);
      if (bytes.size() != length) {
        invalid_argument("DecodeRaw requires input strings to all be the same size, but element ",
                         i, " has size ", static_cast<int64_t>(bytes.size()),
                         " != ", static_cast<int64_t>(length), ".");
      }
      std::memcpy(to, bytes.data(), length);
    }
    if (needs_byte_swap(c.op())) swap_bytes(static_cast<char*>(out.raw()), size, out.num_bytes());
    if (dtype == DType::kBool) normalize_bools(out);
  }

 private:
  static bool needs_byte_swap(const Operation& op) {
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    return op.attr_bool("little_endian");
#else
    return !op.attr_bool("little_endian");
#endif
  }
  static void swap_bytes(char* bytes, size_t size, size_t total) {
    for (char* element = bytes; element < bytes + total; element += size) {
      std::reverse(element, element + size);
    }
  }
  // Reading a bool from a byte other than 0 or 1 is undefined behaviour.
  static void normalize_bools(Tensor& out) {
    auto* bytes = static_cast<unsigned char*>(out.raw());
    for (int64_t i = 0; i < out.num_elements(); ++i) bytes[i] = bytes[i] != 0;
  }
};

}  // namespace

RUNHOOKS_REGISTER_OP("DecodeRaw")
    .input("bytes: string")
    .output("output: out_type")
    .attr("out_type: {float, double, int32, uint8, int64, bool}")
    .attr("little_endian: bool = true")
    .shape([](ShapeContext& c) {
      Shape shape = c.input(0);
      if (shape.has_rank()) shape.append(Shape::kUnknownDim);
      c.set_output(0, shape);
    })
    .kernel(kernel_of<DecodeRawKernel>())
    .allocates_outputs()
    .not_differentiable()
    .r("decode_raw, io.decode_raw(input_bytes as bytes, out_type, little_endian = TRUE, name = "
       "NULL)")
    .summary("The bytes of strings as a vector of numbers.")
    .example("s{abcd,efgh} | out_type=int32");

}  // namespace runhooks
