#include "session/executor_cache.h"

#include <algorithm>

namespace runhooks {

namespace {

uint64_t hash_of(const std::vector<int64_t>& key) {
  uint64_t hash = 1469598103934665603ull;
  for (int64_t number : key) hash = (hash ^ static_cast<uint64_t>(number)) * 1099511628211ull;
  return hash;
}

}  // namespace

std::shared_ptr<Executor> ExecutorCache::find(const std::vector<int64_t>& key,
                                              const NodeTable& table) {
  const uint64_t hash = hash_of(key);
  for (Entry& entry : entries_) {
    if (entry.hash != hash || &entry.executor->plan().table() != &table ||
        entry.executor->in_use() || entry.key != key) {
      continue;
    }
    entry.last_used = ++clock_;
    return entry.executor;
  }
  return nullptr;
}

void ExecutorCache::add(std::vector<int64_t> key, std::shared_ptr<Executor> executor) {
  if (entries_.size() >= capacity_) evict_one();
  const uint64_t hash = hash_of(key);
  entries_.push_back({hash, std::move(key), std::move(executor), ++clock_});
}

void ExecutorCache::evict_one() {
  auto oldest = entries_.end();
  for (auto entry = entries_.begin(); entry != entries_.end(); ++entry) {
    if (entry->executor->in_use()) continue;
    if (oldest == entries_.end() || entry->last_used < oldest->last_used) oldest = entry;
  }
  if (oldest != entries_.end()) entries_.erase(oldest);
}

}  // namespace runhooks
