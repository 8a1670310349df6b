#include "session/buffer_pool.h"

#include <algorithm>

namespace runhooks {

namespace {

// A block that is so many times larger than needed is left to larger values.
constexpr size_t kMostSlack = 4;

Tensor memory(size_t bytes) { return Tensor(DType::kUint8, Shape{static_cast<int64_t>(bytes)}); }

}  // namespace

Tensor BufferPool::allocate(const Slot& slot, DType dtype, const Shape& shape) {
  size_t bytes = 0;
  const auto count = static_cast<size_t>(shape.is_fully_defined() ? shape.num_elements() : 0);
  const bool is_large = !__builtin_mul_overflow(count, dtype_size(dtype), &bytes) &&
                        bytes >= options_.smallest && bytes > 0;
  if (!options_.reuse || !is_large || dtype == DType::kString) return Tensor(dtype, shape);
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto found = places_.find(&slot);
  if (found == places_.end() || found->second.is_apart) return Tensor(dtype, shape);
  Place& place = found->second;
  const bool is_placed = place.block != nullptr;
  if (!is_placed) {
    place.block = find_block(*place.slot, bytes);
    place.block->members.push_back(place.slot);
  }
  // What has outgrown its place once may do so again.
  if (place.block->capacity < bytes) grow(*place.block, is_placed ? bytes + bytes / 4 : bytes);
  return place.block->storage.viewed_as(dtype, shape);
}

// By plan; NULL in a plan that does not compute it.
std::vector<const LiveRange*> BufferPool::ranges_of(Slot& slot) const {
  std::vector<const LiveRange*> ranges;
  for (const Liveness* plan : plans_) {
    const auto found = plan->find(&slot);
    ranges.push_back(found == plan->end() ? nullptr : &found->second);
  }
  return ranges;
}

bool BufferPool::fits_beside(const std::vector<const LiveRange*>& ranges,
                             const Block& block) const {
  for (size_t i = 0; i < plans_.size(); ++i) {
    if (!ranges[i]) continue;
    for (Slot* member : block.members) {
      const auto other = plans_[i]->find(member);
      if (other != plans_[i]->end() && ranges[i]->overlaps(other->second)) return false;
    }
  }
  return true;
}

// The smallest block that is large enough, else the largest of those that are not, else a new one.
BufferPool::Block* BufferPool::find_block(Slot& slot, size_t bytes) {
  const std::vector<const LiveRange*> ranges = ranges_of(slot);
  Block* best = nullptr;
  for (const auto& block : blocks_) {
    const size_t capacity = block->capacity;
    if (capacity / kMostSlack > bytes) continue;
    if (best && (best->capacity >= bytes ? capacity < bytes || capacity >= best->capacity
                                         : capacity <= best->capacity)) {
      continue;
    }
    if (fits_beside(ranges, *block)) best = block.get();
  }
  if (best) return best;
  blocks_.push_back(std::make_unique<Block>());
  return blocks_.back().get();
}

// Those who lie in the block are not needed now: they are prepared anew for the new one before they
// are.
void BufferPool::grow(Block& block, size_t bytes) {
  for (Slot* member : block.members) {
    if (!member->tensor.shares_buffer_with(block.storage)) continue;
    take_back(*member);
    ++moves_;
  }
  block.storage = Tensor();
  block.capacity = 0;
  block.storage = memory(bytes);
  block.capacity = bytes;
}

void BufferPool::take_back(Slot& slot) {
  slot.tensor = Tensor();
  slot.owned = false;
  ++slot.version;
}

void BufferPool::leave_block(Place& place) {
  if (!place.block) return;
  std::vector<Slot*>& members = place.block->members;
  members.erase(std::find(members.begin(), members.end(), place.slot));
  if (place.slot->tensor.shares_buffer_with(place.block->storage)) {
    take_back(*place.slot);
    ++moves_;
  }
  if (members.empty()) {
    const auto is_it = [&](const std::unique_ptr<Block>& b) { return b.get() == place.block; };
    blocks_.erase(std::find_if(blocks_.begin(), blocks_.end(), is_it));
  }
  place.block = nullptr;
}

void BufferPool::add(const Liveness& liveness) {
  const std::lock_guard<std::mutex> lock(mutex_);
  plans_.push_back(&liveness);
  std::vector<Slot*> losers;
  for (const auto& block : blocks_) {
    std::vector<const LiveRange*> kept;
    for (Slot* member : block->members) {
      const auto found = liveness.find(member);
      if (found == liveness.end()) continue;
      const LiveRange& range = found->second;
      const bool collides = std::any_of(
          kept.begin(), kept.end(), [&](const LiveRange* other) { return range.overlaps(*other); });
      if (collides) {
        losers.push_back(member);
      } else {
        kept.push_back(&range);
      }
    }
  }
  for (Slot* slot : losers) leave_block(places_[slot]);
  for (const auto& value : liveness) places_[value.first].slot = value.first;
}

void BufferPool::remove(const Liveness& liveness) {
  const std::lock_guard<std::mutex> lock(mutex_);
  plans_.erase(std::find(plans_.begin(), plans_.end(), &liveness));
}

void BufferPool::keep_apart(Slot& slot) {
  const std::lock_guard<std::mutex> lock(mutex_);
  Place& place = places_[&slot];
  place.slot = &slot;
  place.is_apart = true;
  leave_block(place);
}

void BufferPool::forget(Slot& slot) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto found = places_.find(&slot);
  if (found == places_.end()) return;
  leave_block(found->second);
  places_.erase(found);
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
