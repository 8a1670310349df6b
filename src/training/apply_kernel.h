// What lives here: what the kernels of the Apply* ops share: their registration for both kinds of variables and a view
// of their inputs.
// Who may use it: one file an optimizer.
// What it must not know: any particular update rule, R.
#pragma once

#include <string>
#include <vector>

#include "graph/op_registry.h"
#include "graph/variable.h"

namespace runhooks {

// The inputs of an update: `num_refs` variables (the trained one and its slots), then scalars and
// the gradient.
template <typename T>
class ApplyInputs {
 public:
  ApplyInputs(KernelContext& c, int num_refs) : c_(c), n_(state(0).value().num_elements()) {
    for (int i = 0; i < num_refs; ++i) {
      if (state(i).value().num_elements() != n_) {
        invalid_argument("'", state(i).name(), "' must have as many elements as '", state(0).name(),
                         "'.");
      }
    }
  }
  int64_t size() const { return n_; }
  T* variable(int i) { return state(i).value().template data<T>(); }
  T scalar(int i) const { return *c_.input(i).data<T>(); }
  const T* gradient(int i) const {
    if (c_.input(i).num_elements() != n_) {
      invalid_argument("The gradient has shape ", c_.input(i).shape(), ", but the variable has ",
                       n_, " elements.");
    }
    return c_.input(i).data<T>();
  }
  int64_t whole_scalar(int i) const { return *c_.input(i).data<int64_t>(); }
  const Operation& op() const { return c_.op(); }

 private:
  VariableState& state(int i) const {
    auto& found = c_.input_resource<VariableState>(i);
    if (!found.is_initialized()) {
      fail(Code::kFailedPrecondition, "Attempting to use uninitialized value ", found.name(), ".");
    }
    return found;
  }
  KernelContext& c_;
  int64_t n_;
};

// Rule has kRefs, the number of variables, and `template <typename T> static void
// apply(ApplyInputs<T>& in)`.
template <typename Rule>
struct ApplyRule {
  template <typename T>
  class Kernel : public runhooks::Kernel {
   public:
    void compute(KernelContext& c) override {
      ApplyInputs<T> inputs(c, Rule::kRefs);
      Rule::apply(inputs);
      if (c.num_outputs() > 0) {
        auto& state = c.input_resource<VariableState>(0);
        c.set_output_resource(0, &state);
        c.alias_output(0, state.value());
      }
    }
  };
};

// Registers Apply<name> (reference variables) and ResourceApply<name> (resource variables). `refs`
// are the variables; `inputs` are specifications of the other inputs ("grad: T").
template <typename Rule>
bool register_apply_op(const char* name,
                       const std::vector<std::string>& refs,
                       const std::vector<std::string>& inputs,
                       const std::vector<std::string>& attrs = {}) {
  for (const bool is_resource : {false, true}) {
    // The registry keeps what it needs of these words.
    const std::string type = str_cat(is_resource ? "Resource" : "", "Apply", name);
    OpRegistration op(type.c_str());
    for (size_t i = 0; i < refs.size(); ++i) {
      op.input(str_cat(refs[i], is_resource ? ": resource" : ": Ref(T)").c_str());
      op.mutates(static_cast<int>(i));
    }
    for (const std::string& input : inputs) op.input(input.c_str());
    if (!is_resource) op.output("out: Ref(T)");
    op.attr("T: {float, double}").attr("use_locking: bool = false");
    for (const std::string& attr : attrs) op.attr(attr.c_str());
    op.shape([is_resource](ShapeContext& c) {
        if (is_resource) return;
        const AttrValue* shape = c.op().input(0).op->attrs().find("shape");
        if (shape) c.set_output(0, std::get<Shape>(*shape));
      })
        .kernel(kernel_by_type<ApplyRule<Rule>::template Kernel, float, double>())
        .not_differentiable()
        .endpoint(str_cat("raw_ops.", type).c_str())
        .summary("One step of an optimizer on one variable.");
  }
  return true;
}

#define RUNHOOKS_REGISTER_APPLY_OP(Rule, ...)                                       \
  [[maybe_unused]] static const bool RUNHOOKS_CONCAT(apply_registered_, __LINE__) = \
      ::runhooks::register_apply_op<Rule>(__VA_ARGS__)

}  // namespace runhooks
