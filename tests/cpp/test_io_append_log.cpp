// Tests append-only record files, and the locks that allow one writer at a time.
#include <chrono>
#include <memory>
#include <thread>

#include "base/machine.h"
#include "base/platform.h"
#include "child_test.h"
#include "io/files/append_log.h"
#include "io/files/directory_lock.h"
#include "io_test.h"

using namespace runhooks;
using namespace runhooks_test;

namespace {

// Disables features in turn, so that each kind of lock is tested: from the preferred kind to the
// fallback.
constexpr const char* kLockFeatures[] = {"", "ofd_locks", "file_locks"};

std::vector<std::string> records_in(const std::string& path, size_t* num_skipped) {
  return read_appended_records(path, num_skipped);
}

}  // namespace

TEST(appended_records_are_read_in_order) {
  const std::string path = fresh_folder("appended") + "/runs";
  size_t num_skipped = 1;
  CHECK(records_in(path, &num_skipped).empty());
  CHECK_EQ(num_skipped, size_t{0});
  for (const char* text : {"one", "", "three"}) append_record_to(path, text);
  CHECK_EQ(str_join(records_in(path, &num_skipped), "|"), "one||three");
  CHECK_EQ(num_skipped, size_t{0});
}

// A crash may cut or change the file anywhere. All other records can still be read.
TEST(damaged_records_are_skipped) {
  std::mt19937_64 random = seeded_generator();
  const std::string path = fresh_folder("appended") + "/runs";
  for (const char* text : {"first", "second", "third"}) append_record_to(path, text);
  const std::string bytes = read_whole_file(path);
  const size_t record_size = 16 + 5;
  for (size_t cut = record_size; cut < bytes.size(); ++cut) {
    write_bytes(path, bytes.substr(0, cut));
    append_record_to(path, "fourth");
    size_t num_skipped = 0;
    const auto intact = records_in(path, &num_skipped);
    const size_t second_end = record_size + 16 + 6;
    const std::string expected = cut >= second_end ? "first|second|fourth" : "first|fourth";
    CHECK_EQ(str_join(intact, "|"), expected);
    CHECK_EQ(num_skipped, cut - (cut >= second_end ? second_end : record_size));
  }
  for (int i = 0; i < 200; ++i) {
    std::string changed = bytes;
    changed[random() % changed.size()] ^= static_cast<char>(1 + random() % 255);
    write_bytes(path, changed);
    size_t num_skipped = 0;
    CHECK_EQ(records_in(path, &num_skipped).size(), size_t{2});
    CHECK(num_skipped > 0);
  }
}

TEST(directory_lock_is_exclusive_and_released) {
  for (const char* lacking : kLockFeatures) {
    context() = lacking;
    const DisabledFeatures without(lacking);
    const std::string path = fresh_folder("claim") + "/lock";
    LockOwner holder;
    CHECK(!DirectoryLock::is_held(path, &holder));
    {
      const auto claim = DirectoryLock::take(path, &holder);
      CHECK(claim != nullptr);
      CHECK(DirectoryLock::holds(path));
      CHECK(DirectoryLock::is_held(path, &holder));
      CHECK_EQ(holder.process, process_id());
      CHECK(DirectoryLock::take(path, &holder) == nullptr);
    }
    CHECK(!file_exists(path));
    CHECK(!DirectoryLock::holds(path));
    CHECK(DirectoryLock::take(path, &holder) != nullptr);
  }
}

TEST(directory_lock_reports_its_owner_to_other_processes) {
  for (const char* lacking : kLockFeatures) {
    context() = lacking;
    const DisabledFeatures without(lacking);
    const std::string path = fresh_folder("claim") + "/lock";
    LockOwner holder;
    const auto claim = DirectoryLock::take(path, &holder);
    const int parent = process_id();
    const auto check_lock = [&] {
      LockOwner owner;
      if (DirectoryLock::holds(path)) return 1;
      if (!DirectoryLock::is_held(path, &owner) || owner.process != parent) return 2;
      if (DirectoryLock::take(path, &owner) != nullptr || owner.process != parent) return 3;
      return 0;
    };
    CHECK_EQ(ChildProcess(check_lock).wait(), 0);
    // The lock is still held: the check did not release it.
    CHECK_EQ(ChildProcess(check_lock).wait(), 0);
  }
}

TEST(directory_lock_ends_with_a_killed_process) {
  for (const char* lacking : kLockFeatures) {
    context() = lacking;
    const DisabledFeatures without(lacking);
    const std::string folder = fresh_folder("claim"), path = folder + "/lock";
    ChildProcess child([&](const ChildProcess::Send& send) {
      LockOwner holder;
      const auto claim = DirectoryLock::take(path, &holder);
      send(claim ? "y" : "n");
      for (;;) std::this_thread::sleep_for(std::chrono::seconds(1));
      return 0;
    });
    CHECK_EQ(child.receive(1), "y");
    LockOwner holder;
    CHECK(DirectoryLock::take(path, &holder) == nullptr);
    CHECK_EQ(holder.process, child.id());
    child.kill();
    CHECK_EQ(child.wait(), ChildProcess::kKilled);
    CHECK(file_exists(path));  // the lock file remains
    CHECK(!DirectoryLock::is_held(path, &holder));
    CHECK(DirectoryLock::take(path, &holder) != nullptr);
  }
}

// Records of concurrent processes are complete and not interleaved.
TEST(records_of_several_processes_do_not_mix) {
  const std::string path = fresh_folder("appended") + "/runs";
  constexpr int kChildren = 4, kEach = 200;
  std::vector<std::unique_ptr<ChildProcess>> children;
  for (int i = 0; i < kChildren; ++i) {
    children.push_back(std::make_unique<ChildProcess>([&path, i] {
      for (int k = 0; k < kEach; ++k) {
        const auto size = static_cast<size_t>(50 + k);
        append_record_to(path, std::string(size, static_cast<char>('a' + i)));
      }
      return 0;
    }));
  }
  for (const auto& child : children) CHECK_EQ(child->wait(), 0);
  size_t num_skipped = 0;
  const auto records = records_in(path, &num_skipped);
  CHECK_EQ(records.size(), static_cast<size_t>(kChildren * kEach));
  CHECK_EQ(num_skipped, size_t{0});
  for (const std::string& record : records) {
    CHECK_EQ(record.find_first_not_of(record[0]), std::string::npos);
  }
}
