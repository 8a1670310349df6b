#include "io/checkpoint/table.h"

#include <algorithm>

#include "io/files/crc32c.h"
#include "io/proto/wire.h"

namespace runhooks {

namespace {

constexpr uint64_t kTableMagic = 0xdb4775248b80fb57ull;
constexpr size_t kTableFooterSize = 48, kTrailerSize = 5;

size_t common_prefix_size(std::string_view a, std::string_view b) {
  const size_t n = std::min(a.size(), b.size());
  size_t i = 0;
  while (i < n && a[i] == b[i]) ++i;
  return i;
}

// Returns a short key k with a <= k < b. In the index of the table, it separates a block that ends
// with key `a` from a block that begins with key `b`.
std::string shortest_separator(const std::string& a, std::string_view b) {
  const size_t n = common_prefix_size(a, b);
  if (n == a.size() || n == b.size()) return a;
  const auto byte = static_cast<uint8_t>(a[n]);
  if (byte == 0xff || byte + 1 >= static_cast<uint8_t>(b[n])) return a;
  return a.substr(0, n) + static_cast<char>(byte + 1);
}

// Returns a short key that is not less than `a`, for the index entry of the last block.
std::string short_successor(const std::string& a) {
  for (size_t i = 0; i < a.size(); ++i) {
    const auto byte = static_cast<uint8_t>(a[i]);
    if (byte != 0xff) return a.substr(0, i) + static_cast<char>(byte + 1);
  }
  return a;
}

}  // namespace

void BlockBuilder::add(std::string_view key, std::string_view value) {
  size_t shared = 0;
  if (entries_since_restart_ < restart_interval_) {
    shared = common_prefix_size(last_key_, key);
  } else {
    restart_offsets_.push_back(static_cast<uint32_t>(bytes_.size()));
    entries_since_restart_ = 0;
  }
  append_varint(bytes_, shared);
  append_varint(bytes_, key.size() - shared);
  append_varint(bytes_, value.size());
  bytes_.append(key.substr(shared)).append(value);
  last_key_.assign(key);
  ++entries_since_restart_;
}

std::string BlockBuilder::finish() {
  for (uint32_t restart : restart_offsets_) append_fixed32(bytes_, restart);
  append_fixed32(bytes_, static_cast<uint32_t>(restart_offsets_.size()));
  std::string block = std::move(bytes_);
  *this = BlockBuilder(restart_interval_);
  return block;
}

TableBuilder::Handle TableBuilder::write_block(BlockBuilder& block) {
  const size_t offset = bytes_.size();
  bytes_ += block.finish();
  const Handle handle = {offset, bytes_.size() - offset};
  bytes_ += '\0';  // type: not compressed
  append_fixed32(bytes_, mask_crc(crc32c(bytes_.data() + offset, bytes_.size() - offset)));
  return handle;
}

void TableBuilder::index_pending_block(const std::string& separator) {
  if (!has_pending_block_) return;
  std::string handle;
  append_varint(handle, pending_block_.offset);
  append_varint(handle, pending_block_.size);
  index_block_.add(separator, handle);
  has_pending_block_ = false;
}

void TableBuilder::add(std::string_view key, std::string_view value) {
  if (has_entries_ && key <= last_key_) {
    fail(Code::kInternal, "Table keys must be strictly increasing; got '", std::string(key),
         "' after '", last_key_, "'.");
  }
  if (has_pending_block_) index_pending_block(shortest_separator(last_key_, key));
  data_block_.add(key, value);
  last_key_.assign(key);
  has_entries_ = true;
  if (data_block_.size() >= block_size_) {
    pending_block_ = write_block(data_block_);
    has_pending_block_ = true;
  }
}

std::string TableBuilder::finish() {
  if (!data_block_.empty()) {
    pending_block_ = write_block(data_block_);
    has_pending_block_ = true;
  }
  BlockBuilder empty(16);
  const Handle metaindex = write_block(empty);
  index_pending_block(short_successor(last_key_));
  const Handle index = write_block(index_block_);
  std::string footer;
  for (const Handle& handle : {metaindex, index}) {
    append_varint(footer, handle.offset);
    append_varint(footer, handle.size);
  }
  footer.resize(kTableFooterSize - 8, '\0');
  append_fixed64(footer, kTableMagic);
  return std::move(bytes_) + footer;
}

namespace {

class TableReader {
 public:
  TableReader(std::string_view bytes, const std::string& path) : bytes_(bytes), path_(path) {}

