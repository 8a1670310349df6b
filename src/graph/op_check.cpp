#include "graph/op_check.h"

#include <new>
#include <stdexcept>

#include "graph/variable.h"

namespace runhooks {

namespace {

std::string input_name(const Operation& op, int i) {
  return str_cat("Input '", op.input_arg(i).name, "' of '", op.type(), "' Op");
}

std::string describe_rank(const ArgDef& arg) {
  if (arg.max_rank == 0) return "be a scalar";
  if (arg.min_rank == 1 && arg.max_rank == 1) return "be a vector";
  if (arg.min_rank == arg.max_rank) return str_cat("have ", arg.min_rank, " dimensions");
  if (arg.min_rank == 0 && arg.max_rank == 1) return "be a scalar or a vector";
  if (arg.min_rank == 0) return str_cat("have at most ", arg.max_rank, " dimensions");
  return str_cat("have at least ", arg.min_rank, arg.min_rank == 1 ? " dimension" : " dimensions");
}

bool is_empty(const Shape& shape) {
  for (int i = 0; shape.has_rank() && i < shape.rank(); ++i) {
    if (shape.dim(i) == 0) return true;
  }
  return false;
}

void check_shape(const Operation& op, int i, const Shape& shape) {
  const ArgDef& arg = op.input_arg(i);
  if (shape.has_rank() && (shape.rank() < arg.min_rank || shape.rank() > arg.max_rank)) {
    invalid_argument(input_name(op, i), " must ", describe_rank(arg), "; got shape ", shape, ".");
  }
  if (arg.not_empty && is_empty(shape)) {
    invalid_argument(input_name(op, i), " must not be empty; got shape ", shape, ".");
  }
}

void check_values(const Operation& op, int i, const Tensor& values) {
  const Range& range = op.input_arg(i).values;
  for (int64_t x : values.integers()) {
    if (!range.contains(x)) {
      invalid_argument(input_name(op, i), " must be ", range, "; got ", x, ".");
    }
  }
}

void check_handle(const KernelContext& c, int i) {
  const Operation& op = c.op();
  const ArgDef& arg = op.input_arg(i);
  const Resource* resource = c.resource_or_null(i);
  if (!resource) {
    invalid_argument(input_name(op, i), " must refer to a ",
                     arg.is_ref              ? "variable"
                     : arg.handle_of.empty() ? "resource"
                                             : arg.handle_of,
                     "; '", op.input(i).name(), "' is a plain value.");
  }
  const std::string& expected_kind = arg.is_ref ? "variable" : arg.handle_of;
  if (!expected_kind.empty() && expected_kind != resource->kind()) {
    invalid_argument(input_name(op, i), " must refer to a ", expected_kind, "; '",
                     op.input(i).name(), "' refers to a ", resource->kind(), ".");
  }
  if (arg.handle_type_attr.empty()) return;
  const auto* variable = dynamic_cast<const VariableState*>(resource);
  const DType declared = op.attr_type(arg.handle_type_attr.c_str());
  if (variable && variable->dtype() != declared) {
    invalid_argument("Trying to access variable ", variable->name(), " with the wrong dtype. ",
                     input_name(op, i), " expects ", dtype_name(declared), ", the variable is ",
                     dtype_name(variable->dtype()), ".");
  }
}

}  // namespace

void infer_shapes(ShapeContext& c) {
  const Operation& op = c.op();
  for (int i = 0; i < c.num_inputs(); ++i) {
    check_shape(op, i, c.input(i));
    if (op.input_arg(i).values.is_all()) continue;
    if (const Tensor* values = c.value(i)) check_values(op, i, *values);
  }
  if (op.def().shape_fn) op.def().shape_fn(c);
}

void check_inputs_available(const KernelContext& c) {
  const Operation& op = c.op();
  for (int i = 0; i < c.num_inputs(); ++i) {
    const ArgDef& arg = op.input_arg(i);
    const DType dtype = op.input(i).dtype();
    if (arg.may_be_handle && c.resource_or_null(i)) continue;
    if (arg.is_ref || arg.takes_handles()) {
      check_handle(c, i);
    } else if (dtype_size(dtype) == 0 && dtype != DType::kVariant) {
      invalid_argument(input_name(op, i), " must be a tensor; '", op.input(i).name(),
                       "' is a handle.");
    } else if (!c.input(i).is_valid()) {
      fail(Code::kFailedPrecondition, "Attempting to use uninitialized value ",
           op.input(i).op->name(), ".");
    }
  }
}

void rethrow_for_op(const Operation& op) {
  const auto throw_out_of_memory = [&op] {
    throw Error(Code::kResourceExhausted, "There is not enough memory.")
        .at_op(op.type(), op.name());
  };
  try {
    throw;
  } catch (Error& error) {
    error.at_op(op.type(), op.name());
    throw;  // rethrows the original, which may be of a derived class
  } catch (const std::bad_alloc&) {
    throw_out_of_memory();
  } catch (const std::length_error&) {
    throw_out_of_memory();
  }
  throw;  // not reached
}

}  // namespace runhooks
