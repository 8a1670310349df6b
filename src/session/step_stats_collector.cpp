#include "session/step_stats_collector.h"

#include "graph/op_registry.h"
#include "graph/operation.h"

namespace runhooks {

namespace {

std::vector<std::string> input_names(const Operation& op) {
  std::vector<std::string> names;
  for (const Output& input : op.inputs()) {
    names.push_back(input.index == 0 ? input.op->name() : input.name());
  }
  for (const Operation* control : op.control_inputs()) names.push_back("^" + control->name());
  return names;
}

}  // namespace

void StepStatsCollector::check_time() const {
  if (timeout_in_ms_ > 0 && elapsed_ns() > timeout_in_ms_ * 1000000) {
    fail(Code::kDeadlineExceeded, "Timed out: the run has taken more than its timeout_in_ms of ",
         timeout_in_ms_, ".");
  }
}

void StepStatsCollector::record(const Operation& op, KernelContext& context, int64_t start_ns) {
  if (!stats_) return;
  NodeStats stats;
  stats.name = op.name();
  stats.op = op.type();
  const auto& arguments = op.def().inputs;
  stats.is_input = !arguments.empty() && arguments[0].handle_of == "iterator";
  stats.inputs = input_names(op);
  stats.start_ns = start_ns;
  stats.end_ns = elapsed_ns();
  for (int i = 0; i < context.num_outputs(); ++i) {
    const Tensor& value = context.output(i);
    if (!value.is_valid()) continue;
    stats.outputs.push_back(
        {i, value.dtype(), value.shape(), static_cast<int64_t>(value.num_bytes())});
  }
  stats_->nodes.push_back(std::move(stats));
}

}  // namespace runhooks
