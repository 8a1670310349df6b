// Executor: runs a plan and stores the results of its last run.
#pragma once

#include <memory>
#include <vector>

#include "session/plan.h"
#include "session/run_options.h"

namespace runhooks {

class StepStatsCollector;

class Executor {
 public:
  Executor(std::shared_ptr<NodeTable> table,
           const std::vector<Fetch>& fetches,
           const std::vector<Output>& feeds);
  ~Executor();
  Executor(const Executor&) = delete;
  Executor& operator=(const Executor&) = delete;

  // Runs the plan with one value per feed. Afterwards, result(i) is the value of fetch i, or
  // invalid if the fetch is an operation. It is valid until the next run; a copied Tensor keeps its
  // value.
  void run(const std::vector<Tensor>& feed_values);
  // The same for values that the caller owns. Values flagged in `shared` are not copied, because
  // they do not change during the run.
  void run(const std::vector<const Tensor*>& feed_values, const std::vector<bool>& shared);
  // The same with options: `metadata` receives the trace of each operation. After the timeout,
  // throws kDeadlineExceeded before the next operation.
  void run(const std::vector<Tensor>& feed_values,
           const RunOptions& options,
           RunMetadata& metadata);
  const Tensor& result(size_t i) const { return results_[i]; }
  size_t num_results() const { return results_.size(); }

  bool in_use() const { return users_ > 0; }
  const Plan& plan() const { return plan_; }
  // Protects the results: while a Retain exists, the session runs the same fetches on another
  // executor.
  class Retain {
   public:
    explicit Retain(Executor& executor) : executor_(executor) {
      ++executor_.users_;
      ++executor_.plan_.table().users;
    }
    ~Retain() {
      --executor_.users_;
      --executor_.plan_.table().users;
    }
    Retain(const Retain&) = delete;
    Retain& operator=(const Retain&) = delete;

   private:
    Executor& executor_;
  };

 private:
  struct BatchCandidates;
  struct KernelBatch;
  // A node of the plan, with state that persists across runs.
  //
  //              prepare()             execute()
  //   OUTDATED ------------> PREPARED -----------> EXECUTED
  //      ^                      ^                   |    |
  //      |                      +---- next run -----+    | if layout_changed, the table's epoch
  //      |                                               | advances (commit_layout_change())
  //      +-- consumers, prepared in the same run <-------+
  //
  // A step also becomes outdated if a feed has a new buffer, if the pool takes its buffer, or if an
  // invariant value is overwritten. run_all_from() checks all steps. run_hot() is used while
  // `verified_epoch_` equals the table's epoch, that is, while no step is outdated. It executes
  // only the lists of choose_hot_steps():
  //   hot_           computes or copies a result in each run, or always_prepare is set
  //   cached_reads_  only aliases a variable; executed after a variable has moved
  //   (none)         is_hot is false: preparation does all the work
  // always_prepare is never cleared; execute() then calls prepare() first in each run.
  struct Step {
    const Plan::Node* node;
    NodeItem* item;
    Kernel* kernel_to_run = nullptr;  // NULL if the node is invariant or has no kernel
    bool is_hot = false;              // has work in each run
    // True if preparation reads input values that change between runs.
    bool always_prepare = false;
    int64_t cost_ns = 0;  // shortest time measured so far; 0 if unknown
    // True if no step up to and including this one has side effects. The run may then be cancelled
    // here.
    bool can_cancel = false;
    bool is_long = false;  // can_cancel, and the inputs are large; set by prepare_if_needed()
    // True if the step may reallocate a variable, directly or in a function that it calls.
    bool may_relocate_variables = false;
    // `candidates` is set if a series of similar steps starts here, `batch` if a batch does.
    BatchCandidates* candidates = nullptr;
    KernelBatch* batch = nullptr;
  };
  class Levels;
  static constexpr uint64_t kNeverVerified = 0, kNoRelocations = 0;

  void choose_hot_steps();
  void bind_table();
  void update_snapshot_flags();
  void discard_fed_invariants();
  template <typename WriteFeeds>
  void run_fed(WriteFeeds write_feeds);
  void set_feed(size_t i, const Tensor& value, bool is_shared);
  void share_feed(Slot& slot, const Tensor& value);
  void run_all_from(size_t first);
  void run_hot();
  bool refresh_cached_reads();
  bool prepare_if_needed(Step& step);
  void commit_layout_change(Step& step);
  bool is_verified() const { return verified_epoch_ == plan_.table().epoch; }
  // executor_levels.cpp: multi-threaded runs
  bool run_on_threads();
  void run_measured();
  void make_levels();
  void run_levels();
  // executor_batching.cpp
  void find_batch_candidates();
  void form_groups(BatchCandidates& candidates);
  size_t run_batch(Step& step);
  // executor_prepare.cpp
  void prepare(Step& step);
  InputSet infer_outputs(NodeItem& item);
  void compute_invariant(NodeItem& item, bool is_first);

  void execute(Step& step);
  void execute_hot(Step& step);
  static void compute_long(Step& step);
  [[noreturn]] void rethrow_with_op(const Step& step) const;
  void execute_observed(Step& step);
  void copy_result(const Plan::ResultCopy& copy, const std::string& name);

  Plan plan_;
  std::vector<Step> steps_;
  std::vector<Step*> hot_;
  std::vector<const Step*> readers_;  // steps that read a variable
  bool takes_snapshots_ = false;      // whether a step of readers_ copies its variable
  // Variable reads that only alias a buffer. They are skipped while
  // `VariableState::relocation_count()` equals `relocations_seen_`.
  std::vector<Step*> cached_reads_;
  uint64_t relocations_seen_ = kNoRelocations;
  uint64_t new_invariants_seen_ = 0;  // the table's `num_new_invariants` at the last check
  std::vector<Tensor> results_;
  StepStatsCollector* observer_ = nullptr;  // traces the current run; NULL with default options
  // NodeTable::epoch at the last check that all steps are prepared.
  uint64_t verified_epoch_ = kNeverVerified;
  int users_ = 0;
  std::vector<std::unique_ptr<BatchCandidates>> batch_candidates_;
  std::unique_ptr<Levels> levels_;
};

}  // namespace runhooks
