// Saveable, what has values in checkpoints: named tensors that are saved and restored together.
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

// nullptr if the state has no tensor of this name, type and a single element.
const Tensor* state_scalar(const NamedTensors& state, const std::string& name, DType dtype);
// Throw kDataLoss without such a tensor.
int64_t state_integer(const NamedTensors& state, const std::string& name);
bool state_flag(const NamedTensors& state, const std::string& name);
double state_number(const NamedTensors& state, const std::string& name);
std::string state_string(const NamedTensors& state, const std::string& name);
// A name as one part of a path.
std::string path_part(const std::string& name);

// A resource that an operation keeps from run to run and that belongs into its owner's state.
class StatefulResource : public Resource {
 public:
  virtual NamedTensors save_state() const = 0;
  // A state that does not fit is an error and changes nothing. Whether it fits does not depend on
  // what it is now.
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

// A Saveable in a graph in TensorFlow's operations (graph/lowering.h): what a file that is loaded
// elsewhere saves and restores it by.
struct SaveableOps {
  struct Spec {
    std::string name;  // the key in a checkpoint
    DType dtype;
    std::string slice;  // where it lies in the key's tensor, as RestoreV2 takes it; "": all of it
  };
  std::vector<Spec> specs;
  // Adds what gives these tensors to the lowered graph, and an operation that takes them over.
  std::function<std::vector<Output>(Graph&)> values;
  std::function<Operation*(Graph&, const std::vector<Output>&)> restore;
};

// TensorFlow's SaveableObject: whatever has values in checkpoints. Who saves, restores, exports,
// evaluates or warm-starts asks Saveables and knows no kind of them. What is restored is read and
// checked first, by read(), and put in place afterwards, by what that returns: a checkpoint that
// does not fit changes nothing.
class Saveable {
 public:
  using Assign = std::function<void(ResourceManager&)>;
  virtual ~Saveable() = default;
  // Its tensor's name, or what the names of its tensors begin with.
  virtual const std::string& name() const = 0;
  // How scripts call it; what name() begins with.
  virtual const std::string& display_name() const { return op() ? op()->name() : name(); }
  virtual std::vector<SaveSpec> save(ResourceManager& resources) = 0;
  // What is required and not there is an error, and so is what does not go with what `resources`
  // have. Nothing to do is an empty function, which must not fail.
  virtual Assign read(const TensorSource& source, const ResourceManager& resources) = 0;
  virtual bool is_in(const TensorSource& source) const {
    return !source.names_with(name()).empty();
  }

  // TRUE: a part of what the model has learned, which is exported, evaluated, kept as best and
  // warm-started. FALSE: where a run stands (its input, its hooks, its random numbers), which is
  // nobody's but that run's when it goes on.
  virtual bool is_model_state() const { return false; }
  // TRUE: training changes it. One pattern of a warm start means these alone.
  virtual bool is_trainable() const { return false; }
  // The operation whose resource it is; NULL where there is none.
  virtual const Operation* op() const { return nullptr; }
  // What gives it its first value; NULL where it begins by itself.
  virtual Operation* initializer() const { return nullptr; }
  // Whether a session has it. What begins by itself, or when a hook says so, is always there.
  virtual bool is_initialized(const ResourceManager&) const { return true; }
  // Without specs: graphs in files do not save it.
  virtual SaveableOps lowered() const { return {}; }
  // NULL where it is none.
  virtual VariablePtr variable() const { return nullptr; }
};

using SaveablePtr = std::shared_ptr<Saveable>;

void assign_variable(ResourceManager& resources, const Variable& variable, const Tensor& value);
// Where a variable lies in the tensor of a checkpoint, as RestoreV2 takes it: "7 2 0,3:0,2"; ""
// where it is whole.
std::string slice_spec(const Variable& variable);
// A checkpoint that has no such variable gives it zeros instead of being refused: what hooks note
// may be missing in checkpoints of loops without them.
void mark_optional_in_checkpoint(const VariablePtr& variable);
// `name`: its key where that is not its own. With `reshape` one of another shape will do that has
// as many elements.
SaveablePtr variable_saveable(const VariablePtr& variable,
                              const std::string& name = "",
                              bool reshape = false);
// The error of a checkpoint in which there is no tensor of this name.
[[noreturn]] void throw_missing(const TensorSource& source, const std::string& name);

// What is kept beside the variables: a state below a prefix that ends in "/". It is optional: a
// checkpoint that knows nothing of it, such as TensorFlow's, leaves it as it is.
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

// What a session keeps of an operation (OpDef::resource_factory) as a part of the model, below the
// name of its handle ("ensemble:0/"), which no variable has, or below a prefix of its own. Who knows
// more of it, such as how files have it, derives from this.
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
  // For messages: "The state of 'ensemble' (...)".
  virtual std::string in_words() const;

 private:
  const Operation& op_;
};

// Gives what a session keeps of an operation this state, as Saveable::read() has to: one that does
// not fit throws at once.
Saveable::Assign read_resource_state(const Operation& op, const NamedTensors& state);

// The global variables of a graph in the order of their names, then what is in the collection
// `saveable_objects`.
std::vector<SaveablePtr> saveables_in(const Graph& graph);
// Those of them that are of the model.
std::vector<SaveablePtr> of_model(std::vector<SaveablePtr> saveables);
std::vector<SaveablePtr> model_saveables_in(const Graph& graph);
// Those of them that graphs in files save and restore, in the order of their operations' names.
std::vector<SaveablePtr> exported_saveables_in(const Graph& graph);

// Those of these that `source` has.
std::vector<SaveablePtr> saveables_among(std::vector<SaveablePtr> saveables,
                                         const TensorSource& source);
// Gives all of these their value. All are read and checked before the first is changed.
void restore_saveables(const std::vector<SaveablePtr>& saveables,
                       const TensorSource& source,
                       ResourceManager& resources);

}  // namespace runhooks
