// Detection of changed files.
#include "io/files/atomic_file.h"
#include "io/files/file_versions.h"
#include "io_test.h"

using namespace runhooks;
using namespace runhooks_test;

TEST(file_versions_detect_written_replaced_and_removed_files) {
  const std::string folder = fresh_folder("stamps");
  const std::string one = join_path(folder, "one"), other = join_path(folder, "other");
  write_file_atomically(one, "12345");
  FileVersions stamps;
  stamps.add(one);
  stamps.add(other);  // does not exist
  CHECK(stamps.unchanged());
  CHECK_EQ(stamps.num_bytes(), uint64_t{5});
  // A new file of the same size.
  write_file_atomically(one, "54321");
  CHECK(!stamps.unchanged());
  FileVersions again;
  again.add(one);
  again.add(other);
  write_file_atomically(other, "");
  CHECK(!again.unchanged());
  remove_file(other);
  CHECK(again.unchanged());
  remove_file(one);
  CHECK(!again.unchanged());
}
