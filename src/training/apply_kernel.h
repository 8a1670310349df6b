// What lives here: what the kernels of the Apply* ops share: their registration for both kinds of variables and a view
// of their inputs.
// Who may use it: one file an optimizer.
// What it must not know: any particular update rule, R.
#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include "base/inline.h"
#include "base/shared_pieces.h"
#include "graph/op_registry.h"
#include "graph/variable.h"

namespace runhooks {

// The inputs of an update: `num_refs` variables (the trained one and its slots), then scalars and
// the gradient. A sparse update has the indices of the gradient's rows behind the gradient and is
// seen one row at a time; the places of the inputs are counted without them.
template <typename T>
class ApplyInputs {
 public:
  ApplyInputs(KernelContext& c, int num_refs)
      : c_(c), n_(state(0).value().num_elements()), num_variables_(num_refs) {
    for (int i = 0; i < num_refs; ++i) {
      if (state(i).value().num_elements() != n_) {
        invalid_argument("'", state(i).name(), "' must have as many elements as '", state(0).name(),
                         "'.");
      }
      variables_[i] = state(i).value().template data<T>();
    }
  }
  // Of what is seen: a row, or all.
  int64_t size() const { return n_; }
  T* variable(int i) const { return variables_[i] + offset_; }
  T scalar(int i) const { return *c_.input(place(i)).template data<T>(); }
  int64_t whole_scalar(int i) const { return *c_.input(place(i)).template data<int64_t>(); }
  const T* gradient(int i) const {
    if (c_.input(i).num_elements() != (expected_gradient_ < 0 ? n_ : expected_gradient_)) {
      invalid_argument("The gradient has shape ", c_.input(i).shape(),
                       ", but the variable has shape ", state(0).value().shape(), ".");
    }
    return c_.input(i).template data<T>() + gradient_offset_;
  }
  const Operation& op() const { return c_.op(); }

  // Only some elements of the variable are seen from here on.
  void select_range(int64_t first, int64_t n) {
    expected_gradient_ = n_;
    offset_ = gradient_offset_ = first;
    n_ = n;
  }

  // --- a sparse update: `at` is where the indices are
  void begin_rows(int at) {
    indices_at_ = at;
    const Shape& shape = state(0).value().shape();
    rows_ = shape.rank() > 0 ? shape.dim(0) : 0;
    n_ = rows_ > 0 ? n_ / rows_ : 0;
    const Tensor& indices = c_.input(at);
    num_rows_ = indices.num_elements();
    expected_gradient_ = num_rows_ * n_;
    narrow_ = indices.dtype() == DType::kInt32 ? indices.template data<int32_t>() : nullptr;
    wide_ = narrow_ ? nullptr : indices.template data<int64_t>();
  }
  int64_t num_rows() const { return num_rows_; }
  void select_row(int64_t i) {
    const int64_t row = narrow_ ? narrow_[i] : wide_[i];
    if (row < 0 || row >= rows_) {
      invalid_argument("indices[", i, "] = ", row, " is not in [0, ", rows_, ") of '",
                       state(0).name(), "'.");
    }
    offset_ = row * n_;
    gradient_offset_ = i * n_;
    if (i == 0) {
      for (int64_t first = 1; first < ahead_; ++first) prefetch(first);
    }
    prefetch(i + ahead_);
  }
  // How far ahead of the selected row memory is asked for.
  void look_ahead(int64_t rows) { ahead_ = rows; }
  // Known where the gradient comes from an op that adds what belongs to the same row.
  bool has_distinct_rows() const { return op().input(indices_at_).op->def().has_distinct_rows; }
  // Of the whole variable.
  int64_t whole_size() const { return n_ * rows_; }

