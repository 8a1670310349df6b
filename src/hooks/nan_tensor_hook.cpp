// Stops training if the loss is NaN (tf.train.NanTensorHook).
#include <cmath>

#include "base/log.h"
#include "graph/endpoints.h"
#include "hooks/hook_registry.h"
#include "hooks/value_format.h"

namespace runhooks {

namespace {

bool has_nan(const Tensor& tensor, bool or_infinite) {
  for (int64_t i = 0; i < tensor.num_elements(); ++i) {
    const double x = tensor.number_at(i);
    if (std::isnan(x) || (or_infinite && std::isinf(x))) return true;
  }
  return false;
}

class NanTensorHook : public RunHook {
 public:
  explicit NanTensorHook(const Args& args)
      : args_(args),
        throws_(args.flag("fail_on_nan_loss", true)),
        checks_infinite_(args.flag("with_infinite", false)) {}
  std::string name() const override { return "NanTensorHook"; }

  void begin(Graph& graph) override {
    const Output loss = tensor_argument(graph, *args_.find("loss_tensor"));
    is_floating_ = is_floating(loss.dtype());
    run_args_.fetches = {loss};
    run_args_.changed();
  }
  const RunArgs* before_run(RunContext&) override { return &run_args_; }
  void after_run(RunContext& context, const RunValues& values) override {
    if (!is_floating_ || !has_nan(values.result(0), checks_infinite_)) return;
    if (throws_) {
      log(LogLevel::kError, "Model diverged with loss = NaN.");
      throw Error(Code::kNanLoss, "NaN loss during training.",
                  hints_for(context.session(), !has_nan(values.result(0), false)));
    }
    warn("nan_loss", "Model diverged with loss = NaN.");
    context.request_stop();
  }

 private:
  static std::vector<std::string> hints_for(Session& session, bool is_infinite) {
    std::vector<std::string> hints;
    if (is_infinite) hints.push_back("The loss is infinite.");
    std::string rate = "Try a lower learning rate";
    const EndpointTensors& rates = endpoint(session.graph(), "learning_rate");
    if (!rates.empty() && rates.front().second.op->def().is_constant) {
      const double current_rate = session.run(rates.front().second).number_at(0);
      rate += str_cat(" than ", short_number(current_rate), ", for example ",
                      short_number(current_rate / 10));
    }
    hints.push_back(rate + ".");
    hints.push_back(
        "Features with large or very different scales can cause this: rescale them, for example "
        "with column_numeric(normalizer_fn =) or scale().");
    hints.push_back(
        "By default, the loss of a canned model is the sum over the batch. With "
        "`loss_reduction = \"mean\"`, the step size does not depend on the batch size.");
    return hints;
  }

  Args args_;
  bool throws_;
  bool checks_infinite_;
  bool is_floating_ = true;
  RunArgs run_args_;
};

}  // namespace

RUNHOOKS_REGISTER_HOOK(
    NanTensorHook,
    "hook_nan_tensor, train.NanTensorHook",
    {"loss_tensor: tensor. The loss: a tensor or the name of one "
     "(`\"linear/head/weighted_loss/Sum:0\"`).",
     "fail_on_nan_loss = TRUE: flag. Throw an error? If `FALSE`, log a warning and stop the loop.",
     "with_infinite = FALSE: flag"});

}  // namespace runhooks
