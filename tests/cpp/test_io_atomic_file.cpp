#include <sys/stat.h>

#if !defined(_WIN32)
#include <unistd.h>
#endif

#include <thread>

#include "base/file_access.h"
#include "child_test.h"
#include "io/files/append_log.h"
#include "io/files/directory_lock.h"
#include "io/files/record.h"
#include "io_test.h"

using namespace runhooks;
using namespace runhooks_test;

TEST(io_atomic_file_replaces_only_on_commit) {
  const std::string folder = fresh_folder("atomic"), path = folder + "/state";
  write_file_atomically(path, "old");
  {
    AtomicFile file(path);
    file.write("new and longer");
    CHECK_EQ(read_whole_file(path), "old");
    CHECK_EQ(list_directory(folder).size(), 2u);
  }
  CHECK_EQ(read_whole_file(path), "old");
  CHECK_EQ(list_directory(folder).size(), 1u);
  AtomicFile file(path);
  file.write("new");
  file.finish();
  CHECK_EQ(read_whole_file(path), "old");
  file.commit();
  CHECK_EQ(read_whole_file(path), "new");
  CHECK_EQ(list_directory(folder).size(), 1u);
}

TEST(io_atomic_file_of_a_killed_process_keeps_the_old_file) {
  const std::string path = fresh_folder("killed") + "/state";
  write_file_atomically(path, "old");
  ChildProcess child([&]() -> int {
    AtomicFile file(path);
    file.write(std::string(1 << 20, 'x'));
    file.finish();
    kill_this_process();
  });
  CHECK_EQ(child.wait(), ChildProcess::kKilled);
  CHECK_EQ(read_whole_file(path), "old");
}

TEST(io_file_errors_name_the_path_and_the_reason) {
  const std::string folder = fresh_folder("errors"), missing = folder + "/none";
  CHECK_THROWS(read_whole_file(missing), Code::kNotFound, missing + "': No such file");
  CHECK_THROWS(AtomicFile(missing + "/x"), Code::kNotFound, missing + "/x': No such file");
  CHECK_THROWS(list_directory(missing), Code::kNotFound, missing);
  CHECK_THROWS(file_size(missing), Code::kNotFound, missing);
  CHECK_THROWS(read_whole_file(folder), Code::kFailedPrecondition, "Is a directory");
  write_bytes(folder + "/file", "x");
  CHECK_THROWS(create_directories(folder + "/file"), Code::kFailedPrecondition, "/file'");
  CHECK_THROWS(create_directories(folder + "/file/sub"), Code::kFailedPrecondition, "/file/sub'");
  CHECK_THROWS(OutputFile(folder + "/file"), Code::kAlreadyExists, "/file'");
  CHECK_THROWS(write_file_atomically(folder, "x"), Code::kFailedPrecondition, folder);
  CHECK(!remove_file(missing));
  CHECK(remove_file(folder + "/file"));
  CHECK(list_directory(folder).empty());
}

TEST(io_paths_are_joined_and_split) {
  CHECK_EQ(join_path("a", "b"), "a/b");
  CHECK_EQ(join_path("a/", "b"), "a/b");
  CHECK_EQ(join_path("", "b"), "b");
  CHECK_EQ(join_path("a", "/b"), "/b");
  CHECK_EQ(parent_folder("/a/b"), "/a");
  CHECK_EQ(parent_folder("b"), "");
  CHECK_EQ(base_name("/a/b"), "b");
}

TEST(io_input_file_reads_anywhere) {
  const std::string path = fresh_folder("input") + "/x";
  write_bytes(path, "0123456789");
  InputFile file(path);
  CHECK_EQ(file.size(), 10u);
  char buffer[20];
  CHECK_EQ(file.read_at(7, buffer, 20), 3u);
  CHECK_EQ(std::string(buffer, 3), "789");
  CHECK_EQ(file.read_at(2, buffer, 2), 2u);
  CHECK_EQ(file.read(buffer, 2), 2u);
  CHECK_EQ(std::string(buffer, 2), "45");
}

