#include "graph/lowering.h"

#include <algorithm>

namespace runhooks {

namespace {

class Lowering {
 public:
  explicit Lowering(const Graph& from) : from_(from), to_(std::make_shared<Graph>()) {
    for (const CollectionItem& item : from.collection(collection_keys::kLocalInitOp)) {
      if (auto* const* op = std::get_if<Operation*>(&item)) local_init_ops_.push_back(*op);
    }
  }
  std::shared_ptr<Graph> run() {
    // What lowering adds must not take a name that comes later.
    for (const auto& op : from_.operations()) to_->unique_name(op->name());
    for (const auto& op : from_.operations()) {
      Operation* made = op->def().lower_fn ? lower(*op) : copy(*op);
      for (int i = 0; i < made->num_outputs(); ++i) made->set_output_shape(i, op->output_shape(i));
      made->payload = op->payload;
      made_.push_back(made);
    }
    for (const std::string& name : from_.collection_names()) {
      for (const CollectionItem& item : from_.collection(name)) {
        to_->add_to_collection(name, mapped(item));
      }
    }
    return to_;
  }

 private:
  Output mapped(const Output& output) const {
    return {made_[static_cast<size_t>(output.op->id())], output.index};
  }
  CollectionItem mapped(const CollectionItem& item) const {
    if (const auto* output = std::get_if<Output>(&item)) return mapped(*output);
    if (auto* const* op = std::get_if<Operation*>(&item)) {
      return made_[static_cast<size_t>((*op)->id())];
    }
    return item;
  }
  std::vector<Output> inputs_of(const Operation& op) const {
    std::vector<Output> inputs;
    for (const Output& input : op.inputs()) inputs.push_back(mapped(input));
    return inputs;
  }
  std::vector<Operation*> controls_of(const Operation& op) const {
    std::vector<Operation*> controls;
    for (const Operation* control : op.control_inputs()) {
      controls.push_back(made_[static_cast<size_t>(control->id())]);
    }
    // as tf.train.Scaffold, whose local_init_op initializes the tables too
    if (std::find(local_init_ops_.begin(), local_init_ops_.end(), &op) != local_init_ops_.end()) {
      for (const CollectionItem& item : to_->collection(collection_keys::kTableInitializers)) {
        controls.push_back(std::get<Operation*>(item));
      }
    }
    return controls;
  }
  Operation* copy(const Operation& op) {
    return to_->create_op(op.type(), inputs_of(op), op.attrs(), op.name() + "/", controls_of(op));
  }
  Operation* lower(const Operation& op) {
    {
      const ControlDependencies after(*to_, controls_of(op));
      const NameScope scope(*to_, op.name() + "/");
      op.def().lower_fn(*to_, op, inputs_of(op));
    }
    Operation* made = to_->find_operation(op.name());
    bool fits = made && made->num_outputs() == op.num_outputs();
    for (int i = 0; fits && i < op.num_outputs(); ++i) {
      fits = made->output_dtype(i) == op.output_dtype(i);
    }
    if (!fits) {
      fail(Code::kInternal, "What op '", op.name(), "' (", op.type(),
           ") was lowered to has other outputs.");
    }
    return made;
  }

  const Graph& from_;
  std::shared_ptr<Graph> to_;
  std::vector<Operation*> made_;  // by the id of what it was made from
  std::vector<const Operation*> local_init_ops_;
};

}  // namespace

std::shared_ptr<Graph> lowered_graph(const Graph& graph) { return Lowering(graph).run(); }

}  // namespace runhooks