 private:
  RUNHOOKS_INLINE void prefetch(int64_t i) const {
    if (i >= num_rows_) return;
    const int64_t row = narrow_ ? narrow_[i] : wide_[i];
    if (row < 0 || row >= rows_) return;  // select_row() says so when its turn comes
    const int64_t end = std::min(n_, kPrefetchedLines * kOfLine);
    for (int k = 0; k < num_variables_; ++k) {
      for (int64_t j = 0; j < end; j += kOfLine) {
        __builtin_prefetch(variables_[k] + row * n_ + j, 1);
      }
    }
  }
  int place(int i) const { return indices_at_ >= 0 && i >= indices_at_ ? i + 1 : i; }
  VariableState& state(int i) const {
    auto& found = c_.input_resource<VariableState>(i);
    if (!found.is_initialized()) {
      fail(Code::kFailedPrecondition, "Attempting to use uninitialized value ", found.name(), ".");
    }
    return found;
  }
  KernelContext& c_;
  int64_t n_, rows_ = 0, num_rows_ = 0, offset_ = 0, gradient_offset_ = 0, expected_gradient_ = -1;
  // Rows lie all over a large variable: they are asked for some rows ahead, of long ones the first
  // lines, behind which the processor sees by itself what comes.
  static constexpr int64_t kOfLine = 64 / sizeof(T), kPrefetchedLines = 4;
  int64_t ahead_ = 24;
  int num_variables_, indices_at_ = -1;
  const int32_t* narrow_ = nullptr;
  const int64_t* wide_ = nullptr;
  T* variables_[4] = {};
};

// Which sparse op an update has: none, one that applies the same rule to each row, or one of its
// own, `template <typename T> static void apply_rows(ApplyInputs<T>& in)`.
enum class SparseForm { kNone, kSameRule, kOwn };

// A rule whose step for one element depends on the others says so: kNeedsAll.
template <typename Rule, typename = void>
struct NeedsAll : std::false_type {};
template <typename Rule>
struct NeedsAll<Rule, std::void_t<decltype(Rule::kNeedsAll)>> : std::true_type {};

// Where the input `name` of an op stands; -1 where it has none.
inline int input_place(const OpDef& def, const char* name) {
  for (size_t i = 0; i < def.inputs.size(); ++i) {
    if (def.inputs[i].name == name) return static_cast<int>(i);
  }
  return -1;
}

// Rule has kRefs, the number of variables (up to 4), and `template <typename T> static void
// apply(ApplyInputs<T>& in)`.
template <typename Rule>
struct ApplyRule {
  static void pass_on(KernelContext& c) {
    if (c.num_outputs() == 0) return;
    auto& state = c.input_resource<VariableState>(0);
    c.set_output_resource(0, &state);
    c.alias_output(0, state.value());
  }
  template <typename T>
  class Kernel : public runhooks::Kernel {
   public:
    bool uses_threads() const override { return is_shared_; }
    void prepare(KernelContext& c) override {
      inputs_.reset();
      const OpDef& def = c.op().def();
      gradient_ = std::max(input_place(def, "grad"), input_place(def, "delta"));
      is_shared_ = !NeedsAll<Rule>::value && gradient_ >= 0 &&
                   is_worth_sharing(c.input(gradient_).num_elements());
    }
    void compute(KernelContext& c) override {
      const uint64_t moves = VariableState::moves();
      if (!inputs_ || moves_seen_ != moves) {
        inputs_.emplace(c, Rule::kRefs);
        moves_seen_ = moves;
      }
      if (is_shared_) {
        inputs_->gradient(gradient_);  // throws here, not on another thread
        apply_in_pieces(*inputs_);
      } else {
        Rule::apply(*inputs_);
      }
      pass_on(c);
    }

   private:
    static void apply_in_pieces(const ApplyInputs<T>& inputs) {
      share_range(inputs.size(), [&inputs](int64_t first, int64_t count) {
        ApplyInputs<T> piece = inputs;
        piece.select_range(first, count);
        Rule::apply(piece);
      });
    }
    // As they were found: many small updates would look for little else.
    std::optional<ApplyInputs<T>> inputs_;
    uint64_t moves_seen_ = 0;
    int gradient_ = -1;
    bool is_shared_ = false;
  };
  template <typename T>
  class RowsKernel : public runhooks::Kernel {
   public:
    void prepare(KernelContext& c) override { at_ = input_place(c.op().def(), "indices"); }
    void compute(KernelContext& c) override {
      ApplyInputs<T> inputs(c, Rule::kRefs);
      inputs.begin_rows(at_);
      if constexpr (Rule::kSparse == SparseForm::kOwn) {
        Rule::apply_rows(inputs);
      } else {
        for (int64_t i = 0; i < inputs.num_rows(); ++i) {
          inputs.select_row(i);
          Rule::apply(inputs);
        }
      }
      pass_on(c);
    }

   private:
    int at_ = 0;
  };
};

// Registers Apply<name> (reference variables) and ResourceApply<name> (resource variables), and
// SparseApply<name> and ResourceSparseApply<name> where the rule has a sparse form. `refs` are the
// variables; `inputs` are specifications of the other inputs ("grad: T"). `lower` and
// `lower_rows` write updates that TensorFlow does not know in its ops, dense and sparse ones.
template <typename Rule>
bool register_apply_op(const char* name,
                       const std::vector<std::string>& refs,
                       const std::vector<std::string>& inputs,
                       const std::vector<std::string>& attrs = {},
                       const LowerFn& lower = nullptr,
                       const LowerFn& lower_rows = nullptr) {
  for (int form = 0; form < 4; ++form) {
    const bool is_resource = form % 2 == 1, is_sparse = form >= 2;
    if (is_sparse && Rule::kSparse == SparseForm::kNone) continue;
    // The registry keeps what it needs of these words.
    const std::string type =
        str_cat(is_resource ? "Resource" : "", is_sparse ? "Sparse" : "", "Apply", name);
    OpRegistration op(type.c_str());
    for (size_t i = 0; i < refs.size(); ++i) {
      op.input(str_cat(refs[i], is_resource ? ": resource, variable of T" : ": Ref(T)").c_str());
      op.mutates(static_cast<int>(i));
    }
    for (const std::string& input : inputs) {
      const bool is_gradient = input == "grad: T" || input == "delta: T";
      // what is subtracted from a whole variable is `delta`, from rows of it `grad`
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
        .summary(is_sparse ? "One step of an optimizer on rows of one variable."
                           : "One step of an optimizer on one variable.");
    if constexpr (Rule::kSparse == SparseForm::kNone) {
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
