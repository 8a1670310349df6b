// tf.cond: an If op that runs one of two functions. Its gradient is another If op, which runs the
// gradient of the same function. The intermediate values that the gradient needs become additional
// outputs of the forward op.
#include <algorithm>

#include "autodiff/gradients.h"
#include "control/control_flow.h"
#include "control/functions.h"
#include "tensor/generalize_shapes.h"

namespace runhooks {

namespace {

constexpr const char* kBranches[] = {"then_branch", "else_branch"};

bool is_true(const Tensor& x) {
  if (x.num_elements() != 1) return x.num_elements() > 0;
  if (x.dtype() == DType::kString) return !x.string_at(0).empty();
  return x.number_at(0) != 0;
}

// Whether an output may alias a reference variable that the op writes.
bool may_output_written_input(const Operation& op) {
  const std::vector<int>& written_inputs = op.def().mutates;
  return std::any_of(written_inputs.begin(), written_inputs.end(),
                     [&](int i) { return op.input(i).dtype() != DType::kResource; });
}

// TRUE if only the op that computes `x` can write to its buffer. FALSE for the buffers of
// variables, arguments and constants.
bool has_own_buffer(const Output& x) {
  const Operation* op = x.op;
  while (op->def().forwards || op->def().may_forward || op->def().is_identity) {
    op = op->input(0).op;
  }
  const OpDef& def = op->def();
  return !op->inputs().empty() && !def.reads_variable && !def.holds_variable &&
         !may_output_written_input(*op);
}

class IfKernel : public Kernel {
 public:
  void compute(KernelContext& c) override {
    const int branch = is_true(c.input(0)) ? 0 : 1;
    if (!runners_[branch]) make_runner(c, branch);
    arguments_.clear();
    for (int i = 1; i < c.num_inputs(); ++i) arguments_.push_back(&c.input(i));
    runners_[branch]->run(arguments_);
    for (int i = 0; i < c.num_outputs(); ++i) {
      set_output_value(c, i, runners_[branch]->result(static_cast<size_t>(i)));
    }
  }