TEST(io_atomic_file_uses_random_names_and_follows_no_link) {
  const std::string folder = fresh_folder("names"), path = folder + "/state";
  std::string first, second;
  {
    AtomicFile file(path);
    first = list_directory(folder)[0];
  }
  {
    AtomicFile file(path);
    second = list_directory(folder)[0];
  }
  const size_t unique_part = first.rfind('-') + 1;
  CHECK_EQ(first.size() - unique_part, size_t{16});
  CHECK(first.substr(unique_part) != second.substr(unique_part));
  // If the file itself is a link, the link is replaced and its target is kept.
  write_bytes(folder + "/victim", "precious");
  make_link(folder + "/victim", path);
  write_file_atomically(path, "new");
  CHECK_EQ(read_whole_file(folder + "/victim"), "precious");
  CHECK_EQ(read_whole_file(path), "new");
  // Creating a new file must not follow links, not even dangling ones.
  make_link(folder + "/nowhere", folder + "/link");
  CHECK_THROWS(OutputFile(folder + "/link"), Code::kAlreadyExists, "link");
  CHECK(!file_exists(folder + "/nowhere"));
  CHECK(is_writable_folder(folder));
  CHECK(!is_writable_folder(folder + "/none"));
  CHECK_EQ(list_directory(folder).size(), size_t{3});
}

TEST(io_paths_are_compared_by_target) {
  const std::string folder = fresh_folder("same");
  create_directories(folder + "/a/b");
  make_link(folder + "/a", folder + "/link");
  CHECK(is_same_path(folder + "/a/b", folder + "/link/b/"));
  CHECK(is_same_path(folder + "/a/../a/b/.", folder + "/a/b"));
  CHECK(is_same_path("", "."));
  CHECK(!is_same_path(folder + "/a/b", folder + "/a"));
  CHECK(!is_same_path(folder + "/a/b/../../c", folder + "/a"));
}

// Opens devices through links. A writer that replaces files can then damage only the links, not the
// system.
TEST(io_atomic_file_writes_directly_to_devices_and_pipes) {
  const std::string folder = fresh_folder("streams"), pipe = folder + "/pipe";
  const std::string null = folder + "/null", full = folder + "/full";
  make_link("/dev/null", null);
  make_link("/dev/full", full);
  make_pipe(pipe);
  write_file_atomically(null, "away");
  CHECK(file_kind(null) == FileKind::kDevice);
  if (file_kind("/dev/full") == FileKind::kDevice) {
    CHECK_THROWS(write_file_atomically(full, "x"), Code::kResourceExhausted, "/full'");
    CHECK(file_kind(full) == FileKind::kDevice);
  }
  std::string received;
  const std::string text(100000, 'x');  // more than a pipe buffers
  std::thread reader([&] {
    std::FILE* file = std::fopen(pipe.c_str(), "rb");
    char bytes[4096];
    for (size_t n; (n = std::fread(bytes, 1, sizeof bytes, file)) > 0;) received.append(bytes, n);
    std::fclose(file);
  });
  write_file_atomically(pipe, text);
  reader.join();
  CHECK(received == text);
  CHECK(file_kind(pipe) == FileKind::kPipe);
  CHECK_THROWS(write_file_atomically(folder, "x"), Code::kFailedPrecondition, "Is a directory");
  CHECK_EQ(list_directory(folder).size(), size_t{3});
}

// If the reader closes the pipe, the writer gets an error instead of a signal that ends the
// process.
TEST(io_atomic_file_survives_a_closed_pipe) {
  const std::string pipe = fresh_folder("gone") + "/pipe";
  make_pipe(pipe);
  std::thread reader([&] { std::fclose(std::fopen(pipe.c_str(), "rb")); });
  AtomicFile file(pipe);
  reader.join();
  CHECK_THROWS(file.write(std::string(100000, 'x')), Code::kUnavailable, pipe);
  CHECK_THROWS(file.commit(), Code::kFailedPrecondition, "closed");
}

TEST(io_reads_regular_files_only) {
  const std::string folder = fresh_folder("kinds"), pipe = folder + "/pipe", null = folder + "/n";
  make_pipe(pipe);
  make_link("/dev/zero", null);
  const auto precondition = Code::kFailedPrecondition;
  std::string text;
  for (const auto& [path, kind] :
       {std::make_pair(pipe, "a pipe"), std::make_pair(null, "a device")}) {
    CHECK_THROWS(read_whole_file(path), precondition, str_cat(path, "': it is ", kind));
    CHECK_THROWS(TextFile(path).next(&text), precondition, kind);
    CHECK_THROWS(RecordReader(path).next(text), precondition, kind);
    size_t damaged = 0;
    CHECK_THROWS(read_appended_records(path, &damaged), precondition, kind);
    CHECK_THROWS(append_record_to(path, "x"), precondition, kind);
    LockOwner holder;
    CHECK_THROWS(DirectoryLock::take(path, &holder), precondition, kind);
    CHECK(!DirectoryLock::is_held(path, &holder));
  }
  CHECK_THROWS(TextFile(folder).next(&text), precondition, "Is a directory");
}

