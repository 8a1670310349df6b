// Saveable: an object with values in checkpoints, such as a variable or the state of a hook.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "graph/variable.h"

namespace runhooks {

// A state as a tree of tensors whose names are paths ("source/position").
using NamedTensors = std::map<std::string, Tensor>;

// Extract the tensors below `prefix`, without the prefix, and the inverse.
NamedTensors subtree(const NamedTensors& tree, const std::string& prefix);
void add_subtree(NamedTensors& tree, const std::string& prefix, const NamedTensors& part);

// nullptr if the state has no tensor of this name, type and a single element.
const Tensor* state_scalar(const NamedTensors& state, const std::string& name, DType dtype);
// Throw kDataLoss without such a tensor.
int64_t state_integer(const NamedTensors& state, const std::string& name);
bool state_flag(const NamedTensors& state, const std::string& name);
double state_number(const NamedTensors& state, const std::string& name);
std::string state_string(const NamedTensors& state, const std::string& name);
// Escapes "/" in a name so that it can be one component of a path.
std::string path_part(const std::string& name);

// A resource of an operation whose state is saved in checkpoints.
class StatefulResource : public Resource {
 public:
  virtual NamedTensors save_state() const = 0;
  // Throws for an invalid state and then changes nothing. Validity must not depend on the current
  // state: read_resource_state() validates on a new resource.
  virtual void restore_state(const NamedTensors& state) = 0;
};

// Returns the resource of an operation and creates it on first use. NULL if operations of this type
// have none.
StatefulResource* stateful_resource(ResourceManager& resources, const Operation& op);

// One tensor of a checkpoint, or a part of one (TensorFlow's SaveSpec).
struct SaveSpec {
  std::string name;
  Tensor tensor;
  std::shared_ptr<const SaveSliceInfo> slice;  // NULL: all of it
};

// Read access to a checkpoint, in a file or in memory.
class TensorSource {
 public:
  struct Info {
    DType dtype;
    Shape shape;
  };
  virtual ~TensorSource() = default;
  virtual const std::string& path() const = 0;
  virtual std::optional<Info> find(const std::string& name) const = 0;
  virtual std::vector<std::string> names_with(const std::string& prefix) const = 0;
  virtual Tensor read(const std::string& name) const = 0;
  virtual Tensor read_part(const std::string& name, const SaveSliceInfo& slice) const = 0;
};

// The operations that save and restore a Saveable in an exported graph (graph/lowering.h).
struct SaveableOps {
  struct Spec {
    std::string name;  // the key in a checkpoint
    DType dtype;
    std::string slice;  // the slice of the tensor in RestoreV2's format; "": the whole tensor
  };
  std::vector<Spec> specs;
  // Adds operations that compute these tensors to the lowered graph.
  std::function<std::vector<Output>(Graph&)> values;
  // Adds an operation that assigns restored tensors.
  std::function<Operation*(Graph&, const std::vector<Output>&)> restore;
};

// TensorFlow's SaveableObject. Saving, restoring, exporting, evaluation and warm starts use only
// this interface. Restoring has two phases: read() loads and checks the values of each Saveable,
// and the functions that it returns assign them. So an incompatible checkpoint changes nothing.
class Saveable {
 public:
  using Assign = std::function<void(ResourceManager&)>;
  virtual ~Saveable() = default;
  // The name of its tensor, or the prefix of the names of its tensors.
  virtual const std::string& name() const = 0;
  // The name in messages and scripts; a prefix of name().
  virtual const std::string& display_name() const { return op() ? op()->name() : name(); }
  virtual std::vector<SaveSpec> save(ResourceManager& resources) = 0;
  // Throws if a required value is missing or incompatible with `resources`. The returned function
  // must not fail; it is empty if there is nothing to assign.
  virtual Assign read(const TensorSource& source, const ResourceManager& resources) = 0;
  virtual bool is_in(const TensorSource& source) const {
    return !source.names_with(name()).empty();
  }

