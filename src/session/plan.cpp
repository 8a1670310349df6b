#include "session/plan.h"

#include <algorithm>
#include <cstring>

#include "graph/variable.h"

namespace runhooks {

namespace {

bool holds_tensor(DType dtype) { return dtype_size(dtype) > 0; }

[[noreturn]] void fail_uninitialized(const std::string& name) {
  fail(Code::kFailedPrecondition, "Attempting to use uninitialized value ", name, ".");
}

}  // namespace

Plan::Plan(const std::vector<Fetch>& fetches,
           const std::vector<Output>& feeds,
           ResourceManager& resources)
    : resources_(resources), results_(fetches.size()) {
  const std::vector<Operation*> order = ordered_operations(fetches, feeds);
  size_t num_slots = 0;
  for (const Output& feed : feeds) feeds_.emplace_back(feed, num_slots++);
  for (const Operation* op : order) {
    first_slot_[op] = num_slots;
    num_slots += static_cast<size_t>(op->num_outputs());
  }
  slots_.resize(num_slots);
  for (Operation* op : order) add_node(*op);
  for (size_t i = 0; i < fetches.size(); ++i) {
    if (!fetches[i].is_tensor()) continue;
    const Output output(fetches[i].op, fetches[i].index);
    if (const Slot* fed = feed_slot(output)) {
      fed_results_.push_back({fed, i});
      continue;
    }
    for (Node& node : nodes_) {
      if (&node.op == output.op) node.copies.push_back({slot_of(output), i});
    }
  }
  mark_snapshots();
  choose_hot_nodes();
}

Plan::~Plan() = default;

const Slot* Plan::feed_slot(const Output& output) const {
  for (const auto& feed : feeds_) {
    if (feed.first == output) return &slots_[feed.second];
  }
  return nullptr;
}

Slot* Plan::slot_of(const Output& output) {
  if (const Slot* fed = feed_slot(output)) return const_cast<Slot*>(fed);
  return &slots_[first_slot_.at(output.op) + static_cast<size_t>(output.index)];
}

void Plan::add_node(Operation& op) {
  const OpDef& def = op.def();
  std::vector<Slot*> inputs;
  uint64_t layout_inputs = 0;
  for (size_t i = 0; i < op.inputs().size(); ++i) {
    const Output& input = op.inputs()[i];
    inputs.push_back(slot_of(input));
    if (!feed_slot(input) && is_layout_.at(input.op)) layout_inputs |= uint64_t{1} << (i % 64);
  }
  const size_t num_inputs = inputs.size();
  Slot* outputs = op.num_outputs() > 0 ? &slots_[first_slot_.at(&op)] : nullptr;
  nodes_.emplace_back(op, std::move(inputs), outputs, resources_, buffers_);
  Node& node = nodes_.back();
  node.layout_inputs = layout_inputs;
  bool all_layout = true;
  for (size_t i = 0; i < num_inputs; ++i)
    all_layout = all_layout && (layout_inputs >> (i % 64) & 1);
  const bool is_pure = !def.is_stateful && op.num_outputs() > 0;
  node.is_layout = def.shape_dependent || (is_pure && all_layout);
  is_layout_[&op] = node.is_layout;
  if (def.kernel_factory) {
    try {
      node.kernel = def.kernel_factory(op);
    } catch (Error& error) {
      throw error.at_op(op.type(), op.name());
    }
  }
}

// A value read from a variable without a copy that is used after the variable was changed has to be
// a copy.
void Plan::mark_snapshots() {
  for (size_t read = 0; read < nodes_.size(); ++read) {
    Node& reader = nodes_[read];
    if (!reader.op.def().reads_variable) continue;
    const Operation* handle = reader.op.input(0).op;
    std::vector<const Operation*> aliases = {&reader.op};
    bool changed = false;
    for (size_t i = read + 1; i < nodes_.size(); ++i) {
      const Operation& op = nodes_[i].op;
      const bool uses_value =
          std::any_of(op.inputs().begin(), op.inputs().end(), [&aliases](const Output& input) {
            return std::find(aliases.begin(), aliases.end(), input.op) != aliases.end();
          });
      if (uses_value && changed) {
        reader.context.needs_snapshot = true;
        break;
      }
      if (uses_value && (op.def().forwards || op.def().may_forward)) aliases.push_back(&op);
      for (int input : op.def().mutates) changed = changed || op.input(input).op == handle;
    }
  }
}

void Plan::choose_hot_nodes() {
  hot_.clear();
  for (size_t i = 0; i < nodes_.size(); ++i) {
    Node& node = nodes_[i];
    const bool computes = node.kernel && node.kernel->computes() && !node.is_layout;
    node.is_hot = computes || node.always_prepare || !node.copies.empty();
    if (node.is_hot) hot_.push_back(i);
  }
  waves_.reset();
}

void Plan::run(const std::vector<Tensor>& feed_values) {
  const Hold hold(*this);
  try {
    set_feeds(feed_values);
    if (observer_) {
      run_all_from(0);
    } else if (!run_on_threads()) {
      if (layout_changed_) {
        run_all_from(0);
      } else {
        run_hot();
      }
    }
  } catch (...) {
    layout_changed_ = true;
    throw;
  }
  layout_changed_ = false;
}

void Plan::set_feeds(const std::vector<Tensor>& values) {
  for (size_t i = 0; i < feeds_.size(); ++i) {
    const Output& output = feeds_[i].first;
    Slot& slot = slots_[feeds_[i].second];
    const Tensor& value = values[i];
    if (value.dtype() != output.dtype()) {
      invalid_argument("Cannot feed value of type ", dtype_name(value.dtype()), " for Tensor '",
                       output.name(), "', which has type ", dtype_name(output.dtype()), ".");
    }
    if (!output.shape().is_compatible_with(value.shape())) {
      invalid_argument("Cannot feed value of shape ", value.shape(), " for Tensor '", output.name(),
                       "', which has shape '", output.shape(), "'.");
    }
    // Into the buffer at hand where it fits: what was prepared for it stays valid.
    if (slot.tensor.is_valid() && slot.tensor.shape() == value.shape() &&
        value.dtype() != DType::kString) {
      std::memcpy(slot.tensor.raw(), value.raw(), value.num_bytes());
    } else {
      slot.tensor = value.copy();
      ++slot.version;
      layout_changed_ = true;
    }
  }
  for (const ResultCopy& copy : fed_results_) copy_result(copy, "");
}

void Plan::run_hot() {
  for (size_t k = 0; k < hot_.size(); ++k) {
    const size_t position = hot_[k];
    execute(nodes_[position]);
    if (nodes_[position].layout_changed) {
      nodes_[position].layout_changed = false;
      run_all_from(position + 1);
      return;
    }
  }
}

void Plan::run_all_from(size_t first) {
  bool always_prepare_changed = false;
  for (size_t i = first; i < nodes_.size(); ++i) {
    Node& node = nodes_[i];
    always_prepare_changed = prepare_if_needed(node) || always_prepare_changed;
    if (observer_) {
      execute_observed(node);
    } else {
      execute(node);
    }
    node.layout_changed = false;
  }
  if (always_prepare_changed) choose_hot_nodes();
}

// Whether the node turned out to need its preparation in every run.
bool Plan::prepare_if_needed(Node& node) {
  if (node.prepared_version == node.context.input_version()) return false;
  const bool before = node.always_prepare;
  prepare(node);
  return node.always_prepare != before;
}

namespace {

std::vector<Shape> output_shapes(KernelContext& context) {
  std::vector<Shape> shapes;
  for (int i = 0; i < context.num_outputs(); ++i) shapes.push_back(context.output(i).shape());
  return shapes;
}

}  // namespace

void Plan::prepare(Node& node) {
  try {
    const bool is_first = node.prepared_version == kNeverPrepared;
    const uint64_t version = node.context.input_version();
    check_inputs(node);
    std::vector<Shape> shapes;
    if (node.is_layout) shapes = output_shapes(node.context);
    uint64_t values_read = infer_outputs(node);
    if (node.kernel) {
      node.kernel->prepare(node.context);
      values_read |= node.context.parameters_read();
    }
    if (values_read & ~node.layout_inputs) node.always_prepare = true;
    // A buffer of another shape is a new one: there is nothing in it to compare with.
    if (node.is_layout) compute_layout(node, is_first || shapes != output_shapes(node.context));
    node.prepared_version = version;
  } catch (Error& error) {
    throw error.at_op(node.op.type(), node.op.name());
  }
}

void Plan::check_inputs(const Node& node) const {
  const std::vector<ArgDef>& args = node.op.def().inputs;
  for (size_t i = 0; i < node.op.inputs().size(); ++i) {
    const Output& input = node.op.inputs()[i];
    const bool is_reference = i < args.size() && args[i].is_ref;
    if (!is_reference && holds_tensor(input.dtype()) &&
        !node.context.input(static_cast<int>(i)).is_valid()) {
      fail_uninitialized(input.op->name());
    }
  }
}

// Runs the op's shape function on the shapes at hand and gives the outputs their buffers. Returns
// which inputs' values it has read, a bit each.
uint64_t Plan::infer_outputs(Node& node) {
  const OpDef& def = node.op.def();
  if (def.allocates_outputs || !def.shape_fn) return 0;
  KernelContext& context = node.context;
  std::vector<Shape> shapes;
  std::vector<const Tensor*> values;
  for (int i = 0; i < context.num_inputs(); ++i) {
    shapes.push_back(context.input(i).shape());
    values.push_back(&context.input(i));
  }
  ShapeContext shape_context(node.op, std::move(shapes), std::move(values), context.num_outputs());
  def.shape_fn(shape_context);
  if (context.num_outputs() > 0) context.inferred_shape = shape_context.outputs()[0];
  if (def.forwards) {
    context.alias_output(0, context.input(0).reshaped(shape_context.outputs()[0]));
    return shape_context.values_read();
  }
  for (int i = 0; i < context.num_outputs(); ++i) {
    const DType dtype = node.op.output_dtype(i);
    if (!holds_tensor(dtype) || node.op.output_is_ref(i) || def.may_forward) continue;
    context.allocate_output(i, dtype, shape_context.outputs()[static_cast<size_t>(i)]);
  }
  return shape_context.values_read();
}

// Downstream preparations have taken in the values: they are told when these are others than
// before.
void Plan::compute_layout(Node& node, bool is_first) {
  KernelContext& context = node.context;
  std::vector<Tensor> before;
  for (int i = 0; !is_first && node.kernel && i < context.num_outputs(); ++i) {
    before.push_back(context.output(i).copy());
  }
  if (node.kernel) node.kernel->compute(context);
  for (int i = 0; i < context.num_outputs(); ++i) {
    const bool is_same =
        !before.empty() && before[static_cast<size_t>(i)].equals(context.output(i));
    if (!is_same) context.touch_output(i);
  }
}

void Plan::execute(Node& node) {
  if (node.always_prepare) prepare(node);
  if (node.kernel && !node.is_layout) {
    try {
      node.kernel->compute(node.context);
    } catch (Error& error) {
      throw error.at_op(node.op.type(), node.op.name());
    }
  }
  for (const ResultCopy& copy : node.copies) copy_result(copy, node.op.name());
}

void Plan::copy_result(const ResultCopy& copy, const std::string& name) {
  const Tensor* value = &copy.source->tensor;
  if (!value->is_valid()) {
    // The handle of a variable stands for its value.
    auto* state = dynamic_cast<VariableState*>(copy.source->resource);
    if (!state || !state->is_initialized()) fail_uninitialized(name);
    value = &state->value();
  }
  Tensor& result = results_[copy.result];
  if (result.dtype() != value->dtype() || result.shape() != value->shape() ||
      result.buffer_is_shared()) {
    result = value->copy();
    return;
  }
  std::memcpy(result.raw(), value->raw(), value->num_bytes());
  if (value->dtype() == DType::kString) result.set_dictionary(value->dictionary());
}

}  // namespace runhooks
