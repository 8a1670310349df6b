// LevelDB's table format, uncompressed: the sorted entries of an .index file.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace runhooks {

// Builds a block of entries. A key is stored without the prefix that it shares with the previous
// key, except at restart points.
class BlockBuilder {
 public:
  explicit BlockBuilder(int restart_interval) : restart_interval_(restart_interval) {}

  void add(std::string_view key, std::string_view value);
  bool empty() const { return bytes_.empty(); }
  size_t size() const { return bytes_.size() + 4 * restart_offsets_.size() + 4; }
  // Returns the block and resets the builder.
  std::string finish();

 private:
  int restart_interval_;
  int entries_since_restart_ = 0;
  std::string bytes_, last_key_;
  std::vector<uint32_t> restart_offsets_ = {0};
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
  // Adds the last finished block to the index. `separator` is a key that is not less than the last
  // key of this block, and less than the first key of the next one.
  void index_pending_block(const std::string& separator);

  size_t block_size_;
  std::string bytes_, last_key_;
  BlockBuilder data_block_{16}, index_block_{1};
  bool has_pending_block_ = false, has_entries_ = false;
  Handle pending_block_{0, 0};
};

using TableEntries = std::vector<std::pair<std::string, std::string>>;

// Reads all entries in order. Throws kDataLoss, naming `path`, if the file is damaged.
TableEntries read_table(std::string_view bytes, const std::string& path);

}  // namespace runhooks
