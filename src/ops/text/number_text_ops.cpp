#include <cinttypes>
#include <cstdio>
#include <cstdlib>

#include "base/number_text.h"
#include "graph/op_registry.h"
#include "ops/array/copy_elements.h"

namespace runhooks {

namespace {

// Accepts at most one flag of printf(). Other text would change the meaning of the format string.
void check_fill(const Operation& op) {
  const auto& fill = op.attr<std::string>("fill");
  if (fill.size() > 1) {
    invalid_argument("Fill string must be one or fewer characters; got '", fill, "'.");
  }
  if (!fill.empty() && std::string(" +-0#").find(fill) == std::string::npos) {
    invalid_argument("Fill argument not supported: '", fill,
                     "'. It may be ' ', '+', '-', '0' or '#'.");
  }
}

void as_string_shape(ShapeContext& c) {
  check_fill(c.op());
  constexpr int64_t kMaxWidth = 10000;
  for (const char* name : {"width", "precision"}) {
    if (c.op().attr_int(name) > kMaxWidth) {
      invalid_argument("Attr '", name, "' of AsString is ", c.op().attr_int(name), ", more than ",
                       kMaxWidth, ".");
    }
  }
  unchanged_shape(c);
}

std::string as_string_format(const Operation& op) {
  const DType dtype = op.attr_type("T");
  std::string format = "%" + op.attr<std::string>("fill");
  if (op.attr_int("width") >= 0) format += str_cat(op.attr_int("width"));
  if (!is_floating(dtype)) return format + PRId64;
  if (op.attr_int("precision") >= 0) format += str_cat(".", op.attr_int("precision"));
  return format + (op.attr_bool("scientific") ? "e" : op.attr_bool("shortest") ? "g" : "f");
}

class AsStringKernel : public Kernel {
 public:
  void compute(KernelContext& c) override {
    const Tensor& x = c.input(0);
    if (format_.empty()) format_ = as_string_format(c.op());
    Tensor& out = c.output(0);
    out.set_dictionary(dictionary_.for_elements(x.num_elements()));
    for (int64_t i = 0; i < x.num_elements(); ++i) {
      out.data<int32_t>()[i] = out.dictionary()->code(text(x, i));
    }
  }

 private:
  std::string text(const Tensor& x, int64_t i) const {
    if (x.dtype() == DType::kBool) return x.data<bool>()[i] ? "true" : "false";
    if (is_floating(x.dtype())) return print(x.number_at(i));
    return print(x.dtype() == DType::kInt32 ? x.data<int32_t>()[i] : x.data<int64_t>()[i]);
  }
  template <typename Number>
  std::string print(Number number) const {
    return format_text(format_.c_str(), number);
  }
  std::string format_;
  OutputDictionary dictionary_;
};

double parse_number(const std::string& text, DType dtype) {
  char* end = nullptr;
  const double value = is_floating(dtype)
                           ? read_double(text.c_str(), &end)
                           : static_cast<double>(std::strtoll(text.c_str(), &end, 10));
  while (*end == ' ') ++end;
  if (text.empty() || *end != '\0') {
    invalid_argument("StringToNumberOp could not correctly convert string: '", text, "'.");
  }
  return value;
}

class StringToNumberKernel : public Kernel {
 public:
  void compute(KernelContext& c) override {
    const Tensor& x = c.input(0);
    Tensor& out = c.output(0);
    const DType dtype = out.dtype();
    for (int64_t i = 0; i < x.num_elements(); ++i) {
      const std::string& text = x.string_at(i);
      const double value = parse_number(text, dtype);
      if (dtype == DType::kFloat32) out.data<float>()[i] = static_cast<float>(value);
      if (dtype == DType::kFloat64) out.data<double>()[i] = value;
      if (dtype == DType::kInt32) out.data<int32_t>()[i] = static_cast<int32_t>(value);
      if (dtype == DType::kInt64) {
        out.data<int64_t>()[i] = std::strtoll(text.c_str(), nullptr, 10);
      }
    }
  }
};

}  // namespace

RUNHOOKS_REGISTER_OP("AsString")
    .input("input: T")
    .output("output: string")
    .attr("T: {int32, int64, float, double, bool}")
    .attr("precision: int = -1")
    .attr("scientific: bool = false")
    .attr("shortest: bool = false")
    .attr("width: int = -1")
    .attr("fill: string = ''")
    .shape(as_string_shape)
    .kernel(kernel_of<AsStringKernel>())
    .not_differentiable()
    .endpoint("as_string")
    .endpoint("strings.as_string")
    .summary("Converts numbers to strings.")
    .example("f[2,3]")
    .example("b[2]");

RUNHOOKS_REGISTER_OP("StringToNumber")
    .input("string_tensor: string")
    .output("output: out_type")
    .attr("out_type: {float, double, int32, int64} = DT_FLOAT")
    .shape(unchanged_shape)
    .kernel(kernel_of<StringToNumberKernel>())
    .not_differentiable()
    .r("string_to_number, strings.to_number(string_tensor = NULL, out_type = 'float32', "
       "name = NULL, input as string_tensor = NULL)")
    .summary("Converts strings to numbers.")
    .example("s{1,2.5,-3e2}")
    .example("s{1,2} | out_type=int64");

}  // namespace runhooks
