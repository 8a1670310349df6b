// Graph: the static dataflow graph, with operations, name scopes, control dependencies and
// collections.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "graph/name_table.h"
#include "graph/op_registry.h"

namespace runhooks {

class Saveable;
class Variable;
class VariableStore;

// The possible types of an item in a collection.
using CollectionItem = std::variant<Output,
                                    Operation*,
                                    std::shared_ptr<Variable>,
                                    std::string,
                                    std::shared_ptr<Saveable>,
                                    std::shared_ptr<void>>;

class Graph;

// Builds one operation: g.op("MatMul", {x, w}).attr("transpose_b", true).named("logits").
// Converting the builder to Output or Operation* adds the operation to the graph.
class OpBuilder {
 public:
  OpBuilder(Graph& graph, const char* type, std::vector<Output> inputs)
      : graph_(graph), type_(type), inputs_(std::move(inputs)) {}
  template <typename T>
  OpBuilder& attr(const char* name, T value) {
    attrs_.set(name, AttrValue(std::move(value)));
    return *this;
  }
  OpBuilder& attr(const char* name, int value) { return attr(name, static_cast<int64_t>(value)); }
  OpBuilder& attr(const char* name, const char* value) { return attr(name, std::string(value)); }
  OpBuilder& named(std::string name) {
    name_ = std::move(name);
    return *this;
  }
  OpBuilder& after(const std::vector<Operation*>& control_inputs) {
    control_inputs_ = control_inputs;
    return *this;
  }
  Operation* build();
  operator Output() { return build()->output(0); }              // NOLINT: implicit by design
  operator Operation*() { return build(); }                     // NOLINT
  operator Gradient() { return Gradient(build()->output(0)); }  // NOLINT

 private:
  Graph& graph_;
  std::string type_, name_;
  std::vector<Output> inputs_;
  std::vector<Operation*> control_inputs_;
  AttrMap attrs_;
};

// A graph owns its operations, in the order of their creation. The id of an operation is its index.
// An edge is either an Output in the `inputs()` of another operation (data) or an Operation* in its
// `control_inputs()` (order only).
class Graph : public std::enable_shared_from_this<Graph> {
 public:
  Graph();
  virtual ~Graph();
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;

  // Adds an operation. `name` is made unique in the current name scope, unless it ends with "/".
  // Type attributes and list lengths are inferred from the inputs. Throws if the graph is finalized
  // or the inputs do not fit.
  Operation* create_op(const std::string& type,
                       const std::vector<Output>& inputs,
                       const AttrMap& attrs = {},
                       const std::string& name = "",
                       const std::vector<Operation*>& control_inputs = {});
  // Copies an operation of another graph. `inputs` must have the types and shapes of the original
  // inputs, because nothing is checked or inferred. unique_name() must have marked the operation's
  // name as used.
  Operation* copy_op(const Operation& op,
                     std::vector<Output> inputs,
                     std::vector<Operation*> control_inputs);
  OpBuilder op(const char* type, std::vector<Output> inputs = {}) {
    return OpBuilder(*this, type, std::move(inputs));
  }
  Output constant(const Tensor& value, const std::string& name = "Const");
  Output scalar(DType dtype, double value, const std::string& name = "Const") {
    return constant(Tensor::number(dtype, value), name);
  }
  // Adds a constant int32 vector. Ops take shapes and axes in this type.
  Output int_vector(const std::vector<int32_t>& values, const std::string& name = "Const") {
    return constant(Tensor::vector<int32_t>(values), name);
  }
  // Adds a no-op that runs after all of `ops`.
  Operation* group(const std::vector<Operation*>& ops, const std::string& name = "group_deps");

  const std::vector<std::unique_ptr<Operation>>& operations() const { return operations_; }
  Operation* find_operation(const std::string& name) const;
  // Finds an operation by name: "scope/op". Throws kNotFound if it does not exist.
  Operation* operation(const std::string& name) const;
  // Finds a tensor by name: "scope/op:0". Throws if it does not exist.
  Output tensor(const std::string& name) const;
  // Finds a fetch or a feed by name: "op:0" is a tensor, "op" an operation.
  std::variant<Output, Operation*> element(const std::string& name) const;

  // Returns the full name that a new operation called `name` gets in the current scope.
  std::string unique_name(const std::string& name, bool mark_as_used = true);
  const std::string& current_name_scope() const { return name_scope_; }

  // Returns the outermost graph, which owns the names, variables, collections and seed of its
  // functions.
  Graph& root() const { return *root_; }
  bool is_function() const { return root_ != this; }
  // Returns the tensor of this graph that stands for a tensor of another graph. Only a FuncGraph
  // can capture tensors; a root graph throws.
  virtual Output capture(const Output& outside);
  // Declares that an operation of an enclosing graph must run before the caller of this function.
  virtual void add_outer_control_input(Operation* outside);
  // Adds inputs and outputs to an operation that calls functions; the inputs extend the last
  // argument of its op. Sessions compare extensions() to detect the change.
  void extend(Operation& op,
              const std::vector<Output>& inputs,
              const std::vector<std::pair<DType, Shape>>& outputs);
  // Incremented by extend().
  int extensions() const { return root_->extensions_; }
  // Returns the number from which the next random op derives its default seed. Unique in the root
  // graph and its functions; in the root graph, the id of the next operation.
  int64_t seed_number() const { return first_seed_number_ + version(); }
  // Sets the seed number of the next operation, so that preceding operations that draw no random
  // numbers do not shift the seeds.
  void set_seed_number(int64_t number) { first_seed_number_ = number - version(); }

