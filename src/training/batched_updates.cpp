#include "training/batched_updates.h"

#include <algorithm>

namespace runhooks {

namespace {

constexpr size_t kBlock = 128;  // number of updates gathered into one array

// Returns the state of input i, a variable; NULL unless it is initialized and has one element.
VariableState* scalar_state(const KernelContext& c, int i) {
  auto& state = c.input_resource<VariableState>(i);
  return state.is_initialized() && state.value().num_elements() == 1 ? &state : nullptr;
}

bool are_same_ops(const Operation& one, const Operation& other) {
  const OpDef& def = one.def();
  if (&def != &other.def()) return false;
  return std::all_of(def.attrs.begin(), def.attrs.end(), [&](const AttrDef& attr) {
    const AttrValue *a = one.attrs().find(attr.name), *b = other.attrs().find(attr.name);
    return a && b && attr_equal(*a, *b);
  });
}

}  // namespace

bool can_batch_updates(const KernelContext& one,
                       const KernelContext& other,
                       int num_variables,
                       int gradient_input) {
  if (!are_same_ops(one.op(), other.op()) || one.num_outputs() > 0) return false;
  for (int i = num_variables; i < one.num_inputs(); ++i) {
    const Tensor &a = one.input(i), &b = other.input(i);
    if (a.num_elements() != 1 || b.num_elements() != 1) return false;
    if (i != gradient_input && a.raw() != b.raw()) return false;
  }
  return true;
}

template <typename T>
ScalarUpdateBatch<T>::ScalarUpdateBatch(const std::vector<GroupMember>& members,
                                        int num_variables,
                                        int gradient_input,
                                        Apply apply)
    : num_variables_(num_variables), apply_(apply) {
  for (const GroupMember& member : members) {
    contexts_.push_back(member.context);
    gradients_.push_back(member.context->input(gradient_input).template data<T>());
  }
}

// Returns false if a variable is not initialized or has several elements. The updates then run one
// by one and report the error.
template <typename T>
bool ScalarUpdateBatch<T>::collect_variables() {
  first_.reset();
  for (int k = 0; k < num_variables_; ++k) {
    variables_[k].clear();
    for (const KernelContext* context : contexts_) {
      VariableState* state = scalar_state(*context, k);
      if (!state) return false;
      variables_[k].push_back(state->value().template data<T>());
    }
  }
  first_.emplace(*contexts_[0], num_variables_);
  return true;
}

template <typename T>
bool ScalarUpdateBatch<T>::compute() {
  const uint64_t relocations = VariableState::relocation_count();
  if (!first_ || relocations_seen_ != relocations) {
    if (!collect_variables()) return false;
    relocations_seen_ = relocations;
  }
  constexpr size_t kMaxVariables = ApplyInputs<T>::kMaxVariables;
  T values[kMaxVariables][kBlock], gradients[kBlock];
  T* const variables[] = {values[0], values[1], values[2], values[3]};
  static_assert(kMaxVariables == 4);
  for (size_t begin = 0; begin < contexts_.size(); begin += kBlock) {
    const size_t n = std::min(kBlock, contexts_.size() - begin);
    for (size_t i = 0; i < n; ++i) gradients[i] = *gradients_[begin + i];
    for (int k = 0; k < num_variables_; ++k) {
      for (size_t i = 0; i < n; ++i) values[k][i] = *variables_[k][begin + i];
    }
    first_->use_gathered(variables, gradients, static_cast<int64_t>(n));
    apply_(*first_);
    for (int k = 0; k < num_variables_; ++k) {
      for (size_t i = 0; i < n; ++i) *variables_[k][begin + i] = values[k][i];
    }
  }
  return true;
}

template class ScalarUpdateBatch<float>;
template class ScalarUpdateBatch<double>;

}  // namespace runhooks
