#include "session/buffer_pool.h"

#include <algorithm>

#include "base/complexity_counter.h"

namespace runhooks {

namespace {

// An output does not share a block that is more than kMaxSlack times as large as the output.
constexpr size_t kMaxSlack = 4;
// Upper limit on the blocks examined per allocation, so that graphs with many large outputs stay
// linear.
constexpr size_t kMaxCandidates = 128;

Tensor allocate_bytes(size_t bytes) {
  return Tensor(DType::kUint8, Shape{static_cast<int64_t>(bytes)});
}

}  // namespace

Tensor BufferPool::allocate(const Slot& slot, DType dtype, const Shape& shape) {
  size_t bytes = 0;
  const auto count = static_cast<size_t>(shape.is_fully_defined() ? shape.num_elements() : 0);
  const bool is_large = !__builtin_mul_overflow(count, dtype_size(dtype), &bytes) &&
                        bytes >= options_.min_bytes && bytes > 0;
  if (!options_.reuse || !is_large || dtype == DType::kString) return Tensor(dtype, shape);
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto entry = placements_.find(&slot);
  if (entry == placements_.end() || entry->second.is_excluded) return Tensor(dtype, shape);
  Placement& placement = entry->second;
  const bool is_placed = placement.block != nullptr;
  if (!is_placed) {
    const Ranges ranges = ranges_of(*placement.slot);
    placement.block = find_block(ranges, bytes);
    join_block(*placement.block, *placement.slot, ranges);
  }
  // If this output already had a buffer, it grows, so it gets a reserve of a quarter.
  if (placement.block->capacity < bytes) {
    grow(*placement.block, is_placed ? bytes + bytes / 4 : bytes);
  }
  return placement.block->storage.viewed_as(dtype, shape);
}

namespace {

// True if no range overlaps [first, last]. The ranges must be disjoint.
bool is_disjoint(const std::map<int, int>& ranges, int first, int last) {
  const auto next = ranges.upper_bound(last);
  return next == ranges.begin() || std::prev(next)->second < first;
}

}  // namespace

bool BufferPool::BlockSchedule::is_free(const LiveRange& range) const {
  return is_disjoint(ranges_, range.first, range.last) &&
         is_disjoint(level_ranges_, range.first_level, range.last_level);
}

void BufferPool::BlockSchedule::occupy(const LiveRange& range) {
  ranges_[range.first] = range.last;
  level_ranges_[range.first_level] = range.last_level;
}

void BufferPool::BlockSchedule::release(const LiveRange& range) {
  ranges_.erase(range.first);
  level_ranges_.erase(range.first_level);
}

// Returns the live ranges of the slot in all plans that compute it.
BufferPool::Ranges BufferPool::ranges_of(Slot& slot) const {
  Ranges ranges;
  for (const Liveness* plan : plans_) {
    const auto range = plan->find(&slot);
    if (range != plan->end()) ranges.emplace_back(plan, &range->second);
  }
  return ranges;
}

bool BufferPool::can_share(const Ranges& ranges, const Block& block) {
  return std::all_of(ranges.begin(), ranges.end(), [&block](const auto& range) {
    const auto schedule = block.schedules.find(range.first);
    return schedule == block.schedules.end() || schedule->second.is_free(*range.second);
  });
}

void BufferPool::join_block(Block& block, Slot& slot, const Ranges& ranges) {
  block.members.push_back(&slot);
  for (const auto& [plan, range] : ranges) block.schedules[plan].occupy(*range);
}

// Returns the smallest block that is large enough; otherwise the largest block, which grow()
// enlarges; otherwise a new block. With many blocks, examines only kMaxCandidates, starting after
// the block that was chosen last.
BufferPool::Block* BufferPool::find_block(const Ranges& ranges, size_t bytes) {
  Block* best = nullptr;
  const size_t n = blocks_.size();
  size_t at = n > kMaxCandidates ? next_candidate_ % n : 0;
  for (size_t i = 0; i < std::min(n, kMaxCandidates); ++i, at = at + 1 < n ? at + 1 : 0) {
    ++pass_work_count();
    Block* block = blocks_[at].get();
    const size_t capacity = block->capacity;
    if (capacity / kMaxSlack > bytes) continue;
    if (best && (best->capacity >= bytes ? capacity < bytes || capacity >= best->capacity
                                         : capacity <= best->capacity)) {
      continue;
    }
    if (!can_share(ranges, *block)) continue;
    best = block;
    next_candidate_ = at + 1;
  }
  if (best) return best;
  blocks_.push_back(std::make_unique<Block>());
  return blocks_.back().get();
}

// Invalidates all members. That is safe, because they are not live now and are prepared again
// before their next use.
void BufferPool::grow(Block& block, size_t bytes) {
  for (Slot* member : block.members) {
    if (!member->tensor.shares_buffer_with(block.storage)) continue;
    invalidate_slot(*member);
    ++relocation_count_;
  }
  block.storage = Tensor();
  block.capacity = 0;
  block.storage = allocate_bytes(bytes);
  block.capacity = bytes;
}

void BufferPool::invalidate_slot(Slot& slot) {
  slot.tensor = Tensor();
  slot.owned = false;
  ++slot.version;
}

void BufferPool::leave_block(Placement& placement) {
  if (!placement.block) return;
  std::vector<Slot*>& members = placement.block->members;
  members.erase(std::find(members.begin(), members.end(), placement.slot));
  for (const auto& [plan, range] : ranges_of(*placement.slot)) {
    placement.block->schedules[plan].release(*range);
  }
  if (placement.slot->tensor.shares_buffer_with(placement.block->storage)) {
    invalidate_slot(*placement.slot);
    ++relocation_count_;
  }
  if (members.empty()) {
    const auto is_this_block = [&](const std::unique_ptr<Block>& b) {
      return b.get() == placement.block;
    };
    blocks_.erase(std::find_if(blocks_.begin(), blocks_.end(), is_this_block));
  }
  placement.block = nullptr;
}

void BufferPool::add(const Liveness& liveness) {
  const std::lock_guard<std::mutex> lock(mutex_);
  std::vector<Slot*> evicted;
  for (const auto& block : blocks_) {
    for (Slot* member : block->members) {
      ++pass_work_count();
      const auto range = liveness.find(member);
      if (range == liveness.end()) continue;
      BlockSchedule& schedule = block->schedules[&liveness];
      if (schedule.is_free(range->second)) {
        schedule.occupy(range->second);
      } else {
        evicted.push_back(member);
      }
    }
  }
  for (Slot* slot : evicted) leave_block(placements_[slot]);
  // Adds the plan only now: leave_block() releases the ranges of all plans in `plans_`, but evicted
  // slots have not occupied ranges for this plan.
  plans_.push_back(&liveness);
  for (const auto& value : liveness) placements_[value.first].slot = value.first;
}

void BufferPool::remove(const Liveness& liveness) {
  const std::lock_guard<std::mutex> lock(mutex_);
  plans_.erase(std::find(plans_.begin(), plans_.end(), &liveness));
  for (const auto& block : blocks_) block->schedules.erase(&liveness);
}

void BufferPool::exclude_from_sharing(Slot& slot) {
  const std::lock_guard<std::mutex> lock(mutex_);
  Placement& placement = placements_[&slot];
  placement.slot = &slot;
  placement.is_excluded = true;
  leave_block(placement);
}

void BufferPool::forget(Slot& slot) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto entry = placements_.find(&slot);
  if (entry == placements_.end()) return;
  leave_block(entry->second);
  placements_.erase(entry);
}

size_t BufferPool::num_bytes() const {
  size_t bytes = 0;
  for (const auto& block : blocks_) bytes += block->capacity;
  return bytes;
}

// lint: allow caller (tests count them)
size_t BufferPool::num_placed() const {
  size_t n = 0;
  for (const auto& block : blocks_) n += block->members.size();
  return n;
}

}  // namespace runhooks
