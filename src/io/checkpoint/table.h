// LevelDB's table format, uncompressed: the sorted entries of an .index file.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace runhooks {

class BlockBuilder {
 public:
  explicit BlockBuilder(int restart_interval) : interval_(restart_interval) {}

  void add(std::string_view key, std::string_view value);
  bool empty() const { return bytes_.empty(); }
  size_t size() const { return bytes_.size() + 4 * restarts_.size() + 4; }
  // Returns the block and resets the builder.
  std::string finish();

 private:
  int interval_;
  int since_restart_ = 0;
  std::string bytes_, last_key_;
  std::vector<uint32_t> restarts_ = {0};
};

// Builds a table; keys must be strictly increasing in byte order.
class TableBuilder {
 public:
  static constexpr size_t kBlockSize = 256 * 1024;

  explicit TableBuilder(size_t block_size = kBlockSize) : block_size_(block_size) {}

  void add(std::string_view key, std::string_view value);
  std::string finish();

 private:
  struct Handle {
    uint64_t offset, size;
  };
  Handle write_block(BlockBuilder& block);
  // Adds the finished block to the index; needs the next block's first key for a short separator.
  void add_pending_to_index(const std::string& separator);

  size_t block_size_;
  std::string bytes_, last_key_;
  BlockBuilder data_{16}, index_{1};
  bool has_pending_ = false, has_entries_ = false;
  Handle pending_{0, 0};
};

using TableEntries = std::vector<std::pair<std::string, std::string>>;

// The entries of a file in order. Throws kDataLoss, naming `path`, if the file is damaged.
TableEntries read_table(std::string_view bytes, const std::string& path);

}  // namespace runhooks
