// What lives here: DataFingerprint, what the data behind a dataset are: a fingerprint of their values, and words.
// Who may use it: data.
// What it must not know: where the data lie, what is done with them, R.
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

// Parts are added in their order.
class DataFingerprint {
 public:
  void add(uint64_t part);
  void add(std::string_view text);
  // By values; strings by their words, whatever their codes are.
  void add(const Tensor& tensor);
  void add(const InMemoryColumn& column);
  // For people: "64 rows of float32()".
  void say(std::string words) { words_.push_back(std::move(words)); }

  uint64_t fingerprint() const { return fingerprint_; }
  std::string words() const;

 private:
  uint64_t fingerprint_ = 0;
  std::vector<std::string> words_;
};

// Of a file's length and of blocks of it, the first and the last among them: what can be seen of
// another file without reading all of a large one. Where it lies and when it was written say
// nothing.
uint64_t file_fingerprint(InputFile& file);

// The fingerprints of files, read again only where their sizes or times say that they have changed.
class FileFingerprints {
 public:
  void add_to(DataFingerprint& content, const std::vector<std::string>& paths) const;

 private:
  struct Known {
    bool is_there = false;
    uint64_t size = 0, fingerprint = 0;
    double time = 0;
  };
  static void look(const std::string& path, Known& known);

  mutable std::mutex mutex_;
  mutable std::vector<Known> known_;
};

// What is found once: data in memory do not change.
class LazyFingerprint {
 public:
  // `find` gives the fingerprint where nobody has asked yet.
  template <typename Find>
  uint64_t operator()(Find find) const {
    std::call_once(once_, [&] { fingerprint_ = find(); });
    return fingerprint_;
  }

 private:
  mutable std::once_flag once_;
  mutable uint64_t fingerprint_ = 0;
};

// What a dataset in memory is.
void add_columns(DataFingerprint& content,
                 const std::vector<InMemoryColumn>& columns,
                 const LazyFingerprint& once);

}  // namespace runhooks
