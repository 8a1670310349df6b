// Watches the loss for NaN (tf.train.NanTensorHook).
#include <cmath>

#include "hooks/hook_registry.h"
#include "base/log.h"

namespace runhooks {

namespace {

bool is_odd(const Tensor& tensor, bool with_infinite) {
  for (int64_t i = 0; i < tensor.num_elements(); ++i) {
    const double x = tensor.number_at(i);
    if (std::isnan(x) || (with_infinite && std::isinf(x))) return true;
  }
  return false;
}

class NanTensorHook : public RunHook {
 public:
  explicit NanTensorHook(const Args& args)
      : args_(args),
        fails_(args.flag("fail_on_nan_loss", true)),
        with_infinite_(args.flag("with_infinite", false)) {
    if (!args.has("loss_tensor")) {
      invalid_argument("`loss_tensor` of ", args.owner(),
                       " must be a tensor or the name of one, not NULL.");
    }
  }
  std::string name() const override { return "NanTensorHook"; }

  void begin(Graph& graph) override {
    const Output loss = tensor_argument(graph, *args_.find("loss_tensor"));
    is_floating_ = is_floating(loss.dtype());
    run_args_.fetches = {loss};
    run_args_.changed();
  }
  const RunArgs* before_run(RunContext&) override { return &run_args_; }
  void after_run(RunContext& context, const RunValues& values) override {
    if (!is_floating_ || !is_odd(values.result(0), with_infinite_)) return;
    if (fails_) {
      log(LogLevel::kError, "Model diverged with loss = NaN.");
      std::vector<std::string> hints;
      if (!is_odd(values.result(0), false)) hints = {"The loss is infinite."};
      throw Error(Code::kNanLoss, "NaN loss during training.", hints);
    }
    warn("nan_loss", "Model diverged with loss = NaN.");
    context.request_stop();
  }

 private:
  Args args_;
  bool fails_;
  bool with_infinite_;
  bool is_floating_ = true;
  RunArgs run_args_;
};

}  // namespace

RUNHOOKS_REGISTER_HOOK(NanTensorHook);

}  // namespace runhooks
