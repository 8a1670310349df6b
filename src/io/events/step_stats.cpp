#include "io/events/step_stats.h"

#include "io/proto/tensor_proto.h"
#include "io/proto/wire.h"

namespace runhooks {

namespace {

WireWriter output_message(const NodeStats::Output& output) {
  WireWriter allocation, description, message;
  allocation.add_int(1, output.bytes).add_int(2, output.bytes).add_bytes(3, "cpu");
  description.add_int(1, static_cast<int>(output.dtype));
  put_shape(description, 2, output.shape);
  description.put_message(4, allocation);
  return message.add_int(1, output.slot).put_message(3, description);
}

std::string timeline_label(const NodeStats& node) {
  std::string text = node.name + " = " + node.op + "(";
  for (size_t i = 0; i < node.inputs.size(); ++i) text += (i ? ", " : "") + node.inputs[i];
  return text + ")";
}

WireWriter node_message(const NodeStats& node, int64_t start_ns) {
  const int64_t start_since_1970 = start_ns + node.start_ns;
  const int64_t duration = node.end_ns - node.start_ns;
  WireWriter message;
  message.add_bytes(1, node.name).add_int(2, start_since_1970 / 1000);
  message.add_int(4, duration / 1000).add_int(5, duration / 1000);
  for (const NodeStats::Output& output : node.outputs) {
    message.put_message(7, output_message(output));
  }
  message.add_bytes(8, timeline_label(node)).add_int(9, start_since_1970 / 1000);
  message.add_int(13, start_since_1970).add_int(15, duration).add_int(16, duration);
  return message.add_int(17, start_since_1970);
}

}  // namespace

std::string write_run_metadata(const StepStats& stats) {
  const auto start_ns = static_cast<int64_t>(stats.start_seconds * 1e9);
  WireWriter device, step_stats, metadata;
  device.add_bytes(1, StepStats::kDevice);
  for (const NodeStats& node : stats.nodes) device.put_message(2, node_message(node, start_ns));
  step_stats.put_message(1, device);
  return metadata.put_message(1, step_stats).take();
}

}  // namespace runhooks
