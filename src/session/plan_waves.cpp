// Plans on several threads: nodes that do not depend on each other form a wave, and the threads
// share the nodes of a wave. Each node is computed by one thread from the same inputs as in the
// plain order, so the results are the same. Only plans whose runs take long enough are run so.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <exception>
#include <set>

#include "base/shared_work.h"
#include "base/threads.h"
#include "graph/variable.h"
#include "session/plan.h"

namespace runhooks {

namespace {

constexpr int kMeasuredRuns = 4;
constexpr int64_t kWorthOfPlan = 100000;  // nanoseconds of a run that are worth threads
constexpr int64_t kWorthOfWave = 5000;    // that a second thread can take off a wave
constexpr int64_t kWorthOfNode = 300;     // of a node that another thread may take

// Whether the node may be moved among nodes that it does not depend on. The others have effects
// that are seen from outside, in an order that must stay.
bool can_move(const OpDef& def) {
  if (def.is_host_function) return false;
  return !def.is_stateful || def.updates_variables || def.order_insensitive;
}

// Whether another thread than the session's may compute it. Strings grow a dictionary that others
// read, and who makes a handle looks it up in the session.
bool can_share(const Operation& op) {
  if (!can_move(op.def())) return false;
  for (int i = 0; i < op.num_outputs(); ++i) {
    if (op.output_is_ref(i) && !op.def().updates_variables) return false;
    const DType dtype = op.output_dtype(i);
    if (dtype == DType::kString || dtype == DType::kResource) return false;
  }
  return true;
}

// Gives each node, in the plan's order, the first wave in which all that it needs is there.
class WaveNumbers {
 public:
  int add(const Operation& op) {
    int wave = first_;
    const bool stays = !can_move(op.def()),
               begins_updates = op.def().updates_variables && !has_updates_;
    // No variable is changed before everything ahead of the first update went well.
    if (stays || begins_updates) wave = first_ = end_;
    has_updates_ = has_updates_ || op.def().updates_variables;

    Variables reads, changes;
    if (op.def().holds_variable) reads.insert(&op);
    for (const Output& input : op.inputs()) {
      wave = std::max(wave, after_[input.op]);
      reads.insert(variables_behind_[input.op].begin(), variables_behind_[input.op].end());
    }
    for (const Operation* control : op.control_inputs()) wave = std::max(wave, after_[control]);
    for (const int input : op.def().mutates) {
      const Variables& behind = variables_behind_[op.input(input).op];
      changes.insert(behind.begin(), behind.end());
    }
    for (const Operation* variable : reads) wave = std::max(wave, after_change_[variable]);
    for (const Operation* variable : changes) wave = std::max(wave, after_reads_[variable]);

    for (const Operation* variable : reads) raise(after_reads_[variable], wave + 1);
    for (const Operation* variable : changes) raise(after_change_[variable], wave + 1);
    if (keeps_buffer(op)) variables_behind_[&op] = reads;
    after_[&op] = wave + 1;
    raise(end_, wave + 1);
    if (stays) first_ = end_;
    return wave;
  }

 private:
  using Variables = std::set<const Operation*>;
  static void raise(int& limit, int to) { limit = std::max(limit, to); }
  // Whether an output may be the buffer of a variable that an input refers to.
  static bool keeps_buffer(const Operation& op) {
    const OpDef& def = op.def();
    bool keeps = def.holds_variable || def.reads_variable || def.forwards || def.may_forward;
    for (int i = 0; i < op.num_outputs(); ++i) keeps = keeps || op.output_is_ref(i);
    return keeps;
  }
  int first_ = 0, end_ = 0;  // where the next node may go, and the first wave without nodes
  bool has_updates_ = false;
  std::unordered_map<const Operation*, int> after_;
  std::unordered_map<const Operation*, int> after_reads_, after_change_;  // of a variable's op
  std::unordered_map<const Operation*, Variables> variables_behind_;
};

}  // namespace

struct Plan::Waves {
  struct Wave {
    std::vector<Node*> idle;    // only prepared, where the layout has changed
    std::vector<Node*> alone;   // by the session's thread
    std::vector<Node*> shared;  // by all threads, the longest first
    // A node that takes longer than all others together is for its own threads.
    void settle();
  };
  int runs = 0;
  std::vector<Wave> waves;  // none where the runs are too short
  std::vector<std::exception_ptr> errors;
};

// Runs the plan on several threads or finds out whether to; FALSE where the plain way is to be
// taken.
bool Plan::run_on_threads() {
  if (kernel_threads() < 2) return false;
  if (!waves_) waves_ = std::make_shared<Waves>();
  if (waves_->runs <= kMeasuredRuns) {
    if (waves_->runs++ == 0) return false;  // the first run makes buffers
    run_measured();
    if (waves_ && waves_->runs > kMeasuredRuns) make_waves();
    return true;
  }
  if (waves_->waves.empty()) return false;
  run_waves();
  return true;
}

void Plan::run_measured() {
  using Clock = std::chrono::steady_clock;
  bool always_prepare_changed = false;
  for (Node& node : nodes_) {
    const Clock::time_point start = Clock::now();
    always_prepare_changed = prepare_if_needed(node) || always_prepare_changed;
    execute(node);
    node.layout_changed = false;
    const int64_t ns =
        std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now() - start).count();
    // what a busy machine adds is no cost
    if (node.cost_ns == 0 || ns < node.cost_ns) node.cost_ns = ns;
  }
  if (always_prepare_changed) choose_hot_nodes();
}

