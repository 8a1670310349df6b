// Runs similar small operations with one kernel call. For updates of hundreds of small weights,
// call overhead exceeds the computation.
#include "session/executor_batching.h"

#include <typeinfo>

namespace runhooks {

namespace {

constexpr size_t kLeast = 4;  // minimum size of a group

}  // namespace

// Called after hot_ has changed, because candidates are ranges of it.
void Executor::find_batch_candidates() {
  for (Step& step : steps_) {
    step.alike = nullptr;
    step.together = nullptr;
  }
  alike_.clear();
  const auto may_join = [](const Step& step) {
    return step.computed && !step.always_prepare && step.node->copies.empty();
  };
  const auto are_alike = [](const Step& a, const Step& b) {
    const Kernel &one = *a.computed, &other = *b.computed;
    return a.node->level == b.node->level && typeid(one) == typeid(other);
  };
  for (size_t i = 0; i < hot_.size();) {
    size_t end = i + 1;
    if (may_join(*hot_[i])) {
      while (end < hot_.size() && may_join(*hot_[end]) && are_alike(*hot_[i], *hot_[end])) ++end;
    }
    if (end - i >= kLeast) {
      alike_.push_back(std::make_unique<BatchCandidates>());
      alike_.back()->first = hot_.data() + i;
      alike_.back()->count = end - i;
      hot_[i]->alike = alike_.back().get();
    }
    i = end;
  }
}

void Executor::form_groups(BatchCandidates& alike) {
  alike.epoch = plan_.table().epoch;
  alike.groups.clear();
  alike.groups.reserve(alike.count);  // steps hold pointers into it
  const auto member = [](Step& step) { return GroupMember{step.computed, &step.item->context}; };
  std::vector<GroupMember> members;
  for (size_t i = 0; i < alike.count;) {
    Step& first = *alike.first[i];
    members.assign(1, member(first));
    for (; i + members.size() < alike.count;
         members.push_back(member(*alike.first[i + members.size()]))) {
      Step& next = *alike.first[i + members.size()];
      next.together = nullptr;
      if (first.is_long || next.is_long) break;
      if (!first.computed->can_batch_with(first.item->context, member(next))) break;
    }
    first.together = nullptr;
    if (members.size() >= kLeast) {
      alike.groups.push_back({members.size(), first.computed->group(members)});
      if (alike.groups.back().group) first.together = &alike.groups.back();
    }
    i += members.size();
  }
}

// Returns the number of steps computed, including this one, or 0 if the step is not batched.
// Batched kernels never move a buffer, so no check is needed afterwards.
size_t Executor::run_batch(Step& step) {
  if (step.alike && step.alike->epoch != plan_.table().epoch) form_groups(*step.alike);
  if (!step.together) return 0;
  try {
    return step.together->group->compute() ? step.together->count : 0;
  } catch (...) {
    throw_within(step);
  }
}

}  // namespace runhooks
