// Writes Chrome's trace event format in the layout of TensorFlow's timelines.
#include <algorithm>
#include <cstdio>
#include <map>

#include "base/number_text.h"
#include "base/status.h"
#include "io/events/step_stats.h"

namespace runhooks {

namespace {

enum TraceProcess { kAllocators, kCompute, kTensors, kInput };

// Input operations get a separate row, which shows how their waiting overlaps with computation.
TraceProcess process_of(const NodeStats& node) { return node.is_input ? kInput : kCompute; }

std::string json_text(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    const auto code = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (code < 0x20) {
      out += format_text("\\u%04x", code);
    } else {
      out += c;
    }
  }
  return out + "\"";
}

std::string microseconds_text(int64_t ns) {
  return format_text("%.3f", static_cast<double>(ns) / 1000);
}

std::string producer_of(const std::string& input) {
  const std::string name = input.substr(input[0] == '^' ? 1 : 0);
  return name.substr(0, name.find(':'));
}

class TraceWriter {
 public:
  explicit TraceWriter(const StepStats& stats) : stats_(stats) {
    for (size_t i = 0; i < stats.nodes.size(); ++i) node_index_[stats.nodes[i].name] = i;
  }

  void add_process(TraceProcess pid, const std::string& name) {
    begin_event("process_name", "M", pid);
    out_ += str_cat(", \"args\": {\"name\": ", json_text(name), "}}");
  }
  void add_spans() {
    for (const NodeStats& node : stats_.nodes) {
      begin_event(node.op, "X", process_of(node), "Op", node.start_ns);
      out_ += str_cat(", \"dur\": ", microseconds_text(node.end_ns - node.start_ns),
                      ", \"args\": {\"name\": ", json_text(node.name),
                      ", \"op\": ", json_text(node.op));
      for (size_t i = 0; i < node.inputs.size(); ++i) {
        out_ += str_cat(", \"input", i, "\": ", json_text(node.inputs[i]));
      }
      out_ += "}}";
    }
  }
  void add_dataflow() {
    int64_t id = 0;
    for (const NodeStats& node : stats_.nodes) {
      for (const std::string& input : node.inputs) {
        const auto position = node_index_.find(producer_of(input));
        if (input[0] == '^' || position == node_index_.end()) continue;
        const NodeStats& source = stats_.nodes[position->second];
        begin_event(source.name, "s", process_of(source), "DataFlow", source.end_ns);
        out_ += str_cat(", \"id\": ", id, "}");
        begin_event(source.name, "t", process_of(node), "DataFlow", node.start_ns);
        out_ += str_cat(", \"id\": ", id++, "}");
      }
    }
  }
  // A tensor is alive from its computation to its last use.
  void add_memory() {
    std::vector<int64_t> last_use;
    for (const NodeStats& node : stats_.nodes) last_use.push_back(node.end_ns);
    for (const NodeStats& node : stats_.nodes) {
      for (const std::string& input : node.inputs) {
        const auto position = node_index_.find(producer_of(input));
        if (position == node_index_.end() || input[0] == '^') continue;
        last_use[position->second] = std::max(last_use[position->second], node.end_ns);
      }
    }
    std::multimap<int64_t, int64_t> changes;
    for (size_t i = 0; i < stats_.nodes.size(); ++i) {
      const NodeStats& node = stats_.nodes[i];
      int64_t bytes = 0;
      for (const NodeStats::Output& output : node.outputs) bytes += output.bytes;
      if (bytes == 0) continue;
      add_tensor(node, static_cast<int64_t>(i), last_use[i]);
      changes.emplace(node.start_ns, bytes);
      changes.emplace(last_use[i], -bytes);
    }
    int64_t allocated = 0;
    for (const auto& change : changes) {
      allocated += change.second;
      begin_event("cpu", "C", kAllocators, "Memory", change.first);
      out_ += str_cat(", \"args\": {\"cpu\": ", allocated, "}}");
    }
  }
  std::string finish() { return "{\n\"traceEvents\": [" + out_ + "\n]\n}\n"; }

 private:
  void add_tensor(const NodeStats& node, int64_t id, int64_t last_use) {
    begin_event(node.name, "N", kTensors, "Tensor", node.start_ns);
    out_ += str_cat(", \"id\": ", id, "}");
    std::string description;
    for (const NodeStats::Output& output : node.outputs) {
      description +=
          str_cat(description.empty() ? "" : ", ", dtype_name(output.dtype), output.shape);
    }
    begin_event(node.name, "O", kTensors, "Tensor", node.end_ns);
    out_ += str_cat(", \"id\": ", id,
                    ", \"args\": {\"snapshot\": {\"tensor_description\": ", json_text(description),
                    "}}}");
    begin_event(node.name, "D", kTensors, "Tensor", last_use);
    out_ += str_cat(", \"id\": ", id, "}");
  }
  void begin_event(const std::string& name, const char* phase, TraceProcess pid) {
    out_ += str_cat(out_.empty() ? "\n" : ",\n", "{\"name\": ", json_text(name), ", \"ph\": \"",
                    phase, "\", \"pid\": ", static_cast<int>(pid));
  }
  void begin_event(const std::string& name,
                   const char* phase,
                   TraceProcess pid,
                   const char* category,
                   int64_t ns) {
    begin_event(name, phase, pid);
    out_ += str_cat(", \"tid\": 0, \"cat\": \"", category, "\", \"ts\": ", microseconds_text(ns));
  }

  const StepStats& stats_;
  std::map<std::string, size_t> node_index_;
  std::string out_;
};

}  // namespace

std::string chrome_trace(const StepStats& stats, bool show_dataflow, bool show_memory) {
  TraceWriter trace(stats);
  trace.add_process(kAllocators, "Allocators");
  trace.add_process(kCompute, std::string(StepStats::kDevice) + " Compute");
  trace.add_process(kTensors, std::string(StepStats::kDevice) + " Tensors");
  const bool has_input = std::any_of(stats.nodes.begin(), stats.nodes.end(),
                                     [](const NodeStats& node) { return node.is_input; });
  if (has_input) trace.add_process(kInput, "Input");
  trace.add_spans();
  if (show_dataflow) trace.add_dataflow();
  if (show_memory) trace.add_memory();
  return trace.finish();
}

}  // namespace runhooks
