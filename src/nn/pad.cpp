#include <algorithm>

#include "base/ascii.h"
#include "graph/graph_function.h"

namespace runhooks {

namespace {

bool is_zero(const Value* value) {
  double number;
  return !value || (value_number(*value, &number) && number == 0);
}

Value call_pad(Graph& g, const Args& args) {
  const Output x = tensor_argument(g, args, "tensor");
  const Output paddings = tensor_argument(g, args, "paddings", DType::kInt32);
  const Value* constant = args.find("constant_values");
  const std::string mode_argument = args.text("mode", "CONSTANT"), name = args.text("name", "");
  const std::string mode = ascii_upper(mode_argument);
  const auto add_op = [&name](OpBuilder builder) {
    if (!name.empty()) builder.named(name);
    return Value::of(builder);
  };
  if (mode == "CONSTANT" && is_zero(constant)) return add_op(g.op("Pad", {x, paddings}));
  if (mode == "CONSTANT") {
    const auto* text = constant->get_if<std::string>();
    const Output value = text ? g.constant(Tensor::string_scalar(*text))
                              : tensor_of_value(g, *constant, "constant_values", x.dtype());
    return add_op(g.op("PadV2", {x, paddings, value}));
  }
  if (mode != "REFLECT" && mode != "SYMMETRIC") {
    invalid_argument("`mode` of ", args.owner(),
                     " must be \"CONSTANT\", \"REFLECT\" or \"SYMMETRIC\", not \"", mode_argument,
                     "\".");
  }
  if (!is_zero(constant)) {
    invalid_argument("`constant_values` of ", args.owner(), " belongs to `mode = \"CONSTANT\"`.");
  }
  return add_op(g.op("MirrorPad", {x, paddings}).attr("mode", mode));
}

}  // namespace

RUNHOOKS_REGISTER_FUNCTION(
    "pad(tensor, paddings, mode = 'CONSTANT', name = NULL, constant_values = 0)",
    "Pads a tensor with a constant or with its reflection.",
    call_pad);

}  // namespace runhooks
