// OpDef: the interface, shape function, kernel, gradient and example of an op; and the op registry.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "graph/kernel.h"
#include "graph/operation.h"

namespace runhooks {

// The allowed numbers, from `minimum` to `maximum`; each bound is optional.
struct Range {
  bool has_minimum = false, has_maximum = false;
  int64_t minimum = 0, maximum = 0;
  bool is_all() const { return !has_minimum && !has_maximum; }
  template <typename T>
  bool contains(T x) const {
    return (!has_minimum || x >= static_cast<T>(minimum)) &&
           (!has_maximum || x <= static_cast<T>(maximum));
  }
  // Describes the range: ">= 0" or ">= 0 and <= 3".
  std::string to_string() const;
};

// One input or output of an op, written as in TensorFlow's op definitions: "x: T", "xs: N * T",
// "components: output_types", "ref: Ref(T)", "indices: int64". Constraints follow after commas, and
// kernels may rely on them:
// * "scalar", "vector", "rank 2", "rank >= 1", "rank <= 1", "not empty".
// * ">= 0", "<= 10": the range of all values. Allowed only if the shape function reads the values
//   and the op does not allocate its outputs itself, because other inputs are not checked.
// * "variable of T", "table", "iterator": the kind of resource that a handle refers to.
// * "or handle": the input may be a tensor or a handle.
struct ArgDef {
  std::string name;
  DType dtype = DType::kInvalid;  // the type; kInvalid if an attribute determines it
  std::string type_attr;          // the attribute that determines the type
  std::string number_attr;        // the N of "xs: N * T"
  std::string type_list_attr;     // the list(type) attribute that determines several types
  bool is_ref = false;

  int min_rank = 0, max_rank = Shape::kMaxRank;
  bool not_empty = false;
  Range values;
  std::string handle_of;         // Resource::kind() of the resource; empty if any kind is allowed
  std::string handle_type_attr;  // the attribute that is the type of the variable
  bool may_be_handle = false;    // whether tensors and handles are both allowed
  // Whether the argument accepts only handles.
  bool takes_handles() const { return dtype == DType::kResource; }
};

// One attribute: "T: {float, double} = DT_FLOAT", "N: int >= 1", "transpose_a: bool = false",
// "padding: {'SAME', 'VALID'}", "width: int >= -1, <= 100 = -1". For lists, the range applies to
// the length.
struct AttrDef {
  std::string name;
  std::string type;
  AttrValue default_value;  // monostate if required
  std::vector<DType> allowed_types;
  std::vector<std::string> allowed_strings;
  Range range;
};

// The inputs and results of a shape function. During graph construction, shapes may be partial and
// values unknown. When a session prepares the operation, both are known and the results are exact.
class ShapeContext {
 public:
  ShapeContext(const Operation& op,
               std::vector<Shape> inputs,
               std::vector<const Tensor*> values,
               int num_outputs)
      : op_(op),
        inputs_(std::move(inputs)),
        values_(std::move(values)),
        outputs_(static_cast<size_t>(num_outputs), Shape::unknown()) {}

  const Operation& op() const { return op_; }
  int num_inputs() const { return static_cast<int>(inputs_.size()); }
  const Shape& input(int i) const { return inputs_.at(static_cast<size_t>(i)); }
  // Returns the value of input i, or NULL if it is unknown.
  const Tensor* value(int i) const {
    values_read_.insert(i);
    return values_.at(static_cast<size_t>(i));
  }
  const InputSet& values_read() const { return values_read_; }
  void set_output(int i, const Shape& shape) { outputs_.at(static_cast<size_t>(i)) = shape; }
  const std::vector<Shape>& outputs() const { return outputs_; }
  // Returns the shape of input i; throws if its rank is not `rank`.
  Shape with_rank(int i, int rank) const;

 private:
  const Operation& op_;
  std::vector<Shape> inputs_;
  std::vector<const Tensor*> values_;
  std::vector<Shape> outputs_;
  mutable InputSet values_read_;
};

// A gradient: none, a tensor, or IndexedSlices (`values` of the rows `indices` of a tensor of shape
// `dense_shape`).
struct Gradient {
  Output values;
  Output indices;
  Output dense_shape;

