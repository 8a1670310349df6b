// OpDef (interface, shape function, kernel, gradient and examples of an op) and the op registry.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "graph/kernel.h"
#include "graph/operation.h"

namespace runhooks {

// A closed range of integers; either limit may be absent.
struct Range {
  bool has_minimum = false, has_maximum = false;
  int64_t minimum = 0, maximum = 0;
  bool is_all() const { return !has_minimum && !has_maximum; }
  template <typename T>
  bool contains(T x) const {
    return (!has_minimum || x >= static_cast<T>(minimum)) &&
           (!has_maximum || x <= static_cast<T>(maximum));
  }
  // ">= 0", ">= 0 and <= 3".
  std::string to_string() const;
};

// One input or output in the syntax of TensorFlow's op definitions: "x: T", "xs: N * T",
// "components: output_types", "ref: Ref(T)", "indices: int64". Constraints that are checked before
// the kernel runs follow after commas:
//   "scalar", "vector", "rank 2", "rank >= 1", "rank <= 1", "not empty";
//   ">= 0", "<= 10": limits of all values. Use them only if the shape function reads the values
//     and the op does not have `allocates_outputs`; other values are not checked in every run;
//   "variable of T", "table", "iterator": the kind of resource that a handle refers to;
//   "or handle": accepts a handle in place of a tensor.
struct ArgDef {
  std::string name;
  DType dtype = DType::kInvalid;  // of an argument with a fixed type
  std::string type_attr;          // the attribute that is the type, such as T
  std::string number_attr;        // the attribute that is the number of inputs: N in "xs: N * T"
  std::string type_list_attr;     // the list(type) attribute with one type per input
  bool is_ref = false;

  int min_rank = 0, max_rank = Shape::kMaxRank;
  bool not_empty = false;
  Range values;
  std::string handle_of;         // Resource::kind(); empty: any
  std::string handle_type_attr;  // the attribute that is the type of a variable
  bool may_be_handle = false;  // arguments of function calls are tensors or handles
  bool takes_handles() const { return dtype == DType::kResource; }
};

// One attribute: "T: {float, double} = DT_FLOAT", "N: int >= 1", "transpose_a: bool = false",
// "padding: {'SAME', 'VALID'}", "width: int >= -1, <= 100 = -1". The range of a list limits its
// length.
struct AttrDef {
  std::string name;
  std::string type;
  AttrValue default_value;  // monostate: required
  std::vector<DType> allowed_types;
  std::vector<std::string> allowed_strings;
  Range range;
};

// Arguments and results of a shape function. During graph construction, input shapes may be partial
// and values unknown. When a plan prepares the operation, all shapes and the values it reads are
// known, and the same function computes the exact output shapes.
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
  // NULL if the value of input i is unknown.
  const Tensor* value(int i) const {
    values_read_.insert(i);
    return values_.at(static_cast<size_t>(i));
  }
  const InputSet& values_read() const { return values_read_; }
  void set_output(int i, const Shape& shape) { outputs_.at(static_cast<size_t>(i)) = shape; }
  const std::vector<Shape>& outputs() const { return outputs_; }
  // The shape of input i. Throws if its rank is known and differs from `rank`.
  Shape with_rank(int i, int rank) const;

 private:
  const Operation& op_;
  std::vector<Shape> inputs_;
  std::vector<const Tensor*> values_;
  std::vector<Shape> outputs_;
  mutable InputSet values_read_;
};

// A gradient: none, a tensor, or IndexedSlices (the rows `indices` of a tensor of shape
// `dense_shape`, with all other rows zero).
struct Gradient {
  Output values;
  Output indices;
  Output dense_shape;

  Gradient() = default;
  Gradient(Output dense) : values(dense) {}  // NOLINT: a tensor is a gradient
  bool is_none() const { return !values; }
  bool is_indexed_slices() const { return static_cast<bool>(indices); }
};

