// What lives here: Plan, the compiled form of one set of fetches and feeds: pruned, ordered, with buffers assigned.
// Who may use it: session.
// What it must not know: hooks, what the operations compute, R.
#pragma once

#include <deque>
#include <memory>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "graph/graph.h"
#include "graph/kernel.h"
#include "session/run_options.h"

namespace runhooks {

// What a run is asked for: output `index` of `op`, or with kRunOnly that the operation runs.
struct Fetch {
  static constexpr int kRunOnly = -1;
  Operation* op = nullptr;
  int index = kRunOnly;

  Fetch() = default;
  Fetch(Output output) : op(output.op), index(output.index) {}  // NOLINT: a tensor is a fetch
  Fetch(Operation* operation) : op(operation) {}                // NOLINT: so is an operation
  bool is_tensor() const { return index != kRunOnly; }
  bool operator==(const Fetch& other) const { return op == other.op && index == other.index; }
};

// The order of a run is fixed when the plan is made: operations that change a variable come after
// everything that does not depend on such a change, so what is read or fetched beside a training
// step is the value before it. A value that is fetched is copied right after it is computed.
//
// Work that depends on shapes only (shape functions, allocation, constants, shape arithmetic) is
// done when shapes change, not at every run.
class Plan {
 public:
  Plan(const std::vector<Fetch>& fetches,
       const std::vector<Output>& feeds,
       ResourceManager& resources);
  ~Plan();

  // One value for each of the feeds. Afterwards result(i) is the value of fetch i (invalid for an
  // operation); it is good until the next run, unless it is copied: who keeps a Tensor keeps its
  // value.
  void run(const std::vector<Tensor>& feed_values);
  // The same as the options say: with a trace of every operation, which goes to `metadata`, or with
  // a limit of time, after which the run ends by deadline_exceeded between two operations.
  void run(const std::vector<Tensor>& feed_values,
           const RunOptions& options,
           RunMetadata& metadata);
  const Tensor& result(size_t i) const { return results_[i]; }
  size_t num_results() const { return results_.size(); }
  bool in_use() const { return users_ > 0; }
  // While one lives, a session makes another plan for the same fetches instead of running this one
  // again.
  class Hold {
   public:
    explicit Hold(Plan& plan) : plan_(plan) { ++plan_.users_; }
    ~Hold() { --plan_.users_; }
    Hold(const Hold&) = delete;
    Hold& operator=(const Hold&) = delete;

   private:
    Plan& plan_;
  };

 private:
  // A buffer for each output.
  class OwnBuffers : public BufferAllocator {
   public:
    Tensor allocate(const Slot&, DType dtype, const Shape& shape) override {
      return Tensor(dtype, shape);
    }
  };
  struct ResultCopy {
    const Slot* source;
    size_t result;
  };
  struct Node {
    Node(Operation& operation,
         std::vector<Slot*> inputs,
         Slot* outputs,
         ResourceManager& resources,
         BufferAllocator& allocator)
        : op(operation),
          context(op,
                  std::move(inputs),
                  outputs,
                  operation.num_outputs(),
                  resources,
                  allocator,
                  layout_changed) {}
    Operation& op;
    // An output has another buffer or shape than before. One a node, since nodes run side by side.
    bool layout_changed = false;
    KernelContext context;
    std::unique_ptr<Kernel> kernel;  // none for an alias
    // What the inputs' versions summed up to when the node was prepared.
    uint64_t prepared_version = kNeverPrepared;
    // Inputs that depend on shapes and constants only, a bit each.
    uint64_t layout_inputs = 0;
    // All inputs are of that kind: computed when prepared.
    bool is_layout = false;
    // Its preparation reads values that change from run to run.
    bool always_prepare = false;
    std::vector<ResultCopy> copies;
    int64_t cost_ns = 0;  // the least time that it took; 0 while unknown
    bool is_hot = false;  // has something to do in every run
  };
  static constexpr uint64_t kNeverPrepared = ~uint64_t{0};

  void add_node(Operation& op);
  const Slot* feed_slot(const Output& output) const;
  Slot* slot_of(const Output& output);
  void mark_snapshots();
  void choose_hot_nodes();

  void set_feeds(const std::vector<Tensor>& values);
  void run_all_from(size_t first);
  void run_hot();
  bool prepare_if_needed(Node& node);
  // Several threads, where they are worth it (plan_waves.cpp).
  bool run_on_threads();
  void run_measured();
  void make_waves();
  void run_waves();
  template <typename Run>
  void run_shared(const std::vector<Node*>& nodes, Run run_node);
  void prepare(Node& node);
  void check_inputs(const Node& node) const;
  uint64_t infer_outputs(Node& node);
  void compute_layout(Node& node, bool is_first);
  void execute(Node& node);
  void execute_observed(Node& node);
  void copy_result(const ResultCopy& copy, const std::string& name);

  ResourceManager& resources_;
  OwnBuffers buffers_;
  std::vector<Slot> slots_;  // never grows once nodes point into it
  std::vector<std::pair<Output, size_t>> feeds_;
  std::unordered_map<const Operation*, size_t> first_slot_;
  std::unordered_map<const Operation*, bool> is_layout_;
  std::deque<Node> nodes_;
  std::vector<ResultCopy> fed_results_;
  std::vector<size_t> hot_;  // nodes with something to do in every run
  std::vector<Tensor> results_;
  class Observer;
  Observer* observer_ = nullptr;  // of the run under way
  bool layout_changed_ = true;
  int users_ = 0;
  struct Waves;
  std::shared_ptr<Waves> waves_;
};

// The operations that the fetches need, in the order in which a plan runs them.
std::vector<Operation*> ordered_operations(const std::vector<Fetch>& fetches,
                                           const std::vector<Output>& feeds);

}  // namespace runhooks