  TableEntries read() {
    if (bytes_.size() < kTableFooterSize) {
      throw_damaged(str_cat("it has ", bytes_.size(), " bytes; a table has at least ",
                            kTableFooterSize, ", so it may be truncated"));
    }
    std::string_view footer = bytes_.substr(bytes_.size() - kTableFooterSize);
    if (load_fixed64(footer.data() + kTableFooterSize - 8) != kTableMagic) {
      throw_damaged(
          "it does not end with a table's magic number, so it is not a table or is truncated");
    }
    read_block(footer, "metaindex");
    TableEntries entries;
    for (const auto& item : read_block(footer, "index")) {
      std::string_view handle = item.second;
      for (auto& entry : read_block(handle, "data")) {
        if (!entries.empty() && entry.first <= entries.back().first)
          throw_damaged("its keys are not sorted");
        entries.push_back(std::move(entry));
      }
    }
    return entries;
  }

 private:
  [[noreturn]] void throw_damaged(const std::string& problem) const {
    fail(Code::kDataLoss, "Damaged table '", path_, "': ", problem, ".");
  }

  TableEntries read_block(std::string_view& handle, const char* kind) {
    uint64_t offset, size;
    const uint64_t end = bytes_.size() - kTableFooterSize;
    if (!take_varint(handle, &offset) || !take_varint(handle, &size) || offset > end ||
        size > end - offset || end - offset - size < kTrailerSize || size < 4) {
      throw_damaged(str_cat("the handle of its ", kind, " block points outside the file"));
    }
    const std::string_view block = bytes_.substr(offset, size);
    const char* trailer = block.data() + size;
    if (mask_crc(crc32c(block.data(), size + 1)) != load_fixed32(trailer + 1)) {
      throw_damaged(str_cat("the checksum of the ", kind, " block at ", offset, " does not match"));
    }
    if (*trailer != 0) {
      fail(Code::kUnimplemented, "The table '", path_, "' is compressed (type ",
           static_cast<int>(*trailer), "); only uncompressed ones can be read.");
    }
    return parse_entries(block, kind);
  }

  TableEntries parse_entries(std::string_view block, const char* kind) {
    const uint64_t restarts = load_fixed32(block.data() + block.size() - 4);
    if (restarts > (block.size() - 4) / 4)
      throw_damaged(str_cat("a ", kind, " block is too short for its restart points"));
    std::string_view remaining = block.substr(0, block.size() - 4 - 4 * restarts);
    TableEntries entries;
    std::string key;
    while (!remaining.empty()) {
      uint64_t shared, added, value_size;
      if (!take_varint(remaining, &shared) || !take_varint(remaining, &added) ||
          !take_varint(remaining, &value_size) || shared > key.size() || added > remaining.size() ||
          value_size > remaining.size() - added) {
        throw_damaged(str_cat("an entry of a ", kind, " block exceeds the block"));
      }
      key.resize(shared);
      key.append(remaining.substr(0, added));
      entries.emplace_back(key, remaining.substr(added, value_size));
      remaining.remove_prefix(added + value_size);
    }
    return entries;
  }

  std::string_view bytes_;
  const std::string& path_;
};

}  // namespace

TableEntries read_table(std::string_view bytes, const std::string& path) {
  return TableReader(bytes, path).read();
}

}  // namespace runhooks
