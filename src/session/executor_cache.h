// What lives here: ExecutorCache, the compiled plans that a session keeps, found by their fetches and feeds.
// Who may use it: session.
// What it must not know: how a plan runs, R.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "session/executor.h"

namespace runhooks {

// Keeps so many executors, and gives up the one that was asked for the longest time ago, unless it
// is in use.
class ExecutorCache {
 public:
  explicit ExecutorCache(size_t capacity) : capacity_(capacity) {}

  // One of this table that is not in use; NULL where there is none.
  std::shared_ptr<Executor> find(const std::vector<int64_t>& key, const NodeTable& table);
  void add(std::vector<int64_t> key, std::shared_ptr<Executor> executor);
  size_t size() const { return entries_.size(); }
  void clear() { entries_.clear(); }

 private:
  struct Entry {
    uint64_t hash;
    std::vector<int64_t> key;
    std::shared_ptr<Executor> executor;
    uint64_t last_asked;
  };
  void evict_one();

  size_t capacity_;
  std::vector<Entry> entries_;
  uint64_t clock_ = 0;
};

}  // namespace runhooks
