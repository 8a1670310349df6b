#include "graph/op_registry.h"

namespace runhooks {

namespace {

std::string value_text(const Tensor& x, int64_t i) {
  if (x.dtype() == DType::kString) return str_cat("\"", x.string_at(i), "\"");
  return str_cat(x.number_at(i));
}

// "" if the last two data, `values` and `holds`, do not have equal shapes.
std::string first_failure(const Tensor& values, const Tensor& holds) {
  if (holds.dtype() != DType::kBool || holds.shape() != values.shape()) return "";
  const int64_t rows = values.shape().rank() > 0 ? values.shape().dim(0) : 1;
  for (int64_t i = 0; i < holds.num_elements(); ++i) {
    if (holds.data<bool>()[i]) continue;
    const int64_t row = i / std::max<int64_t>(1, values.num_elements() / rows);
    return str_cat(" Got ", value_text(values, i), " in row ", row + 1, " of the batch.");
  }
  return "";
}

// TensorFlow's Assert prints its data. If the last two are values and an elementwise condition, the
// message names the first failing value and its row.
class AssertKernel : public Kernel {
 public:
  void compute(KernelContext& c) override {
    const Tensor& condition = c.input(0);
    if (condition.num_elements() != 1) {
      invalid_argument("A condition must be a scalar; got shape ", condition.shape(), ".");
    }
    if (*condition.data<bool>()) return;
    std::string text, place;
    const int last = c.num_inputs() - 1;
    if (last >= 2) place = first_failure(c.input(last - 1), c.input(last));
    for (int i = 1; i <= (place.empty() ? last : last - 2); ++i) text += shown(c.input(i));
    throw Error(Code::kInvalidArgument, "assertion failed:" + text + place);
  }

 private:
  static std::string shown(const Tensor& x) {
    if (x.dtype() == DType::kString && x.num_elements() == 1) return " " + x.string_at(0);
    constexpr int64_t kMaxShown = 3;
    std::string text = " [";
    for (int64_t i = 0; i < std::min(x.num_elements(), kMaxShown); ++i) {
      text += (i ? " " : "") + value_text(x, i);
    }
    return text + (x.num_elements() > kMaxShown ? "...]" : "]");
  }
};

}  // namespace

RUNHOOKS_REGISTER_OP("Assert")
    .input("condition: bool")
    .input("data: T")
    .attr("T: list(type)")
    .attr("summarize: int = 3")
    .shape(no_outputs)
    .kernel(kernel_of<AssertKernel>())
    .stateful()
    .order_insensitive()
    .not_differentiable()
    .r("debugging.Assert, Assert(condition, data, summarize = NULL, name = NULL)")
    .summary("Stops with an error that shows `data` if the condition is FALSE.");

}  // namespace runhooks
