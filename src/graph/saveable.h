// Saveable: named tensors of a checkpoint that are saved and restored together.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "graph/variable.h"

namespace runhooks {

// A saved state: tensors by path ("source/position").
using NamedTensors = std::map<std::string, Tensor>;

// Returns the tensors below `prefix`, with paths relative to it.
NamedTensors subtree(const NamedTensors& tree, const std::string& prefix);
// Adds the tensors of `part` below `prefix`.
void add_subtree(NamedTensors& tree, const std::string& prefix, const NamedTensors& part);

// Returns the tensor with this name and type that has a single element; NULL if none exists.
const Tensor* state_scalar(const NamedTensors& state, const std::string& name, DType dtype);
// Return the value of such a tensor. Throw kDataLoss if none exists.
int64_t state_integer(const NamedTensors& state, const std::string& name);
bool state_flag(const NamedTensors& state, const std::string& name);
double state_number(const NamedTensors& state, const std::string& name);
std::string state_string(const NamedTensors& state, const std::string& name);
// Escapes "/" and "%" in a name, so that it can be one component of a path.
std::string escape_path_component(const std::string& name);

// The state of an operation between runs, which checkpoints contain: an ensemble of trees, for
// example.
class StatefulResource : public Resource {
 public:
  virtual NamedTensors save_state() const = 0;
  // Throws without any effect if the state does not fit the operation. Whether it fits does not
  // depend on the current state.
  virtual void restore_state(const NamedTensors& state) = 0;
};

// Returns the state that a session stores for an operation; creates it if missing. Returns NULL if
// operations of this type have no state.
StatefulResource* stateful_resource(ResourceManager& resources, const Operation& op);

// One tensor of a checkpoint, or a slice of one (TensorFlow's SaveSpec).
struct SaveSpec {
  std::string name;
  Tensor tensor;
  std::shared_ptr<const SaveSliceInfo> slice;  // NULL for the whole tensor
};

// Gives read access to the tensors of a checkpoint.
class TensorSource {
 public:
  struct Info {
    DType dtype;
    Shape shape;
  };
  virtual ~TensorSource() = default;
  virtual const std::string& path() const = 0;
  // Returns nullopt if the tensor does not exist.
  virtual std::optional<Info> find(const std::string& name) const = 0;
  virtual std::vector<std::string> names_with(const std::string& prefix) const = 0;
  virtual Tensor read(const std::string& name) const = 0;
  virtual Tensor read_part(const std::string& name, const SaveSliceInfo& slice) const = 0;
};

// How an exported graph saves and restores a Saveable with TensorFlow's ops (graph/lowering.h).
struct SaveableOps {
  struct Spec {
    std::string name;  // key in a checkpoint
    DType dtype;
    std::string slice;  // position in the key's tensor, in RestoreV2's format; "" for all of it
  };
  std::vector<Spec> specs;
  // Adds operations to the lowered graph that return the tensors to save.
  std::function<std::vector<Output>(Graph&)> values;
  // Adds an operation that assigns restored tensors.
  std::function<Operation*(Graph&, const std::vector<Output>&)> restore;
};

// TensorFlow's SaveableObject: state with values in checkpoints. Restoring has two phases, so that
// a checkpoint that does not fit changes nothing. First, read() reads and checks the values; then
// the function that it returned assigns them.
class Saveable {
 public:
  using Assign = std::function<void(ResourceManager&)>;
  virtual ~Saveable() = default;
  // Returns the key of the only tensor in checkpoints, or the prefix of the keys of all tensors.
  virtual const std::string& name() const = 0;
  // Returns the name that scripts and messages use; a prefix of name().
  virtual const std::string& display_name() const { return op() ? op()->name() : name(); }
  virtual std::vector<SaveSpec> save(ResourceManager& resources) = 0;
  // Throws if a required value is missing or does not fit `resources`. The returned function must
  // not fail; it is empty if there is nothing to do.
  virtual Assign read(const TensorSource& source, const ResourceManager& resources) = 0;
  virtual bool is_in(const TensorSource& source) const {
    return !source.names_with(name()).empty();
  }

