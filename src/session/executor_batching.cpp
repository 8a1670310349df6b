// Runs similar small operations with one kernel call. For updates of hundreds of small weights,
// call overhead exceeds the computation.
#include "session/executor_batching.h"

#include <typeinfo>

namespace runhooks {

namespace {

constexpr size_t kMinBatch = 4;

}  // namespace

// Called after hot_ has changed, because candidates are ranges of it.
void Executor::find_batch_candidates() {
  for (Step& step : steps_) {
    step.candidates = nullptr;
    step.batch = nullptr;
  }
  batch_candidates_.clear();
  const auto is_candidate = [](const Step& step) {
    return step.kernel_to_run && !step.always_prepare && step.node->copies.empty();
  };
  const auto has_same_kernel = [](const Step& a, const Step& b) {
    const Kernel &kernel_a = *a.kernel_to_run, &kernel_b = *b.kernel_to_run;
    return a.node->level == b.node->level && typeid(kernel_a) == typeid(kernel_b);
  };
  for (size_t i = 0; i < hot_.size();) {
    size_t end = i + 1;
    if (is_candidate(*hot_[i])) {
      while (end < hot_.size() && is_candidate(*hot_[end]) && has_same_kernel(*hot_[i], *hot_[end]))
        ++end;
    }
    if (end - i >= kMinBatch) {
      batch_candidates_.push_back(std::make_unique<BatchCandidates>());
      batch_candidates_.back()->first = hot_.data() + i;
      batch_candidates_.back()->count = end - i;
      hot_[i]->candidates = batch_candidates_.back().get();
    }
    i = end;
  }
}

void Executor::form_groups(BatchCandidates& candidates) {
  candidates.epoch = plan_.table().epoch;
  candidates.groups.clear();
  candidates.groups.reserve(candidates.count);  // steps hold pointers into it
  const auto get_member = [](Step& step) {
    return GroupMember{step.kernel_to_run, &step.item->context};
  };
  std::vector<GroupMember> members;
  for (size_t i = 0; i < candidates.count;) {
    Step& first = *candidates.first[i];
    members.assign(1, get_member(first));
    for (; i + members.size() < candidates.count;
         members.push_back(get_member(*candidates.first[i + members.size()]))) {
      Step& next = *candidates.first[i + members.size()];
      next.batch = nullptr;
      if (first.is_long || next.is_long) break;
      if (!first.kernel_to_run->can_batch_with(first.item->context, get_member(next))) break;
    }
    first.batch = nullptr;
    if (members.size() >= kMinBatch) {
      candidates.groups.push_back({members.size(), first.kernel_to_run->group(members)});
      if (candidates.groups.back().group) first.batch = &candidates.groups.back();
    }
    i += members.size();
  }
}

// Runs the batch that starts at this step. Returns the number of its steps, or 0 without a batch.
// Batched kernels never move a buffer, so no check is needed afterwards.
size_t Executor::run_batch(Step& step) {
  BatchCandidates* candidates = step.candidates;
  if (candidates && candidates->epoch != plan_.table().epoch) form_groups(*candidates);
  if (!step.batch) return 0;
  try {
    return step.batch->group->compute() ? step.batch->count : 0;
  } catch (...) {
    rethrow_with_op(step);
  }
}

}  // namespace runhooks
