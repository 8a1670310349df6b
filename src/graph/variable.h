// Variable: the operations of a variable in a graph. VariableScope: names and options of variables.
// VariableState: the value in a session.
#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "graph/graph.h"

namespace runhooks {

// The value of a variable in a session.
class VariableState : public Resource {
 public:
  VariableState(std::string name, DType dtype) : name_(std::move(name)), dtype_(dtype) {}
  const char* kind() const override { return "variable"; }
  const std::string& name() const { return name_; }
  DType dtype() const { return dtype_; }
  bool is_initialized() const { return value_.is_valid(); }
  Tensor& value() { return value_; }
  // Returns the number of buffer changes of all variables in this process. Pointers to values stay
  // valid as long as this number is unchanged.
  static uint64_t relocation_count() { return relocation_count_.load(std::memory_order_relaxed); }
  // Copies the value. If the shape is unchanged, the buffer is reused and prepared kernels stay
  // valid. Throws if the type differs.
  void assign(const Tensor& value);
  // Like assign(), but takes over the buffer of the value if it is not shared.
  void take(Tensor value);

 private:
  void adopt_buffer(Tensor value);
  static std::atomic<uint64_t> relocation_count_;
  std::string name_;
  DType dtype_;
  Tensor value_;
};

// The part of a partitioned variable that one Variable holds, as stored in checkpoints.
struct SaveSliceInfo {
  std::string full_name;
  Shape full_shape;
  std::vector<int64_t> offset;
  Shape shape;
};

// Computes a regularization loss or a constrained value.
using VariableTransform = std::function<Output(Graph&, Output)>;

class Variable {
 public:
  Output handle;    // output of the op that holds the variable ("w")
  Output snapshot;  // the value as a tensor: "w/read:0" or ".../ReadVariableOp:0"
  Operation* initializer = nullptr;
  Output initial_value;
  std::string shared_name;  // name without the name scope of the op
  DType dtype = DType::kInvalid;
  Shape shape;
  bool trainable = true;
  bool is_resource = false;
  // Applied to the value after each optimizer step; may be empty.
  VariableTransform constraint;
  std::shared_ptr<SaveSliceInfo> slice;

  const std::string& op_name() const { return handle.op->name(); }
  std::string name() const { return handle.name(); }
  const std::string& save_name() const { return slice ? slice->full_name : shared_name; }
  Graph& graph() const { return handle.graph(); }
};

using VariablePtr = std::shared_ptr<Variable>;
using Initializer = std::function<Output(Graph&, const Shape&, DType)>;
// Returns the number of parts along each axis.
using Partitioner = std::function<std::vector<int64_t>(const Shape&, DType)>;

Initializer zeros_initializer();
// Returns the initializer of float variables that specify none. nn/initializer.cpp sets it, because
// this layer has no random ops.
Initializer& default_initializer();
// Sets all elements to `value`. `name` names the constant; by default "zeros" or "Const".
Initializer constant_initializer(double value, const char* name = nullptr);
// Returns a tensor whose elements are all `value`.
Tensor filled_tensor(DType dtype, const Shape& shape, double value);

// Returns the state of a variable; NULL if the session has none. Sessions store it under the name
// of the op that holds the variable.
VariableState* find_variable_state(const ResourceManager& resources, const Operation& handle);
// Returns the variable that input i of a kernel refers to. Throws if it has no value.
VariableState& initialized_variable(KernelContext& c, int i);
// Lets the output refer to the variable of input 0. Does nothing for ops on resource variables,
// which have no output.
void forward_variable(KernelContext& c);
// Returns the attribute `shape` of a variable op; an unknown shape if the op has none.
Shape declared_shape(const Operation& handle);

struct VariableOptions {
  DType dtype = DType::kFloat32;
  Initializer initializer;  // default: zeros for integers and bools, otherwise Glorot uniform
  bool trainable = true;
  bool use_resource = false;
  VariableTransform regularizer, constraint;
  std::vector<std::string> collections = {collection_keys::kGlobalVariables};
};

// Creates a variable with its operations. `initial_value` determines dtype and shape. `name` is
// made unique in the current name scope, unless it ends with "/".
VariablePtr make_variable(Graph& graph,
                          Output initial_value,
                          const std::string& name,
                          const VariableOptions& options,
                          const std::string& shared_name = "");

// The result of VariableStore::get_or_call_getter(): a variable, or a value that a custom getter
// returned instead.
struct VariableGetterResult {
  VariablePtr variable;  // NULL if the getter returned a tensor
  Output value;
};
// A custom getter, set by tf.variable_scope(custom_getter = ). It is called for a variable with
// this full name and returns the variable or another value.
using VariableGetter = std::function<VariableGetterResult(
    Graph&, const std::string& full_name, const Shape&, const VariableOptions&)>;

// The variables that tf.get_variable() has created, and the current variable scope.
class VariableStore {
 public:
  enum class Reuse { kNever, kAlways, kAuto };
  struct Scope {
    std::string name;  // "a/b" or ""
    Reuse reuse = Reuse::kNever;
    Initializer initializer;
    Partitioner partitioner;
    VariableTransform regularizer, constraint;
    DType dtype = DType::kFloat32;
    bool use_resource = false;
    VariableGetter getter;
  };

  explicit VariableStore(Graph& graph) : graph_(graph) {}
  Scope& current() { return current_; }
  VariablePtr find(const std::string& name) const;
  // Whether the scope `name` inside the current one has variables.
  bool has_scope(const std::string& name) const;
  // Returns the variable "<scope>/<name>": new or existing, depending on the scope's `reuse`.
  VariablePtr get(const std::string& name, const Shape& shape, const VariableOptions& options);
  // Like get(), but the scope's partitioner splits the variable; one part if the scope has none.
  std::vector<VariablePtr> get_partitioned(const std::string& name,
                                           const Shape& shape,
                                           const VariableOptions& options);
  // Calls the scope's custom getter; without a getter, the same as get().
  VariableGetterResult get_or_call_getter(const std::string& name,
                                          const Shape& shape,
                                          const VariableOptions& options);
  // For custom getters: like get(), but with a full name and without the getter.
  VariablePtr get_by_full_name(const std::string& name,
                               const Shape& shape,
                               const VariableOptions& options);
  // Returns the full name of a variable in the current scope.
  std::string full_name(const std::string& name) const {
    return current_.name.empty() ? name : current_.name + "/" + name;
  }

 private:
  Graph& graph_;
  Scope current_;
  std::map<std::string, VariablePtr> by_name_;
};

// tf.variable_scope(): a prefix for variables, and a unique name scope for operations.
class VariableScope {
 public:
  VariableScope(Graph& graph, const std::string& name);
  ~VariableScope();
  VariableStore::Scope& options() { return graph_.variables().current(); }
  const std::string& name() const { return graph_.variables().current().name; }

 private:
  Graph& graph_;
  VariableStore::Scope outer_;
  NameScope name_scope_;
};

std::vector<VariablePtr> variables_in(const Graph& graph, const std::string& collection);

// Returns the int64 variable `global_step` of the graph, or NULL.
VariablePtr global_step(const Graph& graph);
VariablePtr get_or_create_global_step(Graph& graph);
// Returns the tensor ("global_step/add:0") that hooks fetch to read the global step. Invalid if the
// graph has no global step.
Output global_step_read(Graph& graph);

}  // namespace runhooks
