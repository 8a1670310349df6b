#include "control/functions.h"

#include <algorithm>
#include <cstring>

#include "graph/variable.h"

namespace runhooks {

FunctionRunner::FunctionRunner(const FuncGraph& function,
                               const std::vector<Output>& fetches,
                               const std::vector<bool>& is_shared,
                               ResourceManager& resources) {
  std::vector<Output> feeds;
  const std::vector<const Operation*> needed = needed_operations(function);
  for (size_t i = 0; i < function.arguments().size(); ++i) {
    const auto& argument = function.arguments()[i];
    const bool is_needed =
        std::find(needed.begin(), needed.end(), argument.inside.op) != needed.end();
    if (!is_needed || argument.is_handle()) continue;
    fed_arguments_.push_back(i);
    is_shared_.push_back(is_shared[i]);
    feeds.push_back(argument.inside);
  }
  values_.resize(fed_arguments_.size());
  executor_ = std::make_unique<Executor>(std::make_shared<NodeTable>(resources, BufferOptions()),
                                         std::vector<Fetch>(fetches.begin(), fetches.end()), feeds);
}

void FunctionRunner::run(const std::vector<const Tensor*>& arguments) {
  for (size_t i = 0; i < fed_arguments_.size(); ++i) values_[i] = arguments[fed_arguments_[i]];
  executor_->run(values_, is_shared_);
}

void set_output_value(KernelContext& c, int i, const Tensor& value) {
  if (value.dtype() == DType::kVariant) {
    c.output(i) = value;
  } else if (value.dtype() == DType::kString) {
    c.alias_output(i, value.copy());
  } else {
    Tensor& output = c.allocate_output(i, value.dtype(), value.shape());
    if (value.num_elements() > 0) std::memcpy(output.raw(), value.raw(), value.num_bytes());
  }
}

FuncGraph& function_attr(const Operation& op, const char* name) {
  return *op.attr<FunctionPtr>(name);
}

bool changes_variables(const FuncGraph& function) {
  for (const Operation* op : needed_operations(function)) {
    if (any_nested_operation(*op, [](const Operation& x) { return !x.def().mutates.empty(); })) return true;
  }
  return false;
}

std::vector<Output> capture_results(FuncGraph& function, const std::vector<Output>& results) {
  std::vector<Output> captured;
  for (const Output& result : results) {
    Output tensor = function.capture(result);
    if (FuncGraph::is_resource_handle(tensor)) tensor = function.op("Identity", {tensor});
    captured.push_back(tensor);
  }
  return captured;
}

DType gradient_dtype(const FuncGraph::Argument& argument) {
  if (!argument.is_handle()) return argument.inside.dtype();
  const Operation& variable = *argument.inside.op;
  return variable.def().holds_variable ? variable.attr_type("dtype") : DType::kInvalid;
}

bool may_have_gradient(const FuncGraph::Argument& argument) {
  const DType dtype = gradient_dtype(argument);
  return is_floating(dtype) || dtype == DType::kVariant;
}

Shape gradient_shape(const FuncGraph::Argument& argument) {
  return argument.is_handle() ? declared_shape(*argument.inside.op) : argument.inside.shape();
}

Output zeros_for(Graph& graph, const FuncGraph::Argument& argument, const Output& like) {
  if (!argument.is_handle()) return graph.op("ZerosLike", {like});
  return graph.constant(Tensor::zeros(gradient_dtype(argument), gradient_shape(argument)));
}

namespace {

// Returns a constant vector of the dimensions.
Output dims_vector(Graph& graph, const Shape& shape) {
  std::vector<int32_t> dims;
  for (int d = 0; d < shape.rank(); ++d) dims.push_back(static_cast<int32_t>(shape.dim(d)));
  return graph.int_vector(dims);
}

}  // namespace

Output shape_for(Graph& graph, const FuncGraph::Argument& argument, const Output& like) {
  if (!argument.is_handle()) return graph.op("Shape", {like}).attr("out_type", DType::kInt32);
  return dims_vector(graph, gradient_shape(argument));
}

Output empty_list(Graph& graph, DType dtype, const Shape& element_shape) {
  const bool is_known = element_shape.has_rank() && dtype != DType::kVariant;
  const Output shape =
      is_known ? dims_vector(graph, element_shape) : graph.scalar(DType::kInt32, -1);
  return graph.op("EmptyTensorList", {shape, graph.scalar(DType::kInt32, -1)})
      .attr("element_dtype", dtype);
}

int argument_index(const FuncGraph& function, const Output& tensor) {
  for (size_t i = 0; i < function.arguments().size(); ++i) {
    if (function.argument(i) == tensor) return static_cast<int>(i);
  }
  return -1;
}

}  // namespace runhooks
