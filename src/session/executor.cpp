#include "session/executor.h"

#include <cstring>

#include "base/cancellation.h"
#include "base/clock.h"
#include "base/denormals.h"
#include "base/interrupt.h"
#include "base/scoped_value.h"
#include "graph/func_graph.h"
#include "graph/op_check.h"
#include "graph/variable.h"
#include "session/executor_batching.h"
#include "session/executor_levels.h"
#include "session/partial_run.h"
#include "session/step_stats_collector.h"
#include "tensor/scalar_advice.h"

namespace runhooks {

namespace {

[[noreturn]] void throw_uninitialized(const std::string& name) {
  fail(Code::kFailedPrecondition, "Attempting to use uninitialized value ", name, ".");
}

// True if running the op may change a variable, an iterator or a random generator.
bool has_side_effects(const OpDef& def) {
  const bool only_reads = def.holds_variable || def.reads_variable;
  return !def.mutates.empty() || (def.is_stateful && !only_reads);
}

bool changes_variable(const Operation& op) {
  return any_nested_operation(op, [](const Operation& x) { return !x.def().mutates.empty(); });
}

// True if the read only aliases the buffer of the variable. It is repeated only if a variable gets
// another buffer.
bool aliases_variable(const Plan::Node& node) {
  return node.item->op.def().reads_variable && !node.needs_snapshot && node.copies.empty();
}

// Above this size, checking for cancellation costs little compared with the work.
bool is_long_work(const KernelContext& context) {
  constexpr size_t kLongWorkBytes = 64 * 1024;
  size_t bytes = 0;
  for (int i = 0; i < context.num_inputs(); ++i) {
    if (context.input(i).is_valid()) bytes += context.input(i).num_bytes();
  }
  return bytes > kLongWorkBytes;
}

// True if the op forwards a variant. It must do so in every run, because a variant has no
// persistent buffer.
bool forwards_variant(const Operation& op) {
  return op.def().forwards && op.output_dtype(0) == DType::kVariant;
}

}  // namespace

bool& last_run_was_partial() {
  thread_local bool is_partial = false;
  return is_partial;
}

Executor::Executor(std::shared_ptr<NodeTable> table,
                   const std::vector<Fetch>& fetches,
                   const std::vector<Output>& feeds)
    : plan_(std::move(table), fetches, feeds), results_(fetches.size()) {
  bool can_cancel = true;
  InterruptPoll poll;
  for (const Plan::Node& node : plan_.nodes()) {
    poll();
    can_cancel = can_cancel && !has_side_effects(node.item->op.def());
    steps_.push_back({&node, node.item});
    Step& step = steps_.back();
    if (!node.is_invariant) step.kernel_to_run = node.item->kernel.get();
    step.can_cancel = can_cancel;
    step.always_prepare = forwards_variant(node.item->op);
    step.may_relocate_variables = has_side_effects(node.item->op.def());
  }
  for (const Step& step : steps_) {
    if (!step.item->op.def().reads_variable) continue;
    readers_.push_back(&step);
    takes_snapshots_ = takes_snapshots_ || step.node->needs_snapshot;
  }
  choose_hot_steps();
}

Executor::~Executor() {
  if (plan_.table().bound_executor == this) plan_.table().bound_executor = nullptr;
}

void Executor::choose_hot_steps() {
  hot_.clear();
  cached_reads_.clear();
  relocations_seen_ = kNoRelocations;
  for (Step& step : steps_) {
    const bool computes = step.kernel_to_run && step.kernel_to_run->computes();
    step.is_hot = computes || step.always_prepare || !step.node->copies.empty();
    if (!step.is_hot) continue;
    const bool is_cached = aliases_variable(*step.node) && !step.always_prepare;
    (is_cached ? cached_reads_ : hot_).push_back(&step);
  }
  levels_.reset();
  find_batch_candidates();
}

template <typename WriteFeeds>
void Executor::run_fed(WriteFeeds write_feeds) {
  NodeTable& table = plan_.table();
  if (table.is_running()) {
    fail(Code::kFailedPrecondition, "A run cannot start another run of the same plan.");
  }
  const Retain retain(*this);
  const NodeTable::Run running(table);
  const FlushDenormals flush_denormals;
  const CancellableScope not_cancellable_scope(false);
  bind_table();
  const uint64_t relocations = table.buffers().relocation_count();
  last_run_was_partial() = false;
  try {
    write_feeds();
    for (const Plan::ResultCopy& copy : plan_.fed_copies()) copy_result(copy, "");
    if (observer_) {
      run_all_from(0);
    } else if (!run_on_threads()) {
      is_verified() ? run_hot() : run_all_from(0);
    }
  } catch (...) {
    ++table.epoch;
    throw;
  }
  // If a slot has lost its buffer during the run, the next run must prepare its step again.
  verified_epoch_ =
      table.buffers().relocation_count() == relocations ? table.epoch : kNeverVerified;
}

void Executor::run(const std::vector<Tensor>& feed_values) {
  run_fed([&] {
    for (size_t i = 0; i < feed_values.size(); ++i) set_feed(i, feed_values[i], false);
  });
}

void Executor::run(const std::vector<const Tensor*>& feed_values, const std::vector<bool>& shared) {
  run_fed([&] {
    for (size_t i = 0; i < feed_values.size(); ++i) set_feed(i, *feed_values[i], shared[i]);
  });
}

void Executor::run(const std::vector<Tensor>& feed_values,
                   const RunOptions& options,
                   RunMetadata& metadata) {
  metadata.step_stats.reset();
  if (options.is_default()) return run(feed_values);
  if (options.trace_level > RunOptions::kNoTrace) {
    metadata.step_stats = std::make_shared<StepStats>();
    metadata.step_stats->start_seconds = now_seconds();
  }
  StepStatsCollector collector(options.timeout_in_ms, metadata.step_stats.get());
  const ScopedValue<StepStatsCollector*> observer_scope(observer_, &collector);
  run(feed_values);
}

// Prepares the table for this plan, because another plan may have run on the same nodes.
void Executor::bind_table() {
  NodeTable& table = plan_.table();
  if (table.bound_executor == this) return;
  table.bound_executor = this;
  if (takes_snapshots_ || table.num_snapshot_reads > 0) update_snapshot_flags();
  const uint64_t num_new_invariants = table.num_new_invariants.load(std::memory_order_relaxed);
  if (new_invariants_seen_ == num_new_invariants) return;
  discard_fed_invariants();
  new_invariants_seen_ = num_new_invariants;
}

void Executor::update_snapshot_flags() {
  for (const Step* step : readers_) {
    bool& needs_snapshot = step->item->context.needs_snapshot;
    if (needs_snapshot == step->node->needs_snapshot) continue;
    needs_snapshot = step->node->needs_snapshot;
    needs_snapshot ? ++plan_.table().num_snapshot_reads : --plan_.table().num_snapshot_reads;
    relocations_seen_ = kNoRelocations;
  }
}

void Executor::discard_fed_invariants() {
  for (const Step& step : steps_) {
    if (step.node->is_invariant || !step.node->entry->holds_invariant) continue;
    // Other plans have computed this value once and keep it. In this plan an input is fed, so the
    // run overwrites the value.
    step.node->entry->holds_invariant = false;
    ++plan_.table().epoch;
  }
}

void Executor::set_feed(size_t i, const Tensor& value, bool is_shared) {
  const Output& output = plan_.feeds()[i].first;
  Slot& slot = *plan_.feeds()[i].second;
  if (value.dtype() != output.dtype()) {
    invalid_argument("Cannot feed value of type ", dtype_name(value.dtype()), " for Tensor '",
                     output.name(), "', which has type ", dtype_name(output.dtype()), ".");
  }
  if (!output.shape().is_compatible_with(value.shape())) {
    throw Error(Code::kInvalidArgument,
                str_cat("Cannot feed value of shape ", value.shape(), " for Tensor '",
                        output.name(), "', which has shape '", output.shape(), "'."),
                advice_for_scalar(value.shape(), output.shape()));
  }
  if (value.dtype() == DType::kVariant || is_shared) {
    share_feed(slot, value);
  } else if (slot.owned && slot.tensor.shape() == value.shape()) {
    // Copies into the existing buffer, so that prepared kernels stay valid. Kernels for strings
    // check the dictionary in each run.
    std::memcpy(slot.tensor.raw(), value.raw(), value.num_bytes());
    if (value.dtype() == DType::kString) slot.tensor.set_dictionary(value.dictionary());
  } else {
    slot.tensor = value.copy();
    slot.owned = true;
    ++slot.version;
    ++plan_.table().epoch;
  }
}

// Preparation does not depend on the content of a variant, so after a new variant no step is
// outdated.
void Executor::share_feed(Slot& slot, const Tensor& value) {
  const bool keeps_buffer =
      slot.tensor.is_valid() &&
      (value.dtype() == DType::kVariant ||
       (slot.tensor.shares_buffer_with(value) && slot.tensor.shape() == value.shape()));
  slot.tensor = value;
  slot.owned = false;
  if (keeps_buffer) return;
  ++slot.version;
  ++plan_.table().epoch;
}

void Executor::run_hot() {
  if (relocations_seen_ != VariableState::relocation_count() && refresh_cached_reads())
    return run_all_from(0);
  for (Step* const* at = hot_.data(); at != hot_.data() + hot_.size(); ++at) {
    Step& step = **at;
    if (step.candidates || step.batch) {
      const size_t done = run_batch(step);
      if (done > 0) {
        at += done - 1;
        continue;
      }
    }
    execute_hot(step);
    if (step.is_long) check_interrupt();
    bool changed = step.item->layout_changed;
    if (changed) commit_layout_change(step);
    if (step.may_relocate_variables && relocations_seen_ != VariableState::relocation_count() &&
        refresh_cached_reads()) {
      changed = true;
    }
    if (changed) return run_all_from(static_cast<size_t>(&step - steps_.data()) + 1);
  }
}

// Returns true if a variable has another buffer than before.
bool Executor::refresh_cached_reads() {
  relocations_seen_ = VariableState::relocation_count();
  bool changed = false;
  for (Step* step : cached_reads_) {
    execute_hot(*step);
    if (!step->item->layout_changed) continue;
    commit_layout_change(*step);
    changed = true;
  }
  return changed;
}

void Executor::run_all_from(size_t first) {
  bool always_prepare_changed = false;
  InterruptPoll poll;
  for (size_t i = first; i < steps_.size(); ++i) {
    Step& step = steps_[i];
    if (step.can_cancel) poll();
    always_prepare_changed = prepare_if_needed(step) || always_prepare_changed;
    if (observer_) {
      execute_observed(step);
    } else {
      execute(step);
    }
    if (step.item->layout_changed) commit_layout_change(step);
    if (step.is_long) check_interrupt();
  }
  if (always_prepare_changed) choose_hot_steps();
}

// Returns true if this call changed the step to one that is prepared in every run.
bool Executor::prepare_if_needed(Step& step) {
  NodeItem& item = *step.item;
  const bool before = step.always_prepare;
  if (item.is_outdated() || (step.node->is_invariant && !step.node->entry->holds_invariant)) {
    prepare(step);
  }
  step.is_long = step.can_cancel && is_long_work(item.context);
  step.always_prepare =
      step.always_prepare || !item.values_read.is_subset_of(step.node->invariant_inputs);
  return step.always_prepare != before;
}

// Records that the node is prepared for its new outputs. The new epoch makes other steps outdated.
void Executor::commit_layout_change(Step& step) {
  step.item->layout_changed = false;
  step.item->prepared_outputs = step.item->context.output_version();
  ++plan_.table().epoch;
}

// A copy of execute_hot() that is not inlined, for code that is not performance-critical.
void Executor::execute(Step& step) { execute_hot(step); }

// Hot path. Only long steps open a cancellation scope; run_fed() has disabled any outer scope.
inline void Executor::execute_hot(Step& step) {
  if (step.always_prepare) prepare(step);
  if (step.kernel_to_run) {
    try {
      if (step.is_long) {
        compute_long(step);
      } else {
        step.kernel_to_run->compute(step.item->context);
      }
    } catch (...) {
      rethrow_with_op(step);
    }
  }
  for (const Plan::ResultCopy& copy : step.node->copies) copy_result(copy, step.item->op.name());
}

void Executor::compute_long(Step& step) {
  const CancellableScope cancellable(true);
  step.kernel_to_run->compute(step.item->context);
}

// Rethrows the current exception with the name of the op, and records whether the run was partial.
void Executor::rethrow_with_op(const Step& step) const {
  // Any step up to this one in plan order may have changed a variable.
  for (const Step* at = steps_.data(); at <= &step; ++at) {
    if (changes_variable(at->node->item->op)) last_run_was_partial() = true;
  }
  rethrow_for_op(step.item->op);
}

void Executor::execute_observed(Step& step) {
  observer_->check_time();
  const int64_t start_ns = observer_->elapsed_ns();
  execute(step);
  observer_->record(step.item->op, step.item->context, start_ns);
}

void Executor::copy_result(const Plan::ResultCopy& copy, const std::string& name) {
  const Tensor* value = &copy.source->tensor;
  if (!value->is_valid()) {
    // A fetched variable handle returns the variable's value.
    auto* state = dynamic_cast<VariableState*>(copy.source->resource);
    if (!state || !state->is_initialized()) throw_uninitialized(name);
    value = &state->value();
  }
  Tensor& result = results_[copy.result];
  if (value->dtype() == DType::kVariant) {
    result = *value;
    return;
  }
  if (result.dtype() != value->dtype() || result.shape() != value->shape() ||
      result.buffer_is_shared()) {
    result = value->copy();
    return;
  }
  std::memcpy(result.raw(), value->raw(), value->num_bytes());
  if (value->dtype() == DType::kString) result.set_dictionary(value->dictionary());
}

}  // namespace runhooks
