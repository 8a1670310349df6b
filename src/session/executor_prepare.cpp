// Prepares nodes: shapes, buffers, and values that persist across runs.
#include "graph/op_check.h"
#include "session/executor.h"

namespace runhooks {

namespace {

bool holds_tensor(DType dtype) { return dtype_size(dtype) > 0; }

std::vector<Shape> output_shapes(KernelContext& context) {
  std::vector<Shape> shapes;
  for (int i = 0; i < context.num_outputs(); ++i) shapes.push_back(context.output(i).shape());
  return shapes;
}

}  // namespace

void Executor::prepare(Step& step) {
  NodeItem& item = *step.item;
  const bool is_invariant = step.node->is_invariant;
  try {
    const bool is_first =
        item.prepared_inputs == NodeItem::kNeverPrepared || !step.node->entry->holds_invariant;
    const uint64_t version = item.context.input_version();
    item.prepared_inputs = NodeItem::kNeverPrepared;  // until preparation succeeds
    check_inputs_available(item.context);
    std::vector<Shape> shapes;
    if (is_invariant) shapes = output_shapes(item.context);
    item.values_read = infer_outputs(item);
    if (item.kernel) {
      item.kernel->prepare(item.context);
      item.values_read.insert(item.context.prepare_inputs());
    }
    if (!item.values_read.is_subset_of(step.node->invariant_inputs)) step.always_prepare = true;
    // After a change of shape the buffer is new, so it has no old content to compare with.
    if (is_invariant) compute_invariant(item, is_first || shapes != output_shapes(item.context));
    if (is_invariant && !step.node->entry->holds_invariant) {
      plan_.table().num_new_invariants.fetch_add(1, std::memory_order_relaxed);
    }
    step.node->entry->holds_invariant = is_invariant;
    item.prepared_inputs = version;
    item.prepared_outputs = item.context.output_version();
  } catch (...) {
    rethrow_for_op(item.op);
  }
}

// Runs the op's shape function, which validates the shapes, and allocates the outputs. Returns the
// inputs whose values it has read.
InputSet Executor::infer_outputs(NodeItem& item) {
  const OpDef& def = item.op.def();
  KernelContext& context = item.context;
  std::vector<Shape> shapes;
  std::vector<const Tensor*> values;
  for (int i = 0; i < context.num_inputs(); ++i) {
    const Tensor& input = context.input(i);
    const bool has_shape = input.is_valid() || !holds_tensor(item.op.input(i).dtype());
    shapes.push_back(has_shape ? input.shape() : Shape::unknown());
    // The shape function of an op may read input values, except if the op allocates its outputs.
    values.push_back(input.is_valid() && !def.allocates_outputs ? &input : nullptr);
  }
  ShapeContext shape_context(item.op, std::move(shapes), std::move(values), context.num_outputs());
  infer_shapes(shape_context);
  if (def.allocates_outputs || !def.shape_fn) return InputSet();
  if (context.num_outputs() > 0) context.inferred_shape = shape_context.outputs()[0];
  if (def.forwards) {
    context.alias_output(0, context.input(0).reshaped(shape_context.outputs()[0]));
    return shape_context.values_read();
  }
  for (int i = 0; i < context.num_outputs(); ++i) {
    const DType dtype = item.op.output_dtype(i);
    if (!holds_tensor(dtype) || item.op.output_is_ref(i) || def.may_forward) continue;
    context.allocate_output(i, dtype, shape_context.outputs()[static_cast<size_t>(i)]);
  }
  return shape_context.values_read();
}

// Computes the outputs. Consumers may have used the old values in their own preparation, so a
// change must advance the versions of the outputs.
void Executor::compute_invariant(NodeItem& item, bool is_first) {
  KernelContext& context = item.context;
  std::vector<Tensor> old_values;
  for (int i = 0; !is_first && item.kernel && i < context.num_outputs(); ++i) {
    old_values.push_back(context.output(i).copy());
  }
  if (item.kernel) item.kernel->compute(context);
  for (int i = 0; i < context.num_outputs(); ++i) {
    const bool is_unchanged =
        !old_values.empty() && old_values[static_cast<size_t>(i)].equals(context.output(i));
    if (!is_unchanged) context.touch_output(i);
  }
}

}  // namespace runhooks