// Maps the gradients of the outputs, which are all valid, to the gradients of the inputs.
using GradientFn =
    std::function<std::vector<Gradient>(Graph&, Operation&, const std::vector<Output>&)>;

// Replaces the gradient function of the definition for a single operation.
class GradientOverride {
 public:
  virtual ~GradientOverride() = default;
  virtual std::vector<Gradient> gradient(Graph&, Operation&, const std::vector<Output>& dy) = 0;
};

// Replaces an op that TensorFlow lacks by TensorFlow ops (graph/lowering.h). The function adds them
// to a graph that has the inputs of the op, in the name scope of the op. It must name the last one
// "<name of the op>/" and give it the outputs of the op.
using LowerFn = std::function<void(Graph&, const Operation&, const std::vector<Output>&)>;

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
  // A stateful op that may be reordered or run concurrently with independent operations.
  bool order_insensitive = false;
  // Output 0 is the attribute `value`.
  bool is_constant = false;
  // Output 0 equals input 0, and the gradient passes through unchanged.
  bool is_identity = false;
  // Output 0 is a view of input 0, possibly with another shape.
  bool forwards = false;
  // Output 0 may share the buffer of input 0.
  bool may_forward = false;
  // The outputs depend only on the shapes of the inputs.
  bool shape_dependent = false;
  // The output shapes depend on values, so the kernel allocates the outputs.
  bool allocates_outputs = false;
  // Output 0 refers to a variable whose session key is the name of the operation.
  bool holds_variable = false;
  // Output 0 is the current value of the variable that input 0 refers to.
  bool reads_variable = false;
  // Indices of inputs (references or handles) whose targets it changes.
  std::vector<int> mutates;
  // An optimizer update, which has no side effects other than on `mutates`.
  bool updates_variables = false;
  // Output 1 holds distinct row indices of IndexedSlices.
  bool has_distinct_rows = false;
  // Calls a function of the host language (R), so it must run on the thread of the session.
  bool is_host_function = false;
  // Opens files for reading; the FileAccessPolicy may limit it to the directory of a loaded model.
  bool reads_files = false;
  // Writes, replaces or removes files. Graphs from untrusted files must not contain such ops.
  bool writes_files = false;
  // Has attributes of type "func", which it calls. Its gradient function receives invalid Outputs
  // for outputs without a gradient, and may add inputs and outputs to the operation.
  bool calls_functions = false;
  // Creates the resource of an operation whose state belongs in checkpoints.
  ResourceFactory resource_factory = nullptr;
  // Names under `tf$`; by default the type in snake case.
  std::vector<std::string> endpoints;
  // Signatures under `tf$` that differ from inputs and attributes, see signature.h:
  // "stack(values, axis = 0, name = 'stack')".
  std::vector<std::string> signatures;
  std::string summary;
  // Inputs for tests of the whole registry, see tests/cpp/test_registry.cpp.
  std::vector<std::string> examples;

  const AttrDef* find_attr(const std::string& name) const;
};

// Throws kNotFound for an unregistered type.
const OpDef& find_op(const std::string& type);
const OpDef* find_op_or_null(const std::string& type);
const std::map<std::string, OpDef>& all_ops();

ArgDef parse_arg(const std::string& spec);
AttrDef parse_attr(const std::string& spec);

// Builds and registers an OpDef before main(), as a static object:
//   static OpRegistration kNeg = OpRegistration("Neg").input("x: T")...;
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
  OpRegistration& keeps(ResourceFactory factory);
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

template <typename K>
KernelFactory kernel_of() {
  return [](const Operation&) -> std::unique_ptr<Kernel> { return std::make_unique<K>(); };
}

void unchanged_shape(ShapeContext& c);  // output 0 has the shape of input 0
void scalar_shape(ShapeContext& c);     // all outputs are scalars
void no_outputs(ShapeContext& c);
void broadcast_shape(ShapeContext& c);  // of inputs 0 and 1

}  // namespace runhooks
