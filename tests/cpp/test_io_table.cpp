#include <map>

#include "io/checkpoint/table.h"
#include "io_test.h"

using namespace runhooks;
using namespace runhooks_test;

namespace {

std::string write_table(const TableEntries& entries, size_t block_size = TableBuilder::kBlockSize) {
  TableBuilder builder(block_size);
  for (const auto& entry : entries) builder.add(entry.first, entry.second);
  return builder.finish();
}

}  // namespace

TEST(io_table_rewrites_tensorflows_bytes) {
  for (const char* name : {"bundle/mixed.ckpt-7.index", "bundle/many.ckpt.index",
                           "bundle/sharded.ckpt.index", "events/model.ckpt-5.index"}) {
    context() = name;
    const std::string bytes = read_whole_file(golden_file(name));
    CHECK(write_table(read_table(bytes, name)) == bytes);
  }
}

TEST(io_table_reads_keys_in_order) {
  const std::string bytes = read_whole_file(golden_file("bundle/many.ckpt.index"));
  const TableEntries entries = read_table(bytes, "x");
  CHECK_EQ(entries.size(), 4001u);
  CHECK_EQ(entries[0].first, "");
  CHECK_EQ(entries[1].first, "00037f39cf870a1f49129f9c82d935665d352ffd25ea3296208f6f7b16fd654f");
}

TEST(io_table_without_entries) {
  const std::string bytes = write_table({});
  CHECK_EQ(bytes.size(), 2 * (8 + 5) + 48u);
  CHECK(read_table(bytes, "x").empty());
}

TEST(io_table_keys_must_grow) {
  TableBuilder builder;
  builder.add("", "header");
  builder.add("b", "1");
  CHECK_THROWS(builder.add("b", "2"), Code::kInternal, "strictly increasing");
  CHECK_THROWS(builder.add("a", "2"), Code::kInternal, "strictly increasing");
}

TEST(io_table_round_trip_of_random_entries) {
  std::mt19937_64 random = seeded_generator();
  for (int round = 0; round < 100; ++round) {
    std::map<std::string, std::string> sorted;
    for (size_t n = random() % 200; n > 0; --n) {
      std::string key = random_bytes(random, random() % 6);
      for (char& c : key)
        c = static_cast<char>(random() % 3 ? c & 1 : c | 0xfe);  // for long common prefixes
      sorted[key] = random_bytes(random, random() % 50);
    }
    const TableEntries entries(sorted.begin(), sorted.end());
    CHECK(read_table(write_table(entries, random() % 500 + 20), "x") == entries);
  }
}

TEST(io_table_reports_any_damage) {
  const std::string name = "/a/x.index";
  const std::string bytes = read_whole_file(golden_file("bundle/mixed.ckpt-7.index"));
  for (size_t size = 0; size < bytes.size(); ++size) {
    const std::string cut = bytes.substr(0, size);
    CHECK(!reads_or_reports(name, [&] { read_table(cut, name); }));
  }
  const TableEntries entries = read_table(bytes, name);
  for (size_t bit = 0; bit < 8 * bytes.size(); ++bit) {
    std::string bent = bytes;
    bent[bit / 8] = static_cast<char>(bent[bit / 8] ^ 1 << (bit % 8));
    // A change of the footer's padding has no effect: it has no checksum, and no reader uses it.
    reads_or_reports(name, [&] { CHECK(read_table(bent, name) == entries); });
  }
  CHECK_THROWS(read_table("short", name), Code::kDataLoss, "'/a/x.index': it has 5 bytes");
  CHECK_THROWS(read_table(std::string(100, 'x'), name), Code::kDataLoss, "magic number");
  std::string bent = bytes;
  bent[10] ^= 1;
  CHECK_THROWS(read_table(bent, name), Code::kDataLoss, "checksum of the data block at 0");
}
