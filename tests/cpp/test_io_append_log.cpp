// Files of records that only grow, and the claims by which one process at a time writes.
#include "io/files/append_log.h"

#include "io/files/directory_lock.h"
#include "io_test.h"

#if !defined(_WIN32)
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>
#endif

using namespace runhooks;
using namespace runhooks_test;

namespace {

std::vector<std::string> records_in(const std::string& path, size_t* damaged) {
  return read_appended_records(path, damaged);
}

}  // namespace

TEST(appended_records_come_back_in_order_and_none_where_there_is_no_file) {
  const std::string path = fresh_folder("appended") + "/runs";
  size_t damaged = 1;
  CHECK(records_in(path, &damaged).empty());
  CHECK_EQ(damaged, size_t{0});
  for (const char* text : {"one", "", "three"}) append_record_to(path, text);
  CHECK_EQ(str_join(records_in(path, &damaged), "|"), "one||three");
  CHECK_EQ(damaged, size_t{0});
}

// Wherever a crash has cut or changed the file, all other records are still there.
TEST(damaged_records_are_left_out_and_later_ones_are_found) {
  std::mt19937_64 random = seeded_generator();
  const std::string path = fresh_folder("appended") + "/runs";
  for (const char* text : {"first", "second", "third"}) append_record_to(path, text);
  const std::string bytes = read_whole_file(path);
  const size_t one = 16 + 5;
  for (size_t cut = one; cut < bytes.size(); ++cut) {
    write_bytes(path, bytes.substr(0, cut));
    append_record_to(path, "fourth");
    size_t damaged = 0;
    const auto found = records_in(path, &damaged);
    const size_t second_end = one + 16 + 6;
    const std::string whole = cut >= second_end ? "first|second|fourth" : "first|fourth";
    CHECK_EQ(str_join(found, "|"), whole);
    CHECK_EQ(damaged, cut - (cut >= second_end ? second_end : one));
  }
  for (int i = 0; i < 200; ++i) {
    std::string changed = bytes;
    changed[random() % changed.size()] ^= static_cast<char>(1 + random() % 255);
    write_bytes(path, changed);
    size_t damaged = 0;
    CHECK_EQ(records_in(path, &damaged).size(), size_t{2});
    CHECK(damaged > 0);
  }
}

TEST(a_claim_is_taken_once_and_given_back) {
  const std::string path = fresh_folder("claim") + "/lock";
  LockOwner holder;
  CHECK(!DirectoryLock::is_held(path, &holder));
  {
    const auto claim = DirectoryLock::take(path, &holder);
    CHECK(claim != nullptr);
    CHECK(DirectoryLock::holds(path));
    CHECK(DirectoryLock::is_held(path, &holder));
    CHECK_EQ(holder.process, claim->holder().process);
    CHECK(DirectoryLock::take(path, &holder) == nullptr);
  }
  CHECK(!file_exists(path));
  CHECK(!DirectoryLock::holds(path));
  CHECK(DirectoryLock::take(path, &holder) != nullptr);
}

#if !defined(_WIN32)

namespace {

// The status of a forked child that runs `body`.
int in_child(const std::function<int()>& body) {
  const pid_t child = fork();
  if (child == 0) _exit(body());
  int status = 0;
  waitpid(child, &status, 0);
  return WEXITSTATUS(status);
}

}  // namespace

TEST(another_process_is_told_who_holds_a_claim_and_cannot_take_it) {
  const std::string path = fresh_folder("claim") + "/lock";
  LockOwner holder;
  const auto claim = DirectoryLock::take(path, &holder);
  const int parent = claim->holder().process;
  const auto look = [&] {
    LockOwner seen;
    if (DirectoryLock::holds(path)) return 1;
    if (!DirectoryLock::is_held(path, &seen) || seen.process != parent) return 2;
    if (DirectoryLock::take(path, &seen) != nullptr || seen.process != parent) return 3;
    return 0;
  };
  CHECK_EQ(in_child(look), 0);
  // a look has not let it go
  CHECK_EQ(in_child(look), 0);
}

TEST(a_killed_process_holds_nothing) {
  const std::string folder = fresh_folder("claim"), path = folder + "/lock";
  int ready[2];
  CHECK(pipe(ready) == 0);
  const pid_t child = fork();
  if (child == 0) {
    LockOwner holder;
    const auto claim = DirectoryLock::take(path, &holder);
    if (write(ready[1], claim ? "y" : "n", 1) != 1) _exit(1);
    for (;;) pause();
  }
  char answer = 0;
  CHECK(read(ready[0], &answer, 1) == 1);
  CHECK_EQ(answer, 'y');
  LockOwner holder;
  CHECK(DirectoryLock::take(path, &holder) == nullptr);
  CHECK_EQ(holder.process, static_cast<int>(child));
  kill(child, SIGKILL);
  int status = 0;
  waitpid(child, &status, 0);
  CHECK(file_exists(path));  // what it has left
  CHECK(!DirectoryLock::is_held(path, &holder));
  CHECK(DirectoryLock::take(path, &holder) != nullptr);
}

// Records of several processes at once are all there, none within another.
TEST(records_of_several_processes_do_not_mix) {
  const std::string path = fresh_folder("appended") + "/runs";
  constexpr int kChildren = 4, kEach = 200;
  std::vector<pid_t> children;
  for (int i = 0; i < kChildren; ++i) {
    const pid_t child = fork();
    if (child == 0) {
      for (int k = 0; k < kEach; ++k) {
        const auto size = static_cast<size_t>(50 + k);
        append_record_to(path, std::string(size, static_cast<char>('a' + i)));
      }
      _exit(0);
    }
    children.push_back(child);
  }
  for (const pid_t child : children) {
    int status = 0;
    waitpid(child, &status, 0);
    CHECK_EQ(WEXITSTATUS(status), 0);
  }
  size_t damaged = 0;
  const auto records = records_in(path, &damaged);
  CHECK_EQ(records.size(), static_cast<size_t>(kChildren * kEach));
  CHECK_EQ(damaged, size_t{0});
  for (const std::string& record : records) {
    CHECK_EQ(record.find_first_not_of(record[0]), std::string::npos);
  }
}

#endif