 private:
  void make_runner(KernelContext& c, int branch) {
    const FuncGraph& function = function_attr(c.op(), kBranches[branch]);
    std::vector<Output> fetches = function.results;
    fetches.resize(static_cast<size_t>(c.num_outputs()));
    std::vector<bool> is_shared(function.arguments().size(), !changes_variables(function));
    for (size_t i = 0; i < is_shared.size() && i + 1 < c.op().inputs().size(); ++i) {
      is_shared[i] = is_shared[i] || has_own_buffer(c.op().inputs()[i + 1]);
    }
    runners_[branch] =
        std::make_unique<FunctionRunner>(function, fetches, is_shared, c.resources());
  }
  std::unique_ptr<FunctionRunner> runners_[2];
  std::vector<const Tensor*> arguments_;
};

void if_shape(ShapeContext& c) {
  const auto& then_results = function_attr(c.op(), kBranches[0]).results;
  const auto& else_results = function_attr(c.op(), kBranches[1]).results;
  for (size_t i = 0; i < c.outputs().size(); ++i) {
    c.set_output(static_cast<int>(i),
                 generalize_shapes(then_results[i].shape(), else_results[i].shape()));
  }
}

// Returns a placeholder for a result that only the other branch computes. Its value is never read,
// but its shape must match that of `result`.
Output dummy_result(FuncGraph& function, const Output& result) {
  const ControlDependencies no_dependencies(function, {}, true);
  const NameScope scope(function, function.scope());
  if (result.dtype() == DType::kVariant) {
    return empty_list(function, DType::kFloat32, Shape::unknown());
  }
  const Output zero = function.constant(Tensor::zeros(result.dtype(), Shape()), "zeros");
  const Shape& shape = result.shape();
  if (!shape.has_rank() || shape.rank() == 0) return zero;
  Tensor dims(DType::kInt64, {shape.rank()});
  for (int d = 0; d < shape.rank(); ++d) {
    dims.data<int64_t>()[d] = std::max<int64_t>(shape.dim(d), 0);
  }
  return function.op("Fill", {function.constant(dims, "shape"), zero});
}

Output forward_value(Operation& op, int branch, const Output& x) {
  FuncGraph& function = function_attr(op, kBranches[branch]);
  const int argument = argument_index(function, x);
  if (argument >= 0) return op.input(argument + 1);
  for (size_t i = 0; i < function.results.size(); ++i) {
    if (function.results[i] == x) return op.output(static_cast<int>(i));
  }
  FuncGraph& other = function_attr(op, kBranches[1 - branch]);
  function.results.push_back(x);
  other.results.push_back(dummy_result(other, x));
  op.graph().extend(op, {},
                    {{x.dtype(), generalize_shapes(x.shape(), other.results.back().shape())}});
  return op.output(op.num_outputs() - 1);
}

struct BranchGradient {
  std::shared_ptr<FuncGraph> function;
  std::vector<Gradient> of_arguments;
};

BranchGradient branch_gradient(Graph& graph,
                               Operation& op,
                               int branch,
                               const std::vector<Output>& dy,
                               const std::string& scope) {
  const FuncGraph& forward = function_attr(op, kBranches[branch]);
  BranchGradient gradient;
  gradient.function = std::make_shared<FuncGraph>(graph, scope, str_cat("grad_", branch));
  gradient.function->set_forward_graph(
      forward, [&op, branch](const Output& x) { return forward_value(op, branch, x); });
  std::vector<Output> ys, grad_ys, xs;
  for (size_t i = 0; i < dy.size(); ++i) {
    const Output& y = forward.results[i];
    // A constant has no gradient, and dummy_result() may have given it another shape.
    const bool is_constant = y.op->inputs().empty() && argument_index(forward, y) < 0;
    if (!dy[i] || is_constant) continue;
    ys.push_back(y);
    grad_ys.push_back(dy[i]);
  }
  std::vector<size_t> indices;
  for (size_t i = 0; i < forward.arguments().size(); ++i) {
    if (!may_have_gradient(forward.arguments()[i])) continue;
    indices.push_back(i);
    xs.push_back(forward.argument(i));
  }
  gradient.of_arguments.resize(forward.arguments().size());
  if (ys.empty()) return gradient;
  const std::vector<Gradient> argument_gradients =
      gradients(*gradient.function, ys, xs, grad_ys, {}, "gradients");
  for (size_t i = 0; i < indices.size(); ++i)
    gradient.of_arguments[indices[i]] = argument_gradients[i];
  return gradient;
}

// Returns a sparse gradient (IndexedSlices) of zeros that contains all rows of the argument.
Gradient zero_rows(FuncGraph& function, const FuncGraph::Argument& argument, DType indices) {
  Gradient sparse = zeros_for(function, argument, argument.inside);
  const Output shape = function.op("Shape", {sparse.values}).attr("out_type", indices);
  const Output first =
      function.op("Slice", {shape, function.int_vector({0}), function.int_vector({1})});
  const Output n = function.op("Reshape", {first, function.int_vector({})});
  sparse.indices =
      function.op("Range", {function.scalar(indices, 0), n, function.scalar(indices, 1)});
  return sparse;
}

Gradient cast_indices(FuncGraph& function, Gradient sparse, DType dtype) {
  if (sparse.indices.dtype() != dtype) {
    sparse.indices = function.op("Cast", {sparse.indices}).attr("DstT", dtype);
  }
  return sparse;
}

// Returns the sparse gradient of one branch; `own` and `other` are those of this branch and the
// other one. Like TensorFlow, adds zeros for all rows, the gradient of the branch that did not run.
Gradient sparse_branch_gradient(FuncGraph& function,
                                const FuncGraph::Argument& argument,
                                const Gradient& own,
                                const Gradient& other,
                                DType indices) {
  if (own.is_none()) return zero_rows(function, argument, indices);
  Gradient sparse = cast_indices(function, own, indices);
  if (other.is_none()) return sparse;
  const Gradient zeros = zero_rows(function, argument, indices);
  const Output axis = function.scalar(DType::kInt32, 0);
  sparse.values = function.op("ConcatV2", {zeros.values, sparse.values, axis});
  sparse.indices = function.op("ConcatV2", {zeros.indices, sparse.indices, axis});
  return sparse;
}

bool may_be_sparse(const Gradient& gradient) {
  return gradient.is_none() || gradient.is_indexed_slices();
}

DType index_dtype(const Gradient& a, const Gradient& b) {
  const bool is_wide = (a.is_indexed_slices() && a.indices.dtype() == DType::kInt64) ||
                       (b.is_indexed_slices() && b.indices.dtype() == DType::kInt64);
  return is_wide ? DType::kInt64 : DType::kInt32;
}

void add_branch_gradient(const Operation& op,
                         int branch,
                         size_t i,
                         const BranchGradient (&branches)[2],
                         bool is_sparse) {
  FuncGraph& function = *branches[branch].function;
  const Gradient &own = branches[branch].of_arguments[i],
                 &other = branches[1 - branch].of_arguments[i];
  const auto& argument = function_attr(op, kBranches[branch]).arguments()[i];
  if (!is_sparse) {
    function.results.push_back(function.capture(own.is_none()
                                                    ? zeros_for(function, argument, argument.inside)
                                                    : dense_gradient(function, own)));
    return;
  }
  const Gradient sparse =
      sparse_branch_gradient(function, argument, own, other, index_dtype(own, other));
  function.results.push_back(function.capture(sparse.values));
  function.results.push_back(function.capture(sparse.indices));
}

std::vector<Gradient> if_gradient(Graph& graph, Operation& op, const std::vector<Output>& all_dy) {
  std::vector<Output> dy = all_dy;
  for (Output& d : dy) {
    if (d && !is_floating(d.dtype()) && d.dtype() != DType::kVariant) d = Output();
  }
  const NameScope scope(graph, "cond");
  BranchGradient branches[2];
  for (int branch = 0; branch < 2; ++branch) {
    branches[branch] = branch_gradient(graph, op, branch, dy, scope.name());
  }
  const FuncGraph& forward = function_attr(op, kBranches[0]);
  std::vector<size_t> indices;
  std::vector<bool> is_sparse(forward.arguments().size());
  for (size_t i = 0; i < forward.arguments().size(); ++i) {
    const Gradient &a = branches[0].of_arguments[i], &b = branches[1].of_arguments[i];
    if (a.is_none() && b.is_none()) continue;
    indices.push_back(i);
    is_sparse[i] = may_be_sparse(a) && may_be_sparse(b);
    for (int branch = 0; branch < 2; ++branch) {
      add_branch_gradient(op, branch, i, branches, is_sparse[i]);
    }
  }
  std::vector<Gradient> result(op.inputs().size());
  if (indices.empty()) return result;
  Operation* if_op = add_if(graph, op.input(0), branches[0].function, branches[1].function);
  int output = 0;
  for (const size_t i : indices) {
    Gradient& gradient = result[i + 1];
    gradient = if_op->output(output++);
    if (!is_sparse[i]) continue;
    gradient.indices = if_op->output(output++);
    gradient.dense_shape =
        shape_for(graph, forward.arguments()[i], op.input(static_cast<int>(i) + 1));
  }
  return result;
}

}  // namespace

std::vector<Output> add_cond(Graph& graph,
                             const Output& pred,
                             const FunctionBuilder& true_fn,
                             const FunctionBuilder& false_fn,
                             const std::string& name) {
  if (pred.dtype() != DType::kBool || (pred.shape().has_rank() && pred.shape().rank() > 0)) {
    invalid_argument("The predicate of tf$cond() must be one bool; '", pred.name(), "' is ",
                     dtype_name(pred.dtype()), " of shape ", pred.shape(), ".");
  }
  const NameScope scope(graph, name);
  const auto then_branch = std::make_shared<FuncGraph>(graph, scope.name(), "true");
  const auto else_branch = std::make_shared<FuncGraph>(graph, scope.name(), "false");
  then_branch->results = capture_results(*then_branch, true_fn(*then_branch, {}));
  else_branch->results = capture_results(*else_branch, false_fn(*else_branch, {}));
  if (then_branch->results.size() != else_branch->results.size()) {
    invalid_argument("true_fn and false_fn must return the same number of outputs, not ",
                     then_branch->results.size(), " and ", else_branch->results.size(), ".");
  }
  for (size_t i = 0; i < then_branch->results.size(); ++i) {
    const DType a = then_branch->results[i].dtype(), b = else_branch->results[i].dtype();
    if (a == b) continue;
    invalid_argument("Outputs of true_fn and false_fn must have the same type: ", dtype_name(a),
                     ", ", dtype_name(b), ".");
  }
  Operation* if_op = add_if(graph, pred, then_branch, else_branch);
  std::vector<Output> results;
  for (int i = 0; i < if_op->num_outputs(); ++i) {
    results.push_back(graph.op("Identity", {if_op->output(i)}).named("Merge"));
  }
  return results;
}

#define RUNHOOKS_IF_OP(type)                   \
  RUNHOOKS_REGISTER_OP(type)                   \
      .input("cond: Tcond")                    \
      .input("input: Tin, or handle")          \
      .output("output: Tout")                  \
      .attr("Tcond: type")                     \
      .attr("Tin: list(type) >= 0")            \
      .attr("Tout: list(type) >= 0")           \
      .attr("then_branch: func")               \
      .attr("else_branch: func")               \
      .attr("output_shapes: list(shape) = []") \
      .shape(if_shape)                         \
      .kernel(kernel_of<IfKernel>())           \
      .allocates_outputs()                     \
      .calls_functions()                       \
      .gradient(if_gradient)                   \
      .endpoint("raw_ops." type)

RUNHOOKS_IF_OP("StatelessIf").summary("Runs one of two functions without side effects.");
RUNHOOKS_IF_OP("If").stateful().summary("Runs one of two functions.");

}  // namespace runhooks