void Plan::make_waves() {
  int64_t cost = 0;
  for (const Node& node : nodes_) cost += node.cost_ns;
  if (cost < kWorthOfPlan) return;
  WaveNumbers numbers;
  for (Node& node : nodes_) {
    const auto wave = static_cast<size_t>(numbers.add(node.op));
    if (wave >= waves_->waves.size()) waves_->waves.resize(wave + 1);
    Waves::Wave& nodes = waves_->waves[wave];
    const bool shared = can_share(node.op) && node.cost_ns > kWorthOfNode;
    (!node.is_hot ? nodes.idle : shared ? nodes.shared : nodes.alone).push_back(&node);
  }
  for (Waves::Wave& wave : waves_->waves) wave.settle();
}

void Plan::Waves::Wave::settle() {
  std::stable_sort(shared.begin(), shared.end(),
                   [](const Node* a, const Node* b) { return a->cost_ns > b->cost_ns; });
  int64_t all = 0;
  for (const Node* node : shared) all += node->cost_ns;
  const auto spreads = [](const Node& node) { return node.kernel && node.kernel->uses_threads(); };
  while (!shared.empty() && spreads(*shared[0]) && 2 * shared[0]->cost_ns > all) {
    all -= shared[0]->cost_ns;
    alone.push_back(shared[0]);
    shared.erase(shared.begin());
  }
  const int64_t longest = shared.empty() ? 0 : shared[0]->cost_ns;
  if (std::min(all - longest, all / 2) < kWorthOfWave) {
    alone.insert(alone.end(), shared.begin(), shared.end());
    shared.clear();
  }
}

void Plan::run_waves() {
  bool layout_changed = layout_changed_;
  std::atomic<bool> always_prepare_changed{false};
  const auto run_node = [&](Node& node) {
    if (layout_changed && prepare_if_needed(node)) always_prepare_changed = true;
    execute(node);
  };
  for (Waves::Wave& wave : waves_->waves) {
    bool changes = false;
    const auto run_alone = [&](Node& node) {
      run_node(node);
      changes = changes || node.layout_changed;
      node.layout_changed = false;
    };
    if (layout_changed) {
      for (Node* node : wave.idle) run_alone(*node);
    }
    for (Node* node : wave.alone) run_alone(*node);
    run_shared(wave.shared, run_node);
    for (Node* node : wave.shared) {
      changes = changes || node->layout_changed;
      node->layout_changed = false;
    }
    layout_changed = layout_changed || changes;
  }
  if (always_prepare_changed) choose_hot_nodes();
}

// Which thread computes a node is a matter of time, what it computes is not. Of several errors the
// first in the plan's order is raised.
template <typename Run>
void Plan::run_shared(const std::vector<Node*>& nodes, Run run_node) {
  if (nodes.empty()) return;
  struct Work {
    const std::vector<Node*>& nodes;
    std::vector<std::exception_ptr>& errors;
    Run& run_node;
  } work{nodes, waves_->errors, run_node};
  work.errors.assign(nodes.size(), nullptr);
  share_work(
      nodes.size(), kernel_threads(),
      [](void* context, size_t i) {
        auto& shared = *static_cast<Work*>(context);
        try {
          shared.run_node(*shared.nodes[i]);
        } catch (...) {
          shared.errors[i] = std::current_exception();
        }
      },
      &work);
  size_t first = nodes.size();
  for (size_t i = 0; i < nodes.size(); ++i) {
    if (!work.errors[i]) continue;
    if (first == nodes.size() || nodes[i]->op.id() < nodes[first]->op.id()) first = i;
  }
  if (first < nodes.size()) std::rethrow_exception(work.errors[first]);
}

}  // namespace runhooks
