// What lives here: NodeTable, the slots and kernels of a session's operations, which all of its plans share.
// Who may use it: session.
// What it must not know: fetches, the order of a run, what the operations compute, R.
#pragma once

#include <memory>
#include <vector>

#include "graph/graph.h"
#include "graph/kernel.h"
#include "session/buffer_pool.h"

namespace runhooks {

class Executor;

using InputSet = uint64_t;

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
  InputSet values_read = 0;  // by the last preparation
  // In some plan it depends on shapes and constants only, so its value stays from run to run; the
  // second: what the outputs hold is that value, and not one of a plan that was fed another input.
  bool may_be_invariant = false, holds_invariant = false;
};

// Nodes are found by operation; they and their slots stay where they are as long as the table
// lives, so kernels and plans point into it. One plan of a table runs at a time: a run inside of a
// run needs a table of its own.
class NodeTable {
 public:
  NodeTable(ResourceManager& resources, const BufferOptions& options)
      : resources_(resources), buffers_(options) {}
  NodeTable(const NodeTable&) = delete;
  NodeTable& operator=(const NodeTable&) = delete;

  NodeItem& item(Operation& op);
  Slot& slot(const Output& output);
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
  // Who ran last.
  const Executor* bound = nullptr;
  int users = 0;  // held results among the table's plans

 private:
  struct Entry {
    std::vector<Slot> slots;  // of the outputs; never grows
    std::unique_ptr<NodeItem> item;
    int slot_users = 0, item_users = 0;
  };
  Entry& entry(const Operation& op);

  ResourceManager& resources_;
  BufferPool buffers_;
  std::vector<std::unique_ptr<Entry>> entries_;  // by the operation's id
  bool is_running_ = false;
};

}  // namespace runhooks
