// Kernels and registration of the Apply* ops, for reference and resource variables.
#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include "base/parallel_for.h"
#include "graph/op_registry.h"
#include "training/apply_inputs.h"
#include "training/batched_updates.h"

namespace runhooks {

// How a rule updates rows of a variable: not at all, by its function apply() for each row, or by
// a function `template <typename T> static void apply_rows(ApplyInputs<T>& in)`.
enum class SparseUpdate { kNone, kElementwise, kCustom };

// A rule defines kUsesAllElements if the step of an element depends on other elements of the
// variable. Updates by such a rule are not split among threads and not batched.
template <typename Rule, typename = void>
struct UsesAllElements : std::false_type {};
template <typename Rule>
struct UsesAllElements<Rule, std::void_t<decltype(Rule::kUsesAllElements)>> : std::true_type {};

// Returns the index of the input `name`, or -1.
inline int input_index(const OpDef& def, const char* name) {
  for (size_t i = 0; i < def.inputs.size(); ++i) {
    if (def.inputs[i].name == name) return static_cast<int>(i);
  }
  return -1;
}

// The kernels of an update. `Rule` must define kNumVariables, the number of variables (at most 4),
// kSparse, a SparseUpdate, and `template <typename T> static void apply(ApplyInputs<T>& in)`.
template <typename Rule>
struct ApplyRule {
  static void forward_variable(KernelContext& c) {
    if (c.num_outputs() == 0) return;
    auto& state = c.input_resource<VariableState>(0);
    c.set_output_resource(0, &state);
    c.alias_output(0, state.value());
  }
  template <typename T>
  class Kernel : public runhooks::Kernel {
   public:
    bool uses_threads() const override { return uses_threads_; }
    void prepare(KernelContext& c) override {
      inputs_.reset();
      const OpDef& def = c.op().def();
      gradient_input_ = std::max(input_index(def, "grad"), input_index(def, "delta"));
      uses_threads_ = !UsesAllElements<Rule>::value && gradient_input_ >= 0 &&
                      is_worth_parallelizing(c.input(gradient_input_).num_elements());
    }
    void compute(KernelContext& c) override {
      const uint64_t relocations = VariableState::relocation_count();
      if (!inputs_ || relocations_seen_ != relocations) {
        inputs_.emplace(c, Rule::kNumVariables);
        relocations_seen_ = relocations;
      }
      if (uses_threads_) {
        inputs_->gradient(gradient_input_);  // throws here, not on another thread, if it is invalid
        apply_in_parallel(*inputs_);
      } else {
        Rule::apply(*inputs_);
      }
      forward_variable(c);
    }
    bool can_batch_with(const KernelContext& own_context, const GroupMember& other) const override {
      const KernelContext& other_context = *other.context;
      return !UsesAllElements<Rule>::value && gradient_input_ >= 0 &&
             can_batch_updates(own_context, other_context, Rule::kNumVariables, gradient_input_);
    }
    std::unique_ptr<KernelGroup> group(const std::vector<GroupMember>& members) override {
      return std::make_unique<ScalarUpdateBatch<T>>(members, Rule::kNumVariables, gradient_input_,
                                                    &Rule::template apply<T>);
    }

   private:
    static void apply_in_parallel(const ApplyInputs<T>& inputs) {
      parallel_for_range(inputs.size(), [&inputs](int64_t first, int64_t count) {
        ApplyInputs<T> range = inputs;
        range.select_range(first, count);
        Rule::apply(range);
      });
    }
    // Cached while no buffer of a variable moves, because looking up the inputs takes longer than a
    // small update.
    std::optional<ApplyInputs<T>> inputs_;
    uint64_t relocations_seen_ = 0;
    int gradient_input_ = -1;
    bool uses_threads_ = false;
  };
  template <typename T>
  class RowsKernel : public runhooks::Kernel {
   public:
    void prepare(KernelContext& c) override {
      indices_input_ = input_index(c.op().def(), "indices");
    }
    void compute(KernelContext& c) override {
      ApplyInputs<T> inputs(c, Rule::kNumVariables);
      inputs.select_indices(indices_input_);
      if constexpr (Rule::kSparse == SparseUpdate::kCustom) {
        Rule::apply_rows(inputs);
      } else {
        for (int64_t i = 0; i < inputs.num_rows(); ++i) {
          inputs.select_row(i);
          Rule::apply(inputs);
        }
      }
      forward_variable(c);
    }

   private:
    int indices_input_ = 0;
  };
};

// Registers Apply<name> (reference variables) and ResourceApply<name> (resource variables), and
// SparseApply<name> and ResourceSparseApply<name> if the rule has a sparse form. `variables` are
// the variables; `inputs` are specifications of the other inputs ("grad: T"). `lower` and
// `lower_rows` translate dense and sparse updates for which TensorFlow has no op.
template <typename Rule>
bool register_apply_op(const char* name,
                       const std::vector<std::string>& variables,
                       const std::vector<std::string>& inputs,
                       const std::vector<std::string>& attrs = {},
                       const LowerFn& lower = nullptr,
                       const LowerFn& lower_rows = nullptr) {
  for (int variant = 0; variant < 4; ++variant) {
    const bool is_resource = variant % 2 == 1, is_sparse = variant >= 2;
    if (is_sparse && Rule::kSparse == SparseUpdate::kNone) continue;
    const std::string type =
        str_cat(is_resource ? "Resource" : "", is_sparse ? "Sparse" : "", "Apply", name);
    OpRegistration op(type.c_str());
    for (size_t i = 0; i < variables.size(); ++i) {
      op.input(
          str_cat(variables[i], is_resource ? ": resource, variable of T" : ": Ref(T)").c_str());
      op.mutates(static_cast<int>(i));
    }
    for (const std::string& input : inputs) {
      const bool is_gradient = input == "grad: T" || input == "delta: T";
      // As in TensorFlow, a gradient called `delta` in the dense op is called `grad` in sparse ops.
      const std::string gradient = is_sparse ? "grad: T" : input;
      op.input((is_gradient ? gradient : str_cat(input, ", scalar")).c_str());
      if (is_sparse && is_gradient) op.input("indices: Tindices, vector");
    }
    if (!is_resource) op.output("out: Ref(T)");
    op.attr("T: {float, double}").attr("use_locking: bool = false");
    if (is_sparse) op.attr("Tindices: {int32, int64}");
    for (const std::string& attr : attrs) op.attr(attr.c_str());
    op.shape([is_resource](ShapeContext& c) {
        if (!is_resource) c.set_output(0, declared_shape(*c.op().input(0).op));
      })
        .updates_variables()
        .not_differentiable()
        .lower(is_sparse ? lower_rows : lower)
        .endpoint(str_cat("raw_ops.", type).c_str())
        .summary(is_sparse ? "Applies an optimizer step to rows of a variable."
                           : "Applies an optimizer step to a variable.");
    if constexpr (Rule::kSparse == SparseUpdate::kNone) {
      op.kernel(kernel_by_type<ApplyRule<Rule>::template Kernel, float, double>());
    } else {
      op.kernel(is_sparse ? kernel_by_type<ApplyRule<Rule>::template RowsKernel, float, double>()
                          : kernel_by_type<ApplyRule<Rule>::template Kernel, float, double>());
    }
  }
  return true;
}

#define RUNHOOKS_REGISTER_APPLY_OP(Rule, ...)                                          \
  [[maybe_unused]] static const bool RUNHOOKS_CONCAT(apply_registered_, __COUNTER__) = \
      ::runhooks::register_apply_op<Rule>(__VA_ARGS__)

}  // namespace runhooks