  // Returns TRUE for learned state, such as weights: exports, evaluations, best checkpoints and
  // warm starts use it. Returns FALSE for the state of a training run (input positions, hooks,
  // random numbers), which only the resumed run restores.
  virtual bool is_model_state() const { return false; }
  // Whether an optimizer trains it. A warm start with a single name pattern selects only trainable
  // Saveables.
  virtual bool is_trainable() const { return false; }
  // Returns the operation that owns the resource, or NULL.
  virtual const Operation* op() const { return nullptr; }
  // Returns the operation that sets the initial value; NULL if the state needs no initializer.
  virtual Operation* initializer() const { return nullptr; }
  // Whether the session has a value. Always TRUE if there is no initializer.
  virtual bool is_initialized(const ResourceManager&) const { return true; }
  // Returns how exported graphs save and restore the state. Without specs, exported graphs omit the
  // state.
  virtual SaveableOps lowered() const { return {}; }
  // Returns the variable; NULL if this is not the Saveable of a variable.
  virtual VariablePtr variable() const { return nullptr; }
};

using SaveablePtr = std::shared_ptr<Saveable>;

// Assigns a value to a variable of a session.
void assign_variable(ResourceManager& resources, const Variable& variable, const Tensor& value);
// Returns the position of a variable in the tensor of a checkpoint, in the format of TensorFlow's
// op RestoreV2 ("7 2 0,3:0,2"); "" for the whole tensor.
std::string slice_spec(const Variable& variable);
// Lets a restore set this variable to zero, instead of throwing, if the checkpoint lacks it. Hooks
// add such variables, and checkpoints that were written without the hook do not contain them.
void mark_optional_in_checkpoint(const VariablePtr& variable);
// Creates the Saveable of a variable. `name` is its key in checkpoints, by default the variable's
// name. With `reshape`, a checkpoint may have another shape with the same number of elements.
SaveablePtr variable_saveable(const VariablePtr& variable,
                              const std::string& name = "",
                              bool reshape = false);
// Throws the error for a tensor that the checkpoint lacks.
[[noreturn]] void throw_missing(const TensorSource& source, const std::string& name);

// State below a prefix that ends with "/". It is optional: a checkpoint without it, such as
// TensorFlow's, leaves the state unchanged.
class StateSaveable : public Saveable {
 public:
  explicit StateSaveable(std::string prefix) : prefix_(std::move(prefix)) {}
  const std::string& name() const override { return prefix_; }
  std::vector<SaveSpec> save(ResourceManager& resources) override;
  Assign read(const TensorSource& source, const ResourceManager& resources) override;

 protected:
  virtual NamedTensors save_state(ResourceManager& resources) = 0;
  // `where` names the checkpoint in messages.
  virtual Assign read_state(const NamedTensors& state,
                            const std::string& where,
                            const ResourceManager& resources) = 0;

 private:
  std::string prefix_;
};

// The StatefulResource of an operation as model state. Checkpoints store it below the name of its
// handle ("ensemble:0/") or below another prefix. Derived classes define how exported graphs save
// it.
class ResourceSaveable : public StateSaveable {
 public:
  explicit ResourceSaveable(const Operation& op) : ResourceSaveable(op, op.name() + ":0/") {}
  ResourceSaveable(const Operation& op, std::string prefix)
      : StateSaveable(std::move(prefix)), op_(op) {}
  bool is_model_state() const override { return true; }
  const Operation* op() const override { return &op_; }

 protected:
  NamedTensors save_state(ResourceManager& resources) override;
  Assign read_state(const NamedTensors& state,
                    const std::string& where,
                    const ResourceManager& resources) override;
  // Returns the subject of error messages: "The state of 'ensemble' (...)".
  virtual std::string describe() const;

 private:
  const Operation& op_;
};

// Checks the state of an operation and returns the function that restores it in a session, like
// Saveable::read(). Throws if the state does not fit.
Saveable::Assign read_resource_state(const Operation& op, const NamedTensors& state);

// Returns the global variables of a graph, sorted by name, then the collection `saveable_objects`.
std::vector<SaveablePtr> saveables_in(const Graph& graph);
// Returns the Saveables that are model state.
std::vector<SaveablePtr> filter_model_state(std::vector<SaveablePtr> saveables);
std::vector<SaveablePtr> model_saveables_in(const Graph& graph);
// Returns the Saveables that exported graphs save and restore, sorted by the names of their
// operations.
std::vector<SaveablePtr> exported_saveables_in(const Graph& graph);

// Returns the Saveables that `source` contains.
std::vector<SaveablePtr> saveables_in_source(std::vector<SaveablePtr> saveables,
                                         const TensorSource& source);
// Restores all values. An error leaves the session unchanged: all values are read and checked
// before the first is assigned.
void restore_saveables(const std::vector<SaveablePtr>& saveables,
                       const TensorSource& source,
                       ResourceManager& resources);

}  // namespace runhooks