  Gradient() = default;
  Gradient(Output dense) : values(dense) {}  // NOLINT: a tensor is a gradient
  bool is_none() const { return !values; }
  bool is_indexed_slices() const { return static_cast<bool>(indices); }
};

using Grads = std::vector<Gradient>;
using Outputs = std::vector<Output>;

// Computes the gradients of an operation's inputs from the gradients of its outputs. Outputs
// without a gradient get zeros, except for ops that call functions (see OpDef::calls_functions).
using GradientFn = std::function<Grads(Graph&, Operation&, const Outputs& dy)>;

// Replaces the gradient function of the op's definition for one operation.
class GradientOverride {
 public:
  virtual ~GradientOverride() = default;
  virtual Grads gradient(Graph&, Operation&, const Outputs& dy) = 0;
};

// Replaces an op that TensorFlow lacks by TensorFlow's ops (graph/lowering.h). Adds operations with
// the given inputs to a graph, in a name scope with the name of the replaced operation. The last
// one gets the outputs and the name of the replaced operation. The function passes the name with a
// trailing "/", so that the graph adds no suffix.
using LowerFn = std::function<void(Graph&, const Operation&, const Outputs& inputs)>;

class StatefulResource;
using ResourceFactory = std::unique_ptr<StatefulResource> (*)(const Operation& op);

struct OpDef {
  std::string type;
  std::vector<ArgDef> inputs, outputs;
  std::vector<AttrDef> attrs;
  std::function<void(ShapeContext&)> shape_fn;
  KernelFactory kernel_factory;
  GradientFn gradient_fn;
  LowerFn lower_fn;  // for ops that TensorFlow lacks
  bool not_differentiable = false;
  bool is_stateful = false;
  // The op is stateful, but may run in any order relative to operations that do not depend on it.
  bool order_insensitive = false;
  // Output 0 is the attribute `value`.
  bool is_constant = false;
  // Output 0 is input 0 unchanged, and so is its gradient.
  bool is_identity = false;
  // Output 0 shares the buffer of input 0, possibly with another shape.
  bool forwards = false;
  // Output 0 may share the buffer of input 0.
  bool may_forward = false;
  // The outputs depend only on the shapes of the inputs.
  bool shape_dependent = false;
  // Output shapes depend on values, so the kernel allocates the outputs.
  bool allocates_outputs = false;
  // Output 0 refers to a variable that the session stores under the operation's name.
  bool holds_variable = false;
  // Output 0 is the current value of the variable that input 0 refers to.
  bool reads_variable = false;
  // Numbers of the inputs that refer to variables which the op modifies.
  std::vector<int> mutates;
  // The op is an optimizer update. It modifies only the variables in `mutates`.
  bool updates_variables = false;
  // Output 1 contains the indices of IndexedSlices, without duplicates.
  bool has_distinct_rows = false;
  // The op calls a function of the embedding language. Sessions run it only on their own thread.
  bool is_host_function = false;
  // The op reads files. The FileAccessPolicy of a loaded model allows only files in its folder.
  bool reads_files = false;
  // The op writes, replaces or removes files, which untrusted graphs may not do.
  bool writes_files = false;
  // The op calls functions, which are attributes of type "func". The gradient function gets an
  // invalid Output for an output without a gradient. It may add inputs and outputs to the
  // operation.
  bool calls_functions = false;
  // Creates the initial StatefulResource that a session stores for the operation; NULL for ops
  // without saved state.
  ResourceFactory resource_factory = nullptr;
  // Names below `tf$`; by default the type in snake case.
  std::vector<std::string> endpoints;
  // Signatures for scripts that differ from the default (see signature.h):
  // "stack(values, axis = 0, name = 'stack')".
  std::vector<std::string> signatures;
  std::string summary;
  // Calls of the op with example inputs, for tests of all ops (tests/cpp/test_registry.cpp).
  std::vector<std::string> examples;

  const AttrDef* find_attr(const std::string& name) const;
};

// Throws not_found for an unregistered type.
const OpDef& find_op(const std::string& type);
const OpDef* find_op_or_null(const std::string& type);
const std::map<std::string, OpDef>& all_ops();

ArgDef parse_arg(const std::string& spec);
AttrDef parse_attr(const std::string& spec);

// Registers an op. The chained calls add its properties. Used for static objects, before main():
// static OpRegistration kNeg = OpRegistration("Neg").input("x: T")...;
class OpRegistration {
 public:
  explicit OpRegistration(const char* type);
  OpRegistration& input(const char* spec);
  OpRegistration& output(const char* spec);
  OpRegistration& attr(const char* spec);
  OpRegistration& shape(std::function<void(ShapeContext&)> fn);
  OpRegistration& kernel(KernelFactory factory);
  OpRegistration& gradient(GradientFn fn);
  OpRegistration& lower(LowerFn fn);
  OpRegistration& not_differentiable();
  OpRegistration& stateful();
  OpRegistration& order_insensitive();
  OpRegistration& constant();
  OpRegistration& identity();
  OpRegistration& forwards();
  OpRegistration& may_forward();
  OpRegistration& shape_dependent();
  OpRegistration& allocates_outputs();
  OpRegistration& holds_variable();
  OpRegistration& reads_variable();
  OpRegistration& mutates(int input);
  OpRegistration& updates_variables();
  OpRegistration& distinct_rows();
  OpRegistration& host_function();
  OpRegistration& reads_files();
  OpRegistration& writes_files();
  OpRegistration& calls_functions();
  OpRegistration& owns_resource(ResourceFactory factory);
  OpRegistration& endpoint(const char* name);
  OpRegistration& r(const char* signature);
  OpRegistration& summary(const char* text);
  OpRegistration& example(const char* text);

 private:
  OpDef& def_;
};

#define RUNHOOKS_CONCAT_(a, b) a##b
#define RUNHOOKS_CONCAT(a, b) RUNHOOKS_CONCAT_(a, b)
#define RUNHOOKS_REGISTER_OP(type)                                          \
  [[maybe_unused]] static const ::runhooks::OpRegistration RUNHOOKS_CONCAT( \
      op_registration_, __COUNTER__) = ::runhooks::OpRegistration(type)

// Creates kernels from a class template, instantiated for the value of a type attribute.
template <template <typename> class KernelFor, typename... Types>
KernelFactory kernel_by_type(const char* attr = "T") {
  return [attr](const Operation& op) -> std::unique_ptr<Kernel> {
    const DType dtype = op.attr_type(attr);
    std::unique_ptr<Kernel> kernel;
    ((dtype == dtype_of<Types>() ? void(kernel = std::make_unique<KernelFor<Types>>()) : void()),
     ...);
    if (!kernel) {
      fail(Code::kUnimplemented, "There is no kernel for type ", dtype_name(dtype), ".");
    }
    return kernel;
  };
}

// Creates kernels from a class that is not a template.
template <typename K>
KernelFactory kernel_of() {
  return [](const Operation&) -> std::unique_ptr<Kernel> { return std::make_unique<K>(); };
}

// Shape functions that several ops share.
void unchanged_shape(ShapeContext& c);  // output 0 has the shape of input 0
void scalar_shape(ShapeContext& c);     // every output is a scalar
void no_outputs(ShapeContext& c);
void broadcast_shape(ShapeContext& c);  // of inputs 0 and 1

}  // namespace runhooks