  void finalize() { finalized_ = true; }
  void unfinalize() { finalized_ = false; }
  bool finalized() const { return finalized_ || root_->finalized_; }
  // Returns the number of operations, which only grows.
  int version() const { return static_cast<int>(operations_.size()); }

  void add_to_collection(const std::string& name, CollectionItem item);
  // Returns the items whose names start with `scope`; all items if `scope` is empty.
  std::vector<CollectionItem> collection(const std::string& name,
                                         const std::string& scope = "") const;
  // Incremented by each add_to_collection().
  int collections_version() const { return root_->collections_version_; }
  std::vector<std::string> collection_names() const;

  VariableStore& variables() { return *root_->variables_; }

  // Sets the graph-level random seed. has_seed() is FALSE if it has not been set.
  void set_seed(int64_t seed) {
    seed_ = seed;
    has_seed_ = true;
  }
  bool has_seed() const { return root_->has_seed_; }
  int64_t seed() const { return root_->seed_; }

  // Data that the embedding language attaches to the graph: its handles of tensors.
  std::shared_ptr<void> foreign;
  // Cached result of exporting the graph to TensorFlow's format (class GraphExport).
  mutable std::shared_ptr<void> exported;

 protected:
  // Creates a function, with all operations in the name scope `scope` ("cond/").
  Graph(Graph& outer, const std::string& scope);

 private:
  friend class NameScope;
  friend class ControlDependencies;

  struct ControlFrame {
    std::vector<Operation*> ops;
    bool clears;
  };
  void check_not_finalized() const;
  Operation* add(std::unique_ptr<Operation> op);
  std::vector<Operation*> all_control_inputs(const std::vector<Operation*>& own,
                                             const std::vector<Output>& inputs);

  Graph* root_;
  std::vector<std::unique_ptr<Operation>> operations_;
  NameTable<Case::kSensitive> by_name_;         // ids of operations by name
  NameTable<Case::kInsensitive> names_in_use_;  // next suffix of each name, ignoring case
  std::string name_scope_;                      // "a/b/" or ""
  std::vector<ControlFrame> control_stack_;
  std::map<std::string, std::vector<CollectionItem>> collections_;
  int collections_version_ = 0;
  std::unique_ptr<VariableStore> variables_;
  bool finalized_ = false;
  bool has_seed_ = false;
  int64_t seed_ = 0;
  int extensions_ = 0, functions_ = 0;
  int64_t first_seed_number_ = 0;
};

// While in scope, adds a prefix to names of new operations. A name that ends with "/" re-enters
// that scope; "" is the root scope.
class NameScope {
 public:
  NameScope(Graph& graph, const std::string& name);
  ~NameScope() { graph_.name_scope_ = outer_; }
  NameScope(const NameScope&) = delete;
  NameScope& operator=(const NameScope&) = delete;
  const std::string& name() const { return name_; }  // ends with "/"

 private:
  Graph& graph_;
  std::string outer_, name_;
};

// While in scope, new operations run after `ops`. With `clears`, the new operations ignore the
// control dependencies of enclosing scopes.
class ControlDependencies {
 public:
  ControlDependencies(Graph& graph, std::vector<Operation*> ops, bool clears = false);
  ~ControlDependencies() { graph_.control_stack_.pop_back(); }
  ControlDependencies(const ControlDependencies&) = delete;
  ControlDependencies& operator=(const ControlDependencies&) = delete;

 private:
  Graph& graph_;
};

// Returns the name of the tensor, operation or other object; a string is its own name.
std::string collection_item_name(const CollectionItem& item);

namespace collection_keys {
constexpr const char* kGlobalVariables = "variables";
constexpr const char* kLocalVariables = "local_variables";
constexpr const char* kMetricVariables = "metric_variables";
constexpr const char* kModelVariables = "model_variables";
constexpr const char* kTrainableVariables = "trainable_variables";
constexpr const char* kGlobalStep = "global_step";
constexpr const char* kLosses = "losses";
constexpr const char* kRegularizationLosses = "regularization_losses";
constexpr const char* kSummaries = "summaries";
constexpr const char* kUpdateOps = "update_ops";
constexpr const char* kTrainOp = "train_op";
constexpr const char* kSavers = "savers";
constexpr const char* kSaveableObjects = "saveable_objects";
constexpr const char* kInitOp = "init_op";
constexpr const char* kLocalInitOp = "local_init_op";
constexpr const char* kTableInitializers = "table_initializer";
}  // namespace collection_keys

}  // namespace runhooks