TEST(io_text_files_are_read_by_line) {
  const std::string path = fresh_folder("lines") + "/x";
  write_bytes(path, "a\r\n\nb\rc\n" + std::string(200000, 'd'));
  TextFile file(path);
  std::vector<std::string> lines;
  for (std::string line; file.next(&line);) lines.push_back(line);
  CHECK(lines == (std::vector<std::string>{"a", "", "bc", std::string(200000, 'd')}));
}

TEST(io_can_write_is_checked_again_after_changes) {
  const std::string folder = fresh_folder("rights_of_a_folder");
  CHECK(is_writable_folder(folder));
  CHECK(is_writable_folder(folder));
  CHECK_EQ(list_directory(folder).size(), 0u);
#if defined(_WIN32)
  throw NotRun{"Windows processes cannot drop folder permissions"};
#else
  ChildProcess child([&] {
    // Root ignores permissions, so test as another user.
    const bool changed = geteuid() == 0 ? seteuid(65534) == 0 : chmod(folder.c_str(), 0555) == 0;
    return changed && !is_writable_folder(folder) ? 0 : 1;
  });
  const int status = child.wait();
  chmod(folder.c_str(), 0755);
  CHECK_EQ(status, 0);
#endif
}

TEST(io_atomic_file_names_its_temporary_file) {
  const std::string folder = fresh_folder("named"), path = folder + "/state";
  {
    AtomicFile file(path, folder + "/state.next");
    CHECK_EQ(list_directory(folder)[0].rfind("state.next.tmp", 0), 0u);
    file.write("new");
    file.commit();
  }
  CHECK_EQ(read_whole_file(path), "new");
  CHECK_EQ(list_directory(folder).size(), 1u);
}

TEST(io_atomic_file_mixes_large_and_small_writes) {
  const std::string path = fresh_folder("large") + "/data";
  std::string large((size_t{9} << 20) + 5, '\0');
  for (size_t i = 0; i < large.size(); ++i) large[i] = static_cast<char>(i * 2654435761u >> 24);
  AtomicFile file(path);
  file.write("begin");
  file.write(large);
  file.write("middle");
  file.write(large.data(), large.size() - 3);
  CHECK_EQ(file.bytes_written(), 2 * large.size() + 8);
  file.commit();
  CHECK(read_whole_file(path) == "begin" + large + "middle" + large.substr(0, large.size() - 3));
#if !defined(_WIN32)
  struct stat info;
  CHECK(stat(path.c_str(), &info) == 0);
  // No disk space stays reserved beyond the end.
  CHECK(static_cast<size_t>(info.st_blocks) * 512 < 2 * large.size() + (size_t{1} << 20));
#endif
}

TEST(io_file_rights_are_limited_to_a_folder) {
  const std::string top = fresh_folder("rights"), folder = top + "/model";
  create_directories(folder + "/assets");
  write_bytes(folder + "/assets/words", "x");
  write_bytes(top + "/secret", "x");
  make_link("assets/words", folder + "/inside");
  make_link("../secret", folder + "/outside");
  make_link(top, folder + "/up");
  make_link(folder, top + "/newest");
  for (const std::string& allowed : {folder, folder + "/", top + "/newest", top + "/newest/"}) {
    const FileAccessPolicy policy = FileAccessPolicy::below_folder(allowed);
    for (const char* name : {"/assets/words", "/inside", "/none", "/assets/../assets/words"}) {
      CHECK(!policy.readable(folder + name).empty());
    }
    CHECK(is_same_path(policy.readable(folder + "/inside"), folder + "/assets/words"));
    for (const char* name :
         {"/outside", "/up/secret", "/../secret", "/../model2", "/up/none", "/.."}) {
      CHECK_THROWS(policy.readable(folder + name), Code::kPermissionDenied, name);
    }
    CHECK_THROWS(policy.readable("words"), Code::kPermissionDenied, "'words'");
    CHECK_THROWS(policy.check_writable(folder + "/x"), Code::kPermissionDenied, "/x'");
  }
  CHECK_EQ(FileAccessPolicy().readable("any"), "any");
  FileAccessPolicy().check_writable("any");
}
