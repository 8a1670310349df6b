#include "graph/op_registry.h"

namespace runhooks {

namespace {

std::string value_text(const Tensor& x, int64_t i) {
  if (x.dtype() == DType::kString) return str_cat("\"", x.string_at(i), "\"");
  return str_cat(x.number_at(i));
}

// Describes the first element of `values` for which `condition` is false. Returns "" if `condition`
// is not a bool tensor of the same shape, so does not refer to single values.
std::string first_failure(const Tensor& values, const Tensor& condition) {
  if (condition.dtype() != DType::kBool || condition.shape() != values.shape()) return "";
  const int64_t rows = values.shape().rank() > 0 ? values.shape().dim(0) : 1;
  for (int64_t i = 0; i < condition.num_elements(); ++i) {
    if (condition.data<bool>()[i]) continue;
    const int64_t row = i / std::max<int64_t>(1, values.num_elements() / rows);
    return str_cat(" Got ", value_text(values, i), " in row ", row + 1, " of the batch.");
  }
  return "";
}

// Fails with a message that contains the data inputs if the condition is false. If the last two
// data inputs are values and an elementwise condition on them, the message contains the first value
// that fails and its row instead of these two.
class AssertKernel : public Kernel {
 public:
  void compute(KernelContext& c) override {
    const Tensor& condition = c.input(0);
    if (condition.num_elements() != 1) {
      invalid_argument("A condition must be a scalar; got shape ", condition.shape(), ".");
    }
    if (*condition.data<bool>()) return;
    std::string text, failure;
    const int last = c.num_inputs() - 1;
    if (last >= 2) failure = first_failure(c.input(last - 1), c.input(last));
    for (int i = 1; i <= (failure.empty() ? last : last - 2); ++i) text += summarize(c.input(i));
    throw Error(Code::kInvalidArgument, "assertion failed:" + text + failure);
  }

 private:
  static std::string summarize(const Tensor& x) {
    if (x.dtype() == DType::kString && x.num_elements() == 1) return " " + x.string_at(0);
    constexpr int64_t kMaxElements = 3;
    std::string text = " [";
    for (int64_t i = 0; i < std::min(x.num_elements(), kMaxElements); ++i) {
      text += (i ? " " : "") + value_text(x, i);
    }
    return text + (x.num_elements() > kMaxElements ? "...]" : "]");
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
