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
  // Hashes the values. A string is hashed by its text, because processes may give it other codes.
  void add(const Tensor& tensor);
  void add(const InMemoryColumn& column);
  // Adds to the readable description, for example "64 rows of float32()".
  void describe(std::string text) { descriptions_.push_back(std::move(text)); }

  uint64_t fingerprint() const { return fingerprint_; }
  std::string description() const;

 private:
  uint64_t fingerprint_ = 0;
  std::vector<std::string> descriptions_;
};

// Hashes a file's length and 16 blocks, including the first and last. This is cheap enough to run
// whenever a file is opened, but does not notice changes between the blocks.
uint64_t file_fingerprint(InputFile& file);

// Caches fingerprints of files; recomputes one only if the file's size or time has changed. Files
// of up to 256 MB are hashed completely, larger ones by blocks and modification time.
class FileFingerprints {
 public:
  void add_files_to(DataFingerprint& fingerprint, const std::vector<std::string>& paths) const;

 private:
  struct Entry {
    bool exists = false;
    uint64_t size = 0, fingerprint = 0;
    double time = 0;
  };
  static void refresh(const std::string& path, Entry& entry);

  mutable std::mutex mutex_;
  mutable std::vector<Entry> entries_;
};

// A fingerprint of data in memory. Such data never change, so it is computed only once.
class LazyFingerprint {
 public:
  // Returns the fingerprint, which `compute()` returns on the first call.
  template <typename Compute>
  uint64_t operator()(Compute compute) const {
    std::call_once(once_flag_, [&] { fingerprint_ = compute(); });
    return fingerprint_;
  }

 private:
  mutable std::once_flag once_flag_;
  mutable uint64_t fingerprint_ = 0;
};

// Adds the columns of an in-memory dataset. `cache` keeps their fingerprint for later calls.
void add_columns(DataFingerprint& fingerprint,
                 const std::vector<InMemoryColumn>& columns,
                 const LazyFingerprint& cache);

}  // namespace runhooks
