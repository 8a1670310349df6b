// NodeTable: the slots and kernels of a session's operations, shared by its plans.
#pragma once

#include <atomic>
#include <memory>
#include <utility>
#include <vector>

#include "base/scoped_value.h"
#include "graph/graph.h"
#include "graph/kernel.h"
#include "session/buffer_pool.h"

namespace runhooks {

class Executor;

// An operation with its kernel, shared by all plans.
struct NodeItem {
  static constexpr uint64_t kNeverPrepared = ~uint64_t{0};

  NodeItem(Operation& operation,
           std::vector<Slot*> inputs,
           Slot* outputs,
           ResourceManager& resources,
           BufferAllocator& allocator);
  // True if an input or output has changed since the kernel was prepared.
  bool is_outdated() const {
    return prepared_inputs != context.input_version() ||
           prepared_outputs != context.output_version();
  }

  Operation& op;
  // True if an output has a new buffer or shape. Each node has a flag, because nodes run
  // concurrently.
  bool layout_changed = false;
  KernelContext context;
  std::unique_ptr<Kernel> kernel;  // NULL if the op forwards an input
  // Sums of the input and output versions when the kernel was prepared.
  uint64_t prepared_inputs = kNeverPrepared, prepared_outputs = 0;
  InputSet values_read;  // the inputs whose values the last preparation has read
};

// The slots and kernels of an operation in a session. A fed tensor has another slot than a computed
// one, and a kernel points to its input slots. So each set of fed inputs needs its own kernel.
struct NodeEntry {
  std::vector<Slot> slots, feed_slots;  // per output; must not reallocate
  // One item for each set of fed inputs.
  std::vector<std::pair<std::vector<bool>, std::unique_ptr<NodeItem>>> items;
  int users = 0;    // number of plans that use a slot
  int runners = 0;  // number of plans that run the operation
  // True if the outputs depend only on shapes and constants, and have been computed. They persist
  // across runs.
  bool holds_invariant = false;
};

// Entries, items and slots have stable addresses, because kernels and plans point to them. Only one
// plan of a table runs at a time, so a nested run needs another table.
class NodeTable {
 public:
  NodeTable(ResourceManager& resources, const BufferOptions& options)
      : resources_(resources), buffers_(options) {}
  NodeTable(const NodeTable&) = delete;
  NodeTable& operator=(const NodeTable&) = delete;

  NodeEntry& entry(const Operation& op);
  // Returns the item of `op` for this set of fed inputs; creates it on first use.
  NodeItem& item(Operation& op, const std::vector<bool>& fed_inputs);
  Slot& slot(const Output& output) { return entry(*output.op).slots[index_of(output)]; }
  Slot& feed_slot(const Output& output);
  BufferPool& buffers() { return buffers_; }

  // Reference counts of the operation's slots and kernel; the last release frees their memory.
  void retain(const Operation& op, bool runs);
  void release(const Operation& op, bool runs);

  bool is_running() const { return is_running_; }
  // Inside this scope, is_running() is TRUE.
  class Run {
   public:
    explicit Run(NodeTable& table) : scope_(table.is_running_, true) {}

   private:
    ScopedValue<bool> scope_;
  };

  // Increases whenever the version of a slot of this table changes.
  uint64_t epoch = 1;
  // Counts entries that became invariant. Atomic, because helper threads also prepare nodes.
  std::atomic<uint64_t> num_new_invariants{0};
  // The executor that ran last.
  const Executor* bound_executor = nullptr;
  int users = 0;  // number of Executor::Retain objects for executors of this table
  // Upper bound on the number of snapshot reads; not decremented when an item is destroyed.
  size_t num_snapshot_reads = 0;

 private:
  static size_t index_of(const Output& output) { return static_cast<size_t>(output.index); }

  ResourceManager& resources_;
  BufferPool buffers_;
  std::vector<std::unique_ptr<NodeEntry>> entries_;  // indexed by operation id
  bool is_running_ = false;
};

}  // namespace runhooks
