#include <sys/wait.h>
#include <unistd.h>

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

TEST(io_atomic_file_of_a_killed_process_leaves_the_old_one) {
  const std::string path = fresh_folder("killed") + "/state";
  write_file_atomically(path, "old");
  const pid_t child = fork();
  if (child == 0) {
    AtomicFile file(path);
    file.write(std::string(1 << 20, 'x'));
    file.finish();
    kill(getpid(), SIGKILL);
  }
  int status = 0;
  waitpid(child, &status, 0);
  CHECK(WIFSIGNALED(status));
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
  CHECK_THROWS(OutputFile(folder + "/file", OutputFile::Mode::kNew), Code::kAlreadyExists,
               "/file'");
  CHECK_THROWS(write_file_atomically(folder, "x"), Code::kFailedPrecondition, folder);
  if (file_exists("/dev/full")) {
    OutputFile full("/dev/full");
    full.write("x");
    CHECK_THROWS(full.close(), Code::kResourceExhausted, "/dev/full");
  }
  CHECK(!remove_file(missing));
  CHECK(remove_file(folder + "/file"));
  CHECK(list_directory(folder).empty());
}

TEST(io_paths_are_joined_and_taken_apart) {
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

TEST(io_atomic_file_has_names_that_nobody_foresees_and_follows_no_link) {
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
  const size_t mark = first.rfind('-') + 1;
  CHECK_EQ(first.size() - mark, size_t{16});
  CHECK(first.substr(mark) != second.substr(mark));
  // The file itself may be a link: it is replaced, and what it leads to stays.
  write_bytes(folder + "/victim", "precious");
  CHECK(symlink((folder + "/victim").c_str(), path.c_str()) == 0);
  write_file_atomically(path, "new");
  CHECK_EQ(read_whole_file(folder + "/victim"), "precious");
  CHECK_EQ(read_whole_file(path), "new");
  // A new file is never one that a link leads to, nor one that it would make.
  CHECK(symlink((folder + "/nowhere").c_str(), (folder + "/link").c_str()) == 0);
  CHECK_THROWS(OutputFile(folder + "/link", OutputFile::Mode::kNew), Code::kAlreadyExists, "link");
  CHECK(!file_exists(folder + "/nowhere"));
  CHECK(can_write_in(folder));
  CHECK(!can_write_in(folder + "/none"));
  CHECK_EQ(list_directory(folder).size(), size_t{3});
}

TEST(io_paths_are_compared_by_where_they_lead) {
  const std::string folder = fresh_folder("same");
  create_directories(folder + "/a/b");
  CHECK(symlink((folder + "/a").c_str(), (folder + "/link").c_str()) == 0);
  CHECK(is_same_path(folder + "/a/b", folder + "/link/b/"));
  CHECK(is_same_path(folder + "/a/../a/b/.", folder + "/a/b"));
  CHECK(is_same_path("", "."));
  CHECK(!is_same_path(folder + "/a/b", folder + "/a"));
  CHECK(!is_same_path(folder + "/a/b/../../c", folder + "/a"));
}
