// Operation: a node of the graph. Output: one of the tensors it produces.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "graph/attr_value.h"

namespace runhooks {

class Graph;
class GradientOverride;
class Operation;
struct ArgDef;
struct OpDef;

// A symbolic tensor: output `index` of `op`.
struct Output {
  Operation* op = nullptr;
  int index = 0;

  Output() = default;
  Output(Operation* operation, int output_index) : op(operation), index(output_index) {}

  explicit operator bool() const { return op != nullptr; }
  bool operator==(const Output& other) const { return op == other.op && index == other.index; }
  bool operator!=(const Output& other) const { return !(*this == other); }

  DType dtype() const;
  const Shape& shape() const;
  // Whether the tensor is a reference to a variable, so that updates modify its value.
  bool is_ref() const;
  std::string name() const;  // "scope/op:0"
  Graph& graph() const;
};

// A node of a graph. Its edges are `inputs()` (tensors of other operations) and `control_inputs()`
// (operations that run before it). Only Graph creates and changes operations.
class Operation {
 public:
  int id() const { return id_; }
  const std::string& name() const { return name_; }
  const std::string& type() const { return type_; }
  const OpDef& def() const { return *def_; }
  Graph& graph() const { return *graph_; }

  const std::vector<Output>& inputs() const { return inputs_; }
  const Output& input(int i) const { return inputs_[static_cast<size_t>(i)]; }
  // Returns the argument of the op's definition that input i belongs to.
  const ArgDef& input_arg(int i) const { return *input_args_[static_cast<size_t>(i)]; }
  const std::vector<Operation*>& control_inputs() const { return control_inputs_; }
  int num_outputs() const { return static_cast<int>(outputs_.size()); }
  Output output(int i) { return Output(this, i); }
  std::vector<Output> outputs();
  DType output_dtype(int i) const { return outputs_[static_cast<size_t>(i)].dtype; }
  bool output_is_ref(int i) const { return outputs_[static_cast<size_t>(i)].is_ref; }
  const Shape& output_shape(int i) const { return outputs_[static_cast<size_t>(i)].shape; }
  // Merges `shape` into the inferred shape of output i.
  void set_output_shape(int i, const Shape& shape);
  // Whether set_output_shape() has refined an inferred shape. Consumers that were added before then
  // have inferred their shapes from the unrefined shape.
  bool shapes_are_refined() const { return shapes_are_refined_; }

  const AttrMap& attrs() const { return attrs_; }
  template <typename T>
  const T& attr(const char* name) const {
    const AttrValue* value = attrs_.find(name);
    const T* typed = value ? std::get_if<T>(value) : nullptr;
    if (!typed) throw_attr(name);
    return *typed;
  }
  int64_t attr_int(const char* name) const { return attr<int64_t>(name); }
  bool attr_bool(const char* name) const { return attr<bool>(name); }
  DType attr_type(const char* name) const { return attr<DType>(name); }

  // Data that cannot be an attribute, for example a dataset in memory.
  std::shared_ptr<void> payload;
  // Replaces the gradient function of the definition (tf.custom_gradient).
  std::shared_ptr<GradientOverride> gradient_override;

 private:
  friend class Graph;
  struct OutputInfo {
    DType dtype;
    bool is_ref;
    Shape shape;
  };
  [[noreturn]] void throw_attr(const char* name) const;

  int id_ = 0;
  std::string name_, type_;
  const OpDef* def_ = nullptr;
  Graph* graph_ = nullptr;
  std::vector<Output> inputs_;
  std::vector<const ArgDef*> input_args_;
  std::vector<Operation*> control_inputs_;
  std::vector<OutputInfo> outputs_;
  AttrMap attrs_;
  bool shapes_are_refined_ = false;
};

inline std::vector<Output> Operation::outputs() {
  std::vector<Output> outputs;
  for (int i = 0; i < num_outputs(); ++i) outputs.push_back(output(i));
  return outputs;
}

inline DType Output::dtype() const { return op->output_dtype(index); }
inline const Shape& Output::shape() const { return op->output_shape(index); }
inline bool Output::is_ref() const { return op->output_is_ref(index); }
inline std::string Output::name() const { return str_cat(op->name(), ":", index); }
inline Graph& Output::graph() const { return op->graph(); }

}  // namespace runhooks
