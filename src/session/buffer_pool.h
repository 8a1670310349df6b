// BufferPool: allocates the outputs of a session. Outputs that no plan needs at the same time
// share memory.
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
  size_t min_bytes = 4096;  // smaller outputs get separate buffers
};

// The interval from the computation of a value to its last use: as positions in the serial order of
// nodes, and as levels (groups of nodes that may run concurrently).
struct LiveRange {
  int first = 0, last = 0;
  int first_level = 0, last_level = 0;
};

// The live ranges of the values that a plan computes in every run.
using Liveness = std::unordered_map<Slot*, LiveRange>;

// Allocates blocks of memory. Outputs share a block if their live ranges never overlap. An output
// keeps its buffer across runs, so prepared kernels stay valid. It loses the buffer only if its
// block grows, or if a plan is added in which the ranges overlap.
class BufferPool : public BufferAllocator {
 public:
  explicit BufferPool(const BufferOptions& options) : options_(options) {}

  // Thread-safe: nodes of one level allocate concurrently.
  Tensor allocate(const Slot& slot, DType dtype, const Shape& shape) override;

  // `liveness` must live until it is removed.
  void add(const Liveness& liveness);
  void remove(const Liveness& liveness);
  // Makes the slot use its own buffer, for a value that persists across runs.
  void exclude_from_sharing(Slot& slot);
  // Removes the slot, which no plan uses any more.
  void forget(Slot& slot);

  // Counts the slots that have lost their buffers.
  uint64_t relocation_count() const { return relocation_count_; }
  size_t num_bytes() const;
  // Number of slots that use a block.
  size_t num_placed() const;

 private:
  // The ranges in which one plan uses a block, in serial order and in levels; they never overlap.
  class BlockSchedule {
   public:
    bool is_free(const LiveRange& range) const;
    void occupy(const LiveRange& range);
    void release(const LiveRange& range);

   private:
    std::map<int, int> ranges_, level_ranges_;  // first -> last
  };
  struct Block {
    Tensor storage;
    size_t capacity = 0;
    std::vector<Slot*> members;
    std::unordered_map<const Liveness*, BlockSchedule> schedules;
  };
  struct Placement {
    bool is_excluded = false;
    Slot* slot = nullptr;
    Block* block = nullptr;
  };

  using Ranges = std::vector<std::pair<const Liveness*, const LiveRange*>>;
  Ranges ranges_of(Slot& slot) const;
  static bool can_share(const Ranges& ranges, const Block& block);
  Block* find_block(const Ranges& ranges, size_t bytes);
  void join_block(Block& block, Slot& slot, const Ranges& ranges);
  void grow(Block& block, size_t bytes);
  void leave_block(Placement& placement);
  static void invalidate_slot(Slot& slot);

  BufferOptions options_;
  std::mutex mutex_;
  std::vector<const Liveness*> plans_;
  std::unordered_map<const Slot*, Placement> placements_;
  std::vector<std::unique_ptr<Block>> blocks_;
  size_t next_candidate_ = 0;
  uint64_t relocation_count_ = 0;
};

}  // namespace runhooks
