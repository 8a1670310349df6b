// What lives here: BufferPool, which gives a session's outputs their memory: those that no plan needs at the same time share it.
// Who may use it: session.
// What it must not know: kernels, how plans run, R.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <utility>
#include <vector>

#include "graph/kernel.h"

namespace runhooks {

struct BufferOptions {
  bool reuse = true;
  size_t smallest = 4096;  // bytes of an output that are worth sharing
};

// When a value is needed, from its making to its last reader, in both of the orders in which a plan
// may run: one node after the other, and level by level.
struct LiveRange {
  int first = 0, last = 0;
  int first_level = 0, last_level = 0;
};

// Of the values that one plan computes in every run.
using Liveness = std::unordered_map<Slot*, LiveRange>;

// Blocks of memory, each for outputs whose live ranges overlap in no plan. An output gets its place
// when its size is known first and keeps it, so that kernels stay prepared whichever plan runs; it
// loses the place to a plan made later in which the neighbours do overlap.
class BufferPool : public BufferAllocator {
 public:
  explicit BufferPool(const BufferOptions& options) : options_(options) {}

  // Nodes that run side by side may call it at the same time.
  Tensor allocate(const Slot& slot, DType dtype, const Shape& shape) override;

  // A plan comes and goes; `liveness` lives as long as the plan does.
  void add(const Liveness& liveness);
  void remove(const Liveness& liveness);
  // The value stays from run to run: it has memory of its own.
  void exclude_from_sharing(Slot& slot);
  void forget(Slot& slot);

  // How often slots have lost their buffers to others.
  uint64_t moves() const { return moves_; }
  // All that is in blocks, and the outputs that share it.
  size_t num_bytes() const;
  size_t num_placed() const;

 private:
  // When one block is in use in one plan: the ranges of its members, none of which overlap, in each
  // of the two orders.
  class Schedule {
   public:
    bool is_free(const LiveRange& range) const;
    void take(const LiveRange& range);
    void give_back(const LiveRange& range);

   private:
    std::map<int, int> ranges_, level_ranges_;  // first and last
  };
  struct Block {
    Tensor storage;
    size_t capacity = 0;
    std::vector<Slot*> members;
    std::unordered_map<const Liveness*, Schedule> schedules;
  };
  struct Place {
    bool is_apart = false;
    Slot* slot = nullptr;
    Block* block = nullptr;
  };

  using Ranges = std::vector<std::pair<const Liveness*, const LiveRange*>>;
  Ranges ranges_of(Slot& slot) const;
  static bool can_share(const Ranges& ranges, const Block& block);
  Block* find_block(const Ranges& ranges, size_t bytes);
  void join_block(Block& block, Slot& slot, const Ranges& ranges);
  void grow(Block& block, size_t bytes);
  void leave_block(Place& place);
  static void take_back(Slot& slot);

  BufferOptions options_;
  std::mutex mutex_;
  std::vector<const Liveness*> plans_;
  std::unordered_map<const Slot*, Place> places_;
  std::vector<std::unique_ptr<Block>> blocks_;
  size_t next_candidate_ = 0;  // among the blocks
  uint64_t moves_ = 0;
};

}  // namespace runhooks
