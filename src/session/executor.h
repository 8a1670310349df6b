// What lives here: Executor, which runs a plan and keeps the results of its last run.
// Who may use it: session and every layer above it, to look at results.
// What it must not know: hooks, what the operations compute, R.
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

  // One value for each of the feeds. Afterwards result(i) is the value of fetch i (invalid for an
  // operation); it is good until the next run, unless it is copied: who keeps a Tensor keeps its
  // value.
  void run(const std::vector<Tensor>& feed_values);
  // The same for values that others hold; those of `shared` stay as they are during the run and are
  // not copied.
  void run(const std::vector<const Tensor*>& feed_values, const std::vector<bool>& shared);
  // The same as the options say: with a trace of every operation, which goes to `metadata`, or with
  // a limit of time, after which the run ends by deadline_exceeded between two operations.
  void run(const std::vector<Tensor>& feed_values,
           const RunOptions& options,
           RunMetadata& metadata);
  const Tensor& result(size_t i) const { return results_[i]; }
  size_t num_results() const { return results_.size(); }

  bool in_use() const { return users_ > 0; }
  const Plan& plan() const { return plan_; }
  // While one lives, a session takes another executor for the same fetches instead of running this
  // one again.
  class Hold {
   public:
    explicit Hold(Executor& executor) : executor_(executor) {
      ++executor_.users_;
      ++executor_.plan_.table().users;
    }
    ~Hold() {
      --executor_.users_;
      --executor_.plan_.table().users;
    }
    Hold(const Hold&) = delete;
    Hold& operator=(const Hold&) = delete;

   private:
    Executor& executor_;
  };

 private:
  struct BatchCandidates;
  struct KernelBatch;
  // A node of the plan, as the runs so far have found it.
  struct Step {
    const Plan::Node* node;
    NodeItem* item;
    Kernel* computed = nullptr;  // that which each run computes
    bool is_hot = false;         // has something to do in every run
    // Its preparation reads values that change from run to run.
    bool always_prepare = false;
    int64_t cost_ns = 0;  // the least time that it took; 0 while unknown
    // Nothing has been changed when it is done, so that a run may be left there.
    bool may_stop = false;
    bool is_long = false;  // the last time when it was prepared
    // May move a variable, or call what does.
    bool may_move = false;
    // The first of some that may be computed together.
    BatchCandidates* alike = nullptr;
    KernelBatch* together = nullptr;
  };
  class Levels;
  static constexpr uint64_t kNeverVerified = 0, kNeverRead = 0;

  void choose_hot_steps();
  void bind_table();
  void take_own_snapshots();
  void forget_invariants_of_others();
  template <typename SetFeeds>
  void run_fed(SetFeeds set_feeds);
  void set_feed(size_t i, const Tensor& value, bool is_shared);
  void share_feed(Slot& slot, const Tensor& value);
  void run_all_from(size_t first);
  void run_hot();
  void run_in_order();
  bool refresh_cached_reads();
  bool prepare_if_needed(Step& step);
  void settle(Step& step);
  bool is_verified() const { return verified_epoch_ == plan_.table().epoch; }
  // executor_levels.cpp: several threads, where they are worth it.
  bool run_on_threads();
  void run_on_trial();
  void run_measured();
  void make_levels();
  void run_levels();
  // executor_batching.cpp
  void find_batch_candidates();
  void form_groups(BatchCandidates& alike);
  size_t run_batch(Step& step);
  // executor_prepare.cpp
  void prepare(Step& step);
  InputSet infer_outputs(NodeItem& item);
  void compute_invariant(NodeItem& item, bool is_first);

  void execute(Step& step);
  void execute_hot(Step& step);
  static void compute_long(Step& step);
  [[noreturn]] void throw_within(const Step& step) const;
  static void stop_if_asked(const Step& step);
  void execute_observed(Step& step);
  void copy_result(const Plan::ResultCopy& copy, const std::string& name);

  Plan plan_;
  std::vector<Step> steps_;
  std::vector<Step*> hot_;
  std::vector<const Step*> readers_;  // of variables
  bool takes_snapshots_ = false;      // one of them does
  // Those of them that have nothing to do while variables stay where they are, and the number of
  // their moves when these have been looked at.
  std::vector<Step*> cached_reads_;
  uint64_t moves_seen_ = kNeverRead;
  uint64_t invariants_seen_ = 0;  // the table's count when they were looked at
  std::vector<Tensor> results_;
  StepStatsCollector* observer_ = nullptr;  // of the run under way
  // The table's epoch for which every step is known to be prepared.
  uint64_t verified_epoch_ = kNeverVerified;
  int users_ = 0;
  std::vector<std::unique_ptr<BatchCandidates>> alike_;
  std::unique_ptr<Levels> levels_;
};

}  // namespace runhooks
