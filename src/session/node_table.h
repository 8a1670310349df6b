// What lives here: NodeTable, the slots and kernels of a session's operations, which all of its plans share.
// Who may use it: session.
// What it must not know: fetches, the order of a run, what the operations compute, R.
#pragma once

#include <atomic>
#include <memory>
#include <utility>
#include <vector>

#include "graph/graph.h"
#include "graph/kernel.h"
#include "session/buffer_pool.h"

namespace runhooks {

class Executor;

// An operation with its kernel, as all plans see it.
struct NodeItem {
  static constexpr uint64_t kNeverPrepared = ~uint64_t{0};

  NodeItem(Operation& operation,
           std::vector<Slot*> inputs,
           Slot* outputs,
           ResourceManager& resources,
           BufferAllocator& allocator);
  // Whether an input or an output is another one than when the kernel was prepared.
  bool is_outdated() const {
    return prepared_inputs != context.input_version() ||
           prepared_outputs != context.output_version();
  }

  Operation& op;
  // An output has another buffer or shape than before. One a node, since nodes run side by side.
  bool layout_changed = false;
  KernelContext context;
  std::unique_ptr<Kernel> kernel;  // none where an input is forwarded
  // What the versions summed up to when the kernel was prepared.
  uint64_t prepared_inputs = kNeverPrepared, prepared_outputs = 0;
  InputSet values_read;  // by the last preparation
};

// An operation of a session. A tensor that is fed has a slot of its own beside the one that its
// operation writes to, so an operation has an item for each set of inputs that plans feed.
struct NodeEntry {
  std::vector<Slot> slots, feed_slots;  // of the outputs; they never grow
  std::vector<std::pair<std::vector<bool>, std::unique_ptr<NodeItem>>> items;  // by fed inputs
  int users = 0, runners = 0;  // plans that use a slot, and that run it
  // What the outputs hold depends on shapes and constants only, so it stays from run to run.
  bool holds_invariant = false;
};

// Entries are found by operation; they, their items and slots stay where they are as long as the
// table lives, so kernels and plans point into it. One plan of a table runs at a time: a run inside
// of a run needs a table of its own.
class NodeTable {
 public:
  NodeTable(ResourceManager& resources, const BufferOptions& options)
      : resources_(resources), buffers_(options) {}
  NodeTable(const NodeTable&) = delete;
  NodeTable& operator=(const NodeTable&) = delete;

  NodeEntry& entry(const Operation& op);
  // The operation with these of its inputs fed.
  NodeItem& item(Operation& op, const std::vector<bool>& fed_inputs);
  Slot& slot(const Output& output) { return entry(*output.op).slots[place(output)]; }
  Slot& feed_slot(const Output& output);
  BufferPool& buffers() { return buffers_; }

  // A plan uses the operation's slots, and its kernel; what nobody uses gives its memory back.
  void retain(const Operation& op, bool runs);
  void release(const Operation& op, bool runs);

  bool is_running() const { return is_running_; }
  // While one lives, a plan of the table runs.
  class Run {
   public:
    explicit Run(NodeTable& table) : table_(table) { table_.is_running_ = true; }
    ~Run() { table_.is_running_ = false; }
    Run(const Run&) = delete;
    Run& operator=(const Run&) = delete;

   private:
    NodeTable& table_;
  };

  // Another number whenever a slot has got another version.
  uint64_t epoch = 1;
  // How often an entry was made to hold what stays: helping threads prepare, too.
  std::atomic<uint64_t> invariants{0};
  // Who ran last.
  const Executor* bound = nullptr;
  int users = 0;  // held results among the table's plans
  // Of the items, those whose reads are snapshots, or were when they went: never fewer.
  size_t snapshots = 0;

 private:
  static size_t place(const Output& output) { return static_cast<size_t>(output.index); }

  ResourceManager& resources_;
  BufferPool buffers_;
  std::vector<std::unique_ptr<NodeEntry>> entries_;  // by the operation's id
  bool is_running_ = false;
};

}  // namespace runhooks
