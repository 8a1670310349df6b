// Variable (its operations in a graph), VariableState (its value in a session), variable scopes.
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
  // Counts how often variables of this process have changed buffers. Cached pointers to values are
  // valid while the count is unchanged.
  static uint64_t moves() { return moves_.load(std::memory_order_relaxed); }
  // Copies into the current buffer if the shape matches, so that prepared kernels remain valid.
  // Throws if the value has another type.
  void assign(const Tensor& value);
  // Like assign(), but takes over the buffer of a large value if nothing else shares it.
  void take(Tensor value);

 private:
  void adopt_buffer(Tensor value);
  static std::atomic<uint64_t> moves_;
  std::string name_;
  DType dtype_;
  Tensor value_;
};

// The position of one part of a partitioned variable in the full tensor. Checkpoints store it.
struct SaveSliceInfo {
  std::string full_name;
  Shape full_shape;
  std::vector<int64_t> offset;
  Shape shape;
};

// Maps the value of a variable to a regularization loss, or to a constrained value.
using VariableTransform = std::function<Output(Graph&, Output)>;

class Variable {
 public:
  Output handle;    // of the op that holds the variable ("w")
  Output snapshot;  // its value: "w/read:0" or "w/Read/ReadVariableOp:0"
  Operation* initializer = nullptr;  // assigns `initial_value`
  Output initial_value;
  std::string shared_name;  // differs from the op's name inside a name scope
  DType dtype = DType::kInvalid;
  Shape shape;
  bool trainable = true;
  bool is_resource = false;
  // Optimizers apply it to the value after each step; may be empty.
  VariableTransform constraint;
  std::shared_ptr<SaveSliceInfo> slice;

  const std::string& op_name() const { return handle.op->name(); }
  std::string name() const { return handle.name(); }
  const std::string& save_name() const { return slice ? slice->full_name : shared_name; }
  Graph& graph() const { return handle.graph(); }
};

using VariablePtr = std::shared_ptr<Variable>;
using Initializer = std::function<Output(Graph&, const Shape&, DType)>;
// Returns the number of partitions per axis.
using Partitioner = std::function<std::vector<int64_t>(const Shape&, DType)>;

Initializer zeros_initializer();
// The initializer of floating-point variables without one. nn/initializer.cpp sets it, because this
// module does not depend on random ops.
Initializer& default_initializer();
Initializer constant_initializer(double value);

// `handle` is the op that holds the variable. NULL if the session has no state for it.
VariableState* find_variable_state(const ResourceManager& resources, const Operation& handle);
// The attribute `shape` of an operation that holds a variable; unknown if it has none.
Shape declared_shape(const Operation& handle);

struct VariableOptions {
  DType dtype = DType::kFloat32;
  Initializer initializer;  // empty: zeros for integers and bools, else default_initializer()
  bool trainable = true;
  bool use_resource = false;
  VariableTransform regularizer, constraint;
  std::vector<std::string> collections = {collection_keys::kGlobalVariables};
};

// Adds a variable whose dtype and shape are those of `initial_value`. Makes `name` unique in the
// current name scope, unless it ends in "/": then it is the full name.
VariablePtr make_variable(Graph& graph,
                          Output initial_value,
                          const std::string& name,
                          const VariableOptions& options,
                          const std::string& shared_name = "");

struct VariableGetterResult {
  VariablePtr variable;  // NULL if a custom getter returned only a value
  Output value;
};
// Replaces VariableStore::get() in a scope: tf.variable_scope(custom_getter = ).
using VariableGetter = std::function<VariableGetterResult(
    Graph&, const std::string& full_name, const Shape&, const VariableOptions&)>;

// The variables created by tf.get_variable(), by full name, and the current variable scope.
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
  // Whether the scope `name` within the current scope contains a variable.
  bool has_scope(const std::string& name) const;
  // Creates the variable "<scope>/<name>" or returns the existing one. Throws if the `reuse` of the
  // scope does not allow this.
  VariablePtr get(const std::string& name, const Shape& shape, const VariableOptions& options);
  // Like get(), but the partitioner of the scope splits the variable. Returns one part without a
  // partitioner.
  std::vector<VariablePtr> get_partitioned(const std::string& name,
                                           const Shape& shape,
                                           const VariableOptions& options);
  // Calls the getter of the scope, or get() if it has none.
  VariableGetterResult obtain(const std::string& name,
                              const Shape& shape,
                              const VariableOptions& options);
  // For custom getters: get() with a full name and the defaults of the scope, without its getter.
  VariablePtr get_full(const std::string& name, const Shape& shape, const VariableOptions& options);
  std::string full_name(const std::string& name) const {
    return current_.name.empty() ? name : current_.name + "/" + name;
  }

 private:
  Graph& graph_;
  Scope current_;
  std::map<std::string, VariablePtr> by_name_;
};

// RAII form of tf.variable_scope(): a prefix for variables, and a name scope for operations with
// the same name made unique.
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

// The int64 variable `global_step`; NULL if the graph has none.
VariablePtr global_step(const Graph& graph);
VariablePtr get_or_create_global_step(Graph& graph);
// The tensor that hooks fetch for the global step ("global_step/add:0"); invalid if the graph has
// no global step.
Output global_step_read(Graph& graph);

}  // namespace runhooks
