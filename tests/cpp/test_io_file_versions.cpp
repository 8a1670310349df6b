// Whether files are still those that they were.
#include "io/files/atomic_file.h"
#include "io/files/file_versions.h"
#include "io_test.h"

using namespace runhooks;
using namespace runhooks_test;

TEST(stamps_see_files_that_are_written_replaced_or_removed) {
  const std::string folder = fresh_folder("stamps");
  const std::string one = join_path(folder, "one"), other = join_path(folder, "other");
  write_file_atomically(one, "12345");
  FileVersions stamps;
  stamps.add(one);
  stamps.add(other);  // is not there
  CHECK(stamps.unchanged());
  CHECK_EQ(stamps.num_bytes(), uint64_t{5});
  // as many bytes, in a file of its own
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
