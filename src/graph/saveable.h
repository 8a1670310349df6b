// What lives here: Saveable, what has values in checkpoints: named tensors that are saved and restored together.
// Who may use it: every layer above graph: variables, iterators, tables, ensembles, states of hooks.
// What it must not know: the files of checkpoints, when to save, R.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "graph/variable.h"

namespace runhooks {

// A state as a tree: the names are its paths ("source/position").
using NamedTensors = std::map<std::string, Tensor>;

// The part of a state below `prefix`, and a state put below it.
NamedTensors subtree(const NamedTensors& tree, const std::string& prefix);
void add_subtree(NamedTensors& tree, const std::string& prefix, const NamedTensors& part);

// The integer of this name in a state; one that is missing or no integer is kDataLoss.
int64_t state_integer(const NamedTensors& state, const std::string& name);
// A name as one part of a path.
std::string path_part(const std::string& name);

// A resource that an operation keeps from run to run and that belongs into its owner's state.
class StatefulResource : public Resource {
 public:
  virtual NamedTensors save_state() const = 0;
  // A state that does not fit is an error and changes nothing.
  virtual void restore_state(const NamedTensors& state) = 0;
};

// What a session keeps of an operation, made where there is none yet.
// NULL where operations of this type have none.
StatefulResource* stateful_resource(ResourceManager& resources, const Operation& op);

// One tensor of a checkpoint, or a part of one (TensorFlow's SaveSpec).
struct SaveSpec {
  std::string name;
  Tensor tensor;
  std::shared_ptr<const SaveSliceInfo> slice;  // NULL: all of it
};

// A checkpoint, as those see it who take their values from it.
class TensorSource {
 public:
  struct Info {
    DType dtype;
    Shape shape;
  };
  virtual ~TensorSource() = default;
  virtual const std::string& path() const = 0;
  // Nothing where there is no such tensor.
  virtual std::optional<Info> find(const std::string& name) const = 0;
  virtual std::vector<std::string> names_with(const std::string& prefix) const = 0;
  virtual Tensor read(const std::string& name) const = 0;
  virtual Tensor read_part(const std::string& name, const SaveSliceInfo& slice) const = 0;
};

// TensorFlow's SaveableObject. What is restored is read and checked first, by read(), and put in
// place afterwards, by what that returns: a checkpoint that does not fit changes nothing.
class Saveable {
 public:
  using Assign = std::function<void(ResourceManager&)>;
  virtual ~Saveable() = default;
  // Its tensor's name, or what the names of its tensors begin with.
  virtual const std::string& name() const = 0;
  virtual std::vector<SaveSpec> save(ResourceManager& resources) = 0;
  // What is required and not there is an error. Nothing to do is an empty function.
  virtual Assign read(const TensorSource& source) = 0;
};

using SaveablePtr = std::shared_ptr<Saveable>;

SaveablePtr variable_saveable(const VariablePtr& variable);
// A checkpoint that has no such variable gives it zeros instead of being refused: what hooks note
// may be missing in checkpoints of loops without them.
void may_be_missing(const VariablePtr& variable);
// The value of a variable in a checkpoint, under this name: one that is missing, or has another
// shape or type, is an error that says so.
Tensor read_variable(const TensorSource& source, const Variable& variable, const std::string& name);

// What is kept beside the variables: a state below a prefix that ends in "/". It is optional: a
// checkpoint that knows nothing of it, such as TensorFlow's, leaves it as it is.
class StateSaveable : public Saveable {
 public:
  explicit StateSaveable(std::string prefix) : prefix_(std::move(prefix)) {}
  const std::string& name() const override { return prefix_; }
  std::vector<SaveSpec> save(ResourceManager& resources) override;
  Assign read(const TensorSource& source) override;

 protected:
  virtual NamedTensors save_state(ResourceManager& resources) = 0;
  // `where` is the checkpoint, for messages.
  virtual Assign read_state(const NamedTensors& state, const std::string& where) = 0;

 private:
  std::string prefix_;
};

// The global variables of a graph in the order of their names, then what is in the collection
// `saveable_objects`.
std::vector<SaveablePtr> saveables_in(const Graph& graph);

}  // namespace runhooks
