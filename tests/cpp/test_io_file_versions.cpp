// Tests that changed files are detected.
#include "io/files/atomic_file.h"
#include "io/files/file_versions.h"
#include "io_test.h"

using namespace runhooks;
using namespace runhooks_test;

TEST(file_versions_detect_written_replaced_and_removed_files) {
  const std::string folder = fresh_folder("stamps");
  const std::string existing = join_path(folder, "one"), missing = join_path(folder, "other");
  write_file_atomically(existing, "12345");
  FileVersions versions;
  versions.add(existing);
  versions.add(missing);  // does not exist
  CHECK(versions.unchanged());
  CHECK_EQ(versions.num_bytes(), uint64_t{5});
  // Writes a new file of the same size.
  write_file_atomically(existing, "54321");
  CHECK(!versions.unchanged());
  FileVersions new_versions;
  new_versions.add(existing);
  new_versions.add(missing);
  write_file_atomically(missing, "");
  CHECK(!new_versions.unchanged());
  remove_file(missing);
  CHECK(new_versions.unchanged());
  remove_file(existing);
  CHECK(!new_versions.unchanged());
}
