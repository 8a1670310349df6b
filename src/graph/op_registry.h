// OpDef (an op's interface, shape function, kernel, gradient and example) and the registry of them.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "graph/kernel.h"
#include "graph/operation.h"

namespace runhooks {

// The numbers from `minimum` to `maximum`, where these are there.
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

// One input or output in the words of TensorFlow's op definitions: "x: T", "xs: N * T",
// "components: output_types", "ref: Ref(T)", "indices: int64". Behind a comma are what a kernel may
// rely on:
//   "scalar", "vector", "rank 2", "rank >= 1", "rank <= 1", "not empty";
//   ">= 0", "<= 10": all its values. Only where the shape function reads these too and the op does
//     not allocate its outputs itself, since what is not read is not looked at in every run;
//   "variable of T", "table", "iterator": what a handle refers to;
//   "or handle": it may be one.
struct ArgDef {
  std::string name;
  DType dtype = DType::kInvalid;  // where the type is fixed
  std::string type_attr;          // where it is an attribute
  std::string number_attr;        // "xs: N * T" has N
  std::string type_list_attr;     // where the types are a list(type) attribute
  bool is_ref = false;

  int min_rank = 0, max_rank = Shape::kMaxRank;
  bool not_empty = false;
  Range values;
  std::string handle_of;         // Resource::kind(); empty: any
  std::string handle_type_attr;  // the attribute that is the type of a variable
  bool may_be_handle = false;  // what a function is called with: tensors and handles
  // Takes handles; other arguments are tensors, or the core's things that travel as variants.
  bool takes_handles() const { return dtype == DType::kResource; }
};

// One attribute: "T: {float, double} = DT_FLOAT", "N: int >= 1", "transpose_a: bool = false",
// "padding: {'SAME', 'VALID'}", "width: int >= -1, <= 100 = -1". The range of a list is that of its
// length.
struct AttrDef {
  std::string name;
  std::string type;
  AttrValue default_value;  // monostate: required
  std::vector<DType> allowed_types;
  std::vector<std::string> allowed_strings;
  Range range;
};

// What a shape function sees. While the graph is built shapes may be partial and values unknown;
// when a plan prepares the operation all are known, and the same function gives the outputs' exact
// shapes.
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
  // The value of input i where it is known, else NULL.
  const Tensor* value(int i) const {
    values_read_.insert(i);
    return values_.at(static_cast<size_t>(i));
  }
  const InputSet& values_read() const { return values_read_; }
  void set_output(int i, const Shape& shape) { outputs_.at(static_cast<size_t>(i)) = shape; }
  const std::vector<Shape>& outputs() const { return outputs_; }
  // Input i, of this rank; throws where it has another one.
  Shape with_rank(int i, int rank) const;

 private:
  const Operation& op_;
  std::vector<Shape> inputs_;
  std::vector<const Tensor*> values_;
  std::vector<Shape> outputs_;
  mutable InputSet values_read_;
};

// A gradient: nothing, a tensor, or IndexedSlices (values of the rows `indices` of a tensor of
// shape `dense_shape`).
struct Gradient {
  Output values;
  Output indices;
  Output dense_shape;

  Gradient() = default;
  Gradient(Output dense) : values(dense) {}  // NOLINT: a tensor is a gradient
  bool is_none() const { return !values; }
  bool is_indexed_slices() const { return static_cast<bool>(indices); }
};

// Gets the gradients of an operation's outputs, none of them "none"; returns those of its inputs.
using GradientFn =
    std::function<std::vector<Gradient>(Graph&, Operation&, const std::vector<Output>&)>;

// The gradient of one operation, in place of that of its definition.
class GradientOverride {
 public:
  virtual ~GradientOverride() = default;
  virtual std::vector<Gradient> gradient(Graph&, Operation&, const std::vector<Output>& dy) = 0;
};

// Writes an op that TensorFlow does not know in TensorFlow's (graph/lowering.h): adds operations to
// a graph in which the op is missing, whose name scope is the op's own, and that has its inputs.
// The last of them is called "<the op's name>/", so that it takes the op's name, and has its
// outputs.
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
  LowerFn lower_fn;  // of ops of our own
  bool not_differentiable = false;
  bool is_stateful = false;
  // Stateful, yet among operations that do not depend on it it may run earlier or later, or beside
  // them.
  bool order_insensitive = false;
  // Output 0 is the attribute `value`.
  bool is_constant = false;
  // Output 0 is input 0 as it is, and so is its gradient.
  bool is_identity = false;
  // Output 0 is input 0 in another shape, without a copy.
  bool forwards = false;
  // Its kernel may let output 0 share the buffer of input 0.
  bool may_forward = false;
  // Its value depends on the shapes of its inputs only.
  bool shape_dependent = false;
  // The shapes of its outputs depend on values, so the kernel allocates them.
  bool allocates_outputs = false;
  // Output 0 refers to a variable that the session keeps under the operation's name.
  bool holds_variable = false;
  // Output 0 is the value of the variable that input 0 refers to, at the time when it runs.
  bool reads_variable = false;
  // Which inputs are references or handles whose target it changes.
  std::vector<int> mutates;
  // A step of an optimizer: it touches nothing but the variables that it mutates.
  bool updates_variables = false;
  // Output 1 are the indices of IndexedSlices, none of which comes twice.
  bool has_distinct_rows = false;
  // It calls a function of the embedding language, which only the session's thread may do.
  bool is_host_function = false;
  // It opens files to read: below the folder of a model that was loaded, or anywhere (FileAccessPolicy).
  bool reads_files = false;
  // It writes, replaces or removes files: what no stranger's graph may do.
  bool writes_files = false;
  // It calls functions: graphs that are attributes of type "func". Its gradient is asked with
  // invalid Outputs for what has none, and may add inputs and outputs to the operation.
  bool calls_functions = false;
  // What a session keeps of it from run to run, beginning with this, where that is part of a state
  // that is saved.
  ResourceFactory resource_factory = nullptr;
  // How it is called under `tf$`; by default its type in snake case.
  std::vector<std::string> endpoints;
  // How scripts call it where that does not follow from its inputs and attributes, see signature.h:
  // "stack(values, axis = 0, name = 'stack')".
  std::vector<std::string> signatures;
  std::string summary;
  // Inputs for the tests that run over the whole registry, see tests/cpp/test_registry.cpp.
  std::vector<std::string> examples;

  const AttrDef* find_attr(const std::string& name) const;
};

// Throws not_found for a type that nobody registered.
const OpDef& find_op(const std::string& type);
const OpDef* find_op_or_null(const std::string& type);
const std::map<std::string, OpDef>& all_ops();

ArgDef parse_arg(const std::string& spec);
AttrDef parse_attr(const std::string& spec);

// Registers an OpDef by its name and adds to it word by word, before main() as a static object:
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

// A kernel class template, instantiated for the value of a type attribute.
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

// A kernel class that does not depend on a type.
template <typename K>
KernelFactory kernel_of() {
  return [](const Operation&) -> std::unique_ptr<Kernel> { return std::make_unique<K>(); };
}

// Shape functions that many ops share.
void unchanged_shape(ShapeContext& c);  // output 0 is as input 0
void scalar_shape(ShapeContext& c);     // every output is a scalar
void no_outputs(ShapeContext& c);
void broadcast_shape(ShapeContext& c);  // of inputs 0 and 1

}  // namespace runhooks
