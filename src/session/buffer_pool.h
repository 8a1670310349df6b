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
  size_t smallest = 4096;  // bytes; smaller outputs are not shared
};

// The interval from computing a value to its last use, in serial order and in levels.
struct LiveRange {
  int first = 0, last = 0;
  int first_level = 0, last_level = 0;
};

// Covers the values that a plan computes in every run.
using Liveness = std::unordered_map<Slot*, LiveRange>;

// Blocks of memory, each shared by outputs whose live ranges never overlap. An output keeps its
// buffer across runs, so prepared kernels stay valid. It loses the buffer only when a plan added
// later makes the ranges overlap.
class BufferPool : public BufferAllocator {
 public:
  explicit BufferPool(const BufferOptions& options) : options_(options) {}

  // Thread-safe: nodes of one level allocate concurrently.
  Tensor allocate(const Slot& slot, DType dtype, const Shape& shape) override;

  // `liveness` must live until it is removed.
  void add(const Liveness& liveness);
  void remove(const Liveness& liveness);
  // Gives a value that persists across runs a separate buffer.
  void exclude_from_sharing(Slot& slot);
  void forget(Slot& slot);

  // Counts the slots that have lost their buffers.
  uint64_t relocation_count() const { return relocation_count_; }
  size_t num_bytes() const;
  size_t num_placed() const;

 private:
  // The ranges in which one plan uses a block, in serial order and in levels. They never overlap.
  class Schedule {
   public:
    bool is_free(const LiveRange& range) const;
    void take(const LiveRange& range);
    void release(const LiveRange& range);

   private:
    std::map<int, int> ranges_, level_ranges_;  // first -> last
  };
  struct Block {
    Tensor storage;
    size_t capacity = 0;
    std::vector<Slot*> members;
    std::unordered_map<const Liveness*, Schedule> schedules;
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