  // TRUE for learned state, which is exported, evaluated, kept as the best model and warm-started.
  // FALSE for the progress of a run (positions in the input, hooks, random generators), which only
  // a resumed run restores.
  virtual bool is_model_state() const { return false; }
  // TRUE if training changes it. A warm start with a single pattern selects only these.
  virtual bool is_trainable() const { return false; }
  // The operation that holds its value in a session, or NULL.
  virtual const Operation* op() const { return nullptr; }
  // NULL if it needs no initialization.
  virtual Operation* initializer() const { return nullptr; }
  // TRUE for Saveables without an initializer.
  virtual bool is_initialized(const ResourceManager&) const { return true; }
  // Returns no specs if exported graphs do not save it.
  virtual SaveableOps lowered() const { return {}; }
  // NULL if it is not a variable.
  virtual VariablePtr variable() const { return nullptr; }
};

using SaveablePtr = std::shared_ptr<Saveable>;

void assign_variable(ResourceManager& resources, const Variable& variable, const Tensor& value);
// The slice of a partitioned variable in RestoreV2's format, such as "7 2 0,3:0,2"; "" for other
// variables.
std::string slice_spec(const Variable& variable);
// Restores zeros if a checkpoint lacks the variable. Used for variables of hooks, which are missing
// in checkpoints of training loops without these hooks.
void mark_optional_in_checkpoint(const VariablePtr& variable);
// `name` is the key in checkpoints, by default that of the variable. `reshape` accepts tensors with
// another shape and the same number of elements.
SaveablePtr variable_saveable(const VariablePtr& variable,
                              const std::string& name = "",
                              bool reshape = false);
[[noreturn]] void throw_missing(const TensorSource& source, const std::string& name);

// State other than variables, below a prefix that ends in "/". It is optional: restoring from a
// checkpoint without it, such as TensorFlow's, leaves it unchanged.
class StateSaveable : public Saveable {
 public:
  explicit StateSaveable(std::string prefix) : prefix_(std::move(prefix)) {}
  const std::string& name() const override { return prefix_; }
  std::vector<SaveSpec> save(ResourceManager& resources) override;
  Assign read(const TensorSource& source, const ResourceManager& resources) override;

 protected:
  virtual NamedTensors save_state(ResourceManager& resources) = 0;
  // `where` is the checkpoint, for messages.
  virtual Assign read_state(const NamedTensors& state,
                            const std::string& where,
                            const ResourceManager& resources) = 0;

 private:
  std::string prefix_;
};

// The resource of an operation (OpDef::resource_factory) as model state. The default prefix is the
// name of the handle ("ensemble:0/"), which cannot collide with a variable. Derived classes may
// add, for example, the operations for exported graphs.
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
  // The subject of error messages: "The state of 'ensemble' (...)".
  virtual std::string in_words() const;

 private:
  const Operation& op_;
};

// Implements Saveable::read() for the resource of an operation. Throws for an invalid state.
Saveable::Assign read_resource_state(const Operation& op, const NamedTensors& state);

// The global variables of a graph, sorted by name, then the collection `saveable_objects`.
std::vector<SaveablePtr> saveables_in(const Graph& graph);
// Keeps only model state, see is_model_state().
std::vector<SaveablePtr> of_model(std::vector<SaveablePtr> saveables);
std::vector<SaveablePtr> model_saveables_in(const Graph& graph);
// The Saveables that exported graphs save and restore, sorted by the names of their operations.
std::vector<SaveablePtr> exported_saveables_in(const Graph& graph);

// Keeps only the Saveables that `source` contains.
std::vector<SaveablePtr> saveables_among(std::vector<SaveablePtr> saveables,
                                         const TensorSource& source);
// Reads and checks all values before it assigns the first one.
void restore_saveables(const std::vector<SaveablePtr>& saveables,
                       const TensorSource& source,
                       ResourceManager& resources);

}  // namespace runhooks
