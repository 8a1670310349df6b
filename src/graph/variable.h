// Variable (its operations in the graph), variable scopes, and the value that a session keeps of one.
#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "graph/graph.h"

namespace runhooks {

// A session's value of a variable.
class VariableState : public Resource {
 public:
  VariableState(std::string name, DType dtype) : name_(std::move(name)), dtype_(dtype) {}
  const char* kind() const override { return "variable"; }
  const std::string& name() const { return name_; }
  DType dtype() const { return dtype_; }
  bool is_initialized() const { return value_.is_valid(); }
  Tensor& value() { return value_; }
  // How often a variable of this process has got another buffer: as long as the number is the same,
  // who knows where a value is need not ask again.
  static uint64_t moves() { return moves_.load(std::memory_order_relaxed); }
  // Copies into the buffer at hand where the shape is the same, so that what has been prepared for
  // it stays valid. Throws where the value has another type.
  void assign(const Tensor& value);
  // The same with the buffer of the value in place of a copy, where nobody else has it.
  void take(Tensor value);

 private:
  void adopt_buffer(Tensor value);
  static std::atomic<uint64_t> moves_;
  std::string name_;
  DType dtype_;
  Tensor value_;
};

// The part of a partitioned variable that one Variable holds, as checkpoints know it.
struct SaveSliceInfo {
  std::string full_name;
  Shape full_shape;
  std::vector<int64_t> offset;
  Shape shape;
};

// Of a value a regularization loss, or another value (a constraint).
using VariableTransform = std::function<Output(Graph&, Output)>;

class Variable {
 public:
  // The op that holds it ("w"), the tensor read from it ("w/read:0" or ".../ReadVariableOp:0"), the
  // op that sets it to its initial value.
  Output handle;
  Output snapshot;
  Operation* initializer = nullptr;
  Output initial_value;
  std::string shared_name;  // differs from the op's name where a name scope was open
  DType dtype = DType::kInvalid;
  Shape shape;
  bool trainable = true;
  bool is_resource = false;
  // What an optimizer does to the value after each step; may be none.
  VariableTransform constraint;
  std::shared_ptr<SaveSliceInfo> slice;

  const std::string& op_name() const { return handle.op->name(); }
  std::string name() const { return handle.name(); }
  // The key in a checkpoint.
  const std::string& save_name() const { return slice ? slice->full_name : shared_name; }
  Graph& graph() const { return handle.graph(); }
};

using VariablePtr = std::shared_ptr<Variable>;
using Initializer = std::function<Output(Graph&, const Shape&, DType)>;
// The numbers of parts along each axis.
using Partitioner = std::function<std::vector<int64_t>(const Shape&, DType)>;

Initializer zeros_initializer();
// Of variables of floats that name none; nn/initializer.cpp, which knows random ops, sets it.
Initializer& default_initializer();
Initializer constant_initializer(double value);

// The sessions' values are found under the name of the op that holds the variable.
VariableState* find_variable_state(const ResourceManager& resources, const Operation& handle);
// The shape that the operation of a handle or a reference declares; unknown where it does not.
Shape declared_shape(const Operation& handle);

struct VariableOptions {
  DType dtype = DType::kFloat32;
  Initializer initializer;  // none: zeros for integers and bools, else glorot uniform
  bool trainable = true;
  bool use_resource = false;
  VariableTransform regularizer, constraint;
  std::vector<std::string> collections = {collection_keys::kGlobalVariables};
};

// A variable with operations of its own, initialized to `initial_value`, which fixes dtype and
// shape. `name` is made unique in the current name scope; where it ends in "/" it is taken as it
// is.
VariablePtr make_variable(Graph& graph,
                          Output initial_value,
                          const std::string& name,
                          const VariableOptions& options,
                          const std::string& shared_name = "");

// What a scope gives for a variable: one, or a value that a custom getter made.
struct VariableGetterResult {
  VariablePtr variable;  // may be none
  Output value;
};
// Gets a variable of this full name in its own way: tf.variable_scope(custom_getter = ).
using VariableGetter = std::function<VariableGetterResult(
    Graph&, const std::string& full_name, const Shape&, const VariableOptions&)>;

// Variables that get_variable() made, and the scopes it looks through.
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
  // Whether there is a variable in the scope `name` inside of the current one.
  bool has_scope(const std::string& name) const;
  // The variable "<scope>/<name>": a new one, or the one at hand, as the scope's `reuse` says.
  VariablePtr get(const std::string& name, const Shape& shape, const VariableOptions& options);
  // The same cut into parts by the scope's partitioner; one part without one.
  std::vector<VariablePtr> get_partitioned(const std::string& name,
                                           const Shape& shape,
                                           const VariableOptions& options);
  // What the scope's getter gives, or get().
  VariableGetterResult obtain(const std::string& name, const Shape& shape, const VariableOptions& options);
  // What a getter calls: get() of a full name, with the scope's defaults and no getter.
  VariablePtr get_full(const std::string& name, const Shape& shape, const VariableOptions& options);
  // Of a variable in the current scope.
  std::string full_name(const std::string& name) const {
    return current_.name.empty() ? name : current_.name + "/" + name;
  }

 private:
  Graph& graph_;
  Scope current_;
  std::map<std::string, VariablePtr> by_name_;
};

// tf.variable_scope(): a prefix for variables and, made unique, a name scope for operations.
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

// The int64 variable `global_step` of the graph; NULL where there is none.
VariablePtr global_step(const Graph& graph);
VariablePtr get_or_create_global_step(Graph& graph);
// A tensor of the step's value that hooks fetch ("global_step/add:0"); invalid where the graph has
// no global step.
Output global_step_read(Graph& graph);

}  // namespace runhooks
