// ExecutorCache: LRU cache of compiled plans, keyed by fetches and feeds.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "session/executor.h"

namespace runhooks {

// If the cache is full, adding an executor evicts the least recently used executor that is idle.
class ExecutorCache {
 public:
  explicit ExecutorCache(size_t capacity) : capacity_(capacity) {}

  // Returns an idle executor of this table, or NULL.
  std::shared_ptr<Executor> find(const std::vector<int64_t>& key, const NodeTable& table);
  void add(std::vector<int64_t> key, std::shared_ptr<Executor> executor);
  size_t size() const { return entries_.size(); }
  void clear() { entries_.clear(); }

 private:
  struct Entry {
    uint64_t hash;
    std::vector<int64_t> key;
    std::shared_ptr<Executor> executor;
    uint64_t last_used;
  };
  void evict_one();

  size_t capacity_;
  std::vector<Entry> entries_;
  uint64_t clock_ = 0;
};

}  // namespace runhooks
