// DataFingerprint: identifies the data of a dataset by a hash and a readable description.
#pragma once

#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "io/files/atomic_file.h"
#include "tensor/tensor.h"

namespace runhooks {

struct InMemoryColumn;

// The result depends on the order of the added items.
class DataFingerprint {
 public:
  void add(uint64_t part);
  void add(std::string_view text);
  // Hashes values; strings by their text, independent of their codes.
  void add(const Tensor& tensor);
  void add(const InMemoryColumn& column);
  // Adds to the readable description: "64 rows of float32()".
  void describe(std::string words) { descriptions_.push_back(std::move(words)); }

  uint64_t fingerprint() const { return fingerprint_; }
  std::string description() const;

 private:
  uint64_t fingerprint_ = 0;
  std::vector<std::string> descriptions_;
};

// Hashes a file's length and 16 blocks, including the first and last: cheap enough for each opening
// of a file, but blind to changes between the blocks.
uint64_t file_fingerprint(InputFile& file);

// Caches fingerprints of files; recomputes one only if the file's size or time has changed. Files of
// up to 256 MB are hashed completely, larger ones by blocks and modification time.
class FileFingerprints {
 public:
  void add_to(DataFingerprint& content, const std::vector<std::string>& paths) const;

 private:
  struct Known {
    bool is_there = false;
    uint64_t size = 0, fingerprint = 0;
    double time = 0;
  };
  static void update_known(const std::string& path, Known& known);

  mutable std::mutex mutex_;
  mutable std::vector<Known> known_;
};

// Computed once, because data in memory never change.
class LazyFingerprint {
 public:
  // `find` computes the fingerprint on first use.
  template <typename Find>
  uint64_t operator()(Find find) const {
    std::call_once(once_flag_, [&] { fingerprint_ = find(); });
    return fingerprint_;
  }

 private:
  mutable std::once_flag once_flag_;
  mutable uint64_t fingerprint_ = 0;
};

// Adds the columns of an in-memory dataset.
void add_columns(DataFingerprint& content,
                 const std::vector<InMemoryColumn>& columns,
                 const LazyFingerprint& once);

}  // namespace runhooks
