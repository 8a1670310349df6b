// Tests path rules of each system, names at the limits of file systems, and fallbacks for missing
// features.
#include <sys/stat.h>

#include <algorithm>
#include <filesystem>

#include "base/machine.h"
#include "base/paths.h"
#include "base/platform.h"
#include "io/files/directory_lock.h"
#include "io/files/file_versions.h"
#include "io/files/rename_exchange.h"
#include "io/files/stale_files.h"
#include "io_test.h"

#if !defined(_WIN32)
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>
#endif

using namespace runhooks;
using namespace runhooks_test;

TEST(platform_features_are_disabled_by_name) {
  CHECK(feature_enabled(SystemFeature::kExchange));
  {
    const DisabledFeatures without("exchange,memfd");
    CHECK(!feature_enabled(SystemFeature::kExchange));
    CHECK(!feature_enabled(SystemFeature::kMemfd));
    CHECK(feature_enabled(SystemFeature::kCrc32));
    const DisabledFeatures without_all("all");
    CHECK(!feature_enabled(SystemFeature::kCrc32));
  }
  CHECK(feature_enabled(SystemFeature::kExchange));
  CHECK_THROWS(DisabledFeatures("exchange,nothing"), Code::kInvalidArgument, "'nothing'");
}

TEST(platform_paths_follow_the_rules_of_windows) {
  constexpr auto kWindows = PathStyle::kWindows;
  const std::string c = "C:", top = c + "\\", models = top + "models";
  const std::string share = "\\\\server\\share";
  for (const std::string& path :
       {top + "x", c + "/x", c + "x", share + "\\x", share, std::string("//server/share"),
        std::string("\\x"), std::string("/x"), "\\\\?\\" + top + "x"}) {
    context() = path;
    CHECK(is_absolute_path(path, kWindows));
    CHECK_EQ(join_path("models", path, kWindows), path);
  }
  CHECK(!is_absolute_path("models\\x", kWindows));
  CHECK(!is_absolute_path("ä:x", kWindows));
  CHECK_EQ(join_path(models, "x", kWindows), models + "/x");
  CHECK_EQ(join_path(models + "\\", "x", kWindows), models + "\\x");
  CHECK_EQ(parent_folder(models + "\\x", kWindows), models);
  CHECK_EQ(parent_folder(models + "/x y\\", kWindows), models + "/x y");
  CHECK_EQ(parent_folder(models, kWindows), top);
  CHECK_EQ(parent_folder(top, kWindows), top);
  CHECK_EQ(parent_folder("models", kWindows), "");
  CHECK_EQ(parent_folder(share + "\\x", kWindows), share + "\\");
  CHECK_EQ(parent_folder(share, kWindows), share);
  CHECK_EQ(base_name(models + "\\grün.ckpt-1", kWindows), "grün.ckpt-1");
  CHECK_EQ(base_name(c + "/models\\x", kWindows), "x");
  CHECK_EQ(base_name(top, kWindows), "");
  CHECK_EQ(strip_trailing_separators(models + "\\/", kWindows), models);
  CHECK_EQ(strip_trailing_separators(top, kWindows), top);
}

TEST(platform_a_backslash_is_part_of_a_name_elsewhere) {
  constexpr auto kPosix = PathStyle::kPosix;
  CHECK_EQ(join_path("a\\", "b", kPosix), "a\\/b");
  const std::string drive = "C:";
  CHECK_EQ(join_path("a", drive + "\\b", kPosix), "a/" + drive + "\\b");
  CHECK_EQ(parent_folder("/a/b\\c", kPosix), "/a");
  CHECK_EQ(base_name("/a/b\\c", kPosix), "b\\c");
  CHECK_EQ(strip_trailing_separators("/a/b\\", kPosix), "/a/b\\");
  CHECK(!is_absolute_path("\\a", kPosix));
  CHECK(!is_absolute_path(drive + "/a", kPosix));
  // Compares our functions with std::filesystem.
  for (const char* path : {"/", "/a", "a", "a/", "/a/b", "a//b", "/a//", "", "."}) {
    context() = path;
    const std::filesystem::path standard_path(path);
    CHECK_EQ(parent_folder(path, kPosix), standard_path.parent_path().string());
    CHECK_EQ(base_name(path, kPosix), standard_path.filename().string());
  }
}

TEST(platform_paths_keep_their_text_in_system_calls) {
  const std::string folder = join_path(fresh_folder("texts"), "größe ü 模型");
  create_directories(folder);
  write_file_atomically(join_path(folder, "é"), "x");
  CHECK_EQ(list_directory(folder).size(), size_t{1});
  CHECK_EQ(path_text(fs_path(folder)), folder);
  CHECK(is_same_path(folder, join_path(folder, ".")));
  if (kPathStyle != PathStyle::kWindows) return;
  std::string native = folder;
  std::replace(native.begin(), native.end(), '/', '\\');
  CHECK(is_same_path(folder, native));
  CHECK_EQ(read_whole_file(native + "\\é"), "x");
  write_file_atomically(native + "\\é", "y");
  CHECK_EQ(read_whole_file(join_path(folder, "é")), "y");
}

TEST(platform_names_at_the_limit_are_written_atomically) {
  const std::string folder = fresh_folder("long");
  std::string umlauts = "a";
  while (umlauts.size() < 255) umlauts += "ü";
  for (const std::string& name : {std::string(255, 'x'), umlauts, std::string(200, 'y')}) {
    context() = name;
    const std::string path = join_path(folder, name);
    write_file_atomically(path, "old");
    const std::string temporary = temporary_path(path);
    CHECK_EQ(parent_folder(temporary), folder);
    CHECK(base_name(temporary).size() <= 143);
    CHECK(base_name(temporary) != base_name(temporary_path(path)));
    CHECK(is_temporary_of(temporary, name));
    CHECK(!is_temporary_of(temporary, name.substr(0, name.size() - 1)));
    // A long name is never truncated within a character ("ü" has two bytes).
    CHECK(base_name(temporary).find("\xc3~") == std::string::npos);
    write_file_atomically(path, "new");
    CHECK_EQ(read_whole_file(path), "new");
#if !defined(_WIN32)
    const pid_t child = fork();
    if (child == 0) {
      AtomicFile file(path);
      file.write("half");
      file.finish();
      kill(getpid(), SIGKILL);
    }
    int status = 0;
    waitpid(child, &status, 0);
    CHECK_EQ(list_directory(folder).size(), size_t{2});
    CHECK(!process_exists(static_cast<int>(child)));
#else
    // Uses a process id that Windows never assigns.
    write_bytes(join_path(folder, name.substr(0, 61) + ".tmp3-0123456789abcdef"), "half");
#endif
    remove_stale_temporaries(path);
    remove_stale_files(folder, {name.substr(0, 61)});
    CHECK_EQ(list_directory(folder).size(), size_t{1});
    remove_file(path);
  }
  CHECK(is_temporary_of(temporary_path("short"), "short"));
  CHECK(!is_temporary_of(temporary_path("short"), "shor"));
  CHECK(process_exists(process_id()));
}

// File systems that ignore case or Unicode composition may list a name in another spelling. A path
// through the parent folder simulates another spelling.
TEST(platform_names_are_found_in_the_given_spelling) {
  const std::string folder = join_path(fresh_folder("spellings"), "ä");
  create_directories(folder);
  for (const char* name : {"Mö.data-0", "Mü.data-0", "Mo.data-0"}) {
    write_bytes(join_path(folder, name), name);
  }
  const std::vector<std::string> standard_path = {"Mö.data-0"}, spelled = {"../ä/Mö.data-0"};
  CHECK(list_names_with_prefix(folder, "Mö.data-") == standard_path);
  CHECK(list_names_with_prefix(folder, "../ä/Mö.data-") == spelled);
  for (const std::string other : {"Mo\xcc\x88.data-", "mo.data-"}) {
    context() = other;
    const bool is_visible = file_exists(join_path(folder, other + "0"));
    CHECK_EQ(list_names_with_prefix(folder, other).size(), is_visible ? size_t{1} : size_t{0});
  }
}

TEST(platform_names_are_exchanged_by_two_renames) {
  const DisabledFeatures without("exchange");
  const std::string folder = fresh_folder("exchange"), aside = folder + "/aside";
  for (const char* name : {"/new", "/old"}) {
    create_directories(folder + name);
    write_bytes(folder + name + "/file", name);
  }
  CHECK(!rename_exchange(folder + "/new", folder + "/old"));
  CHECK_EQ(read_whole_file(folder + "/old/file"), "/old");
  CHECK(replace_by_two_renames(folder + "/new", folder + "/old", aside));
  CHECK_EQ(read_whole_file(folder + "/old/file"), "/new");
  CHECK_EQ(read_whole_file(aside + "/file"), "/old");
}

TEST(platform_open_files_are_replaced) {
  for (const char* lacking : {"", "replace_open"}) {
    context() = lacking;
    const DisabledFeatures without(lacking);
    const std::string folder = fresh_folder("open"), path = join_path(folder, "file");
    write_file_atomically(path, "old");
    {
      InputFile reader(path);
      write_file_atomically(path, "new");
      CHECK_EQ(read_whole_file(path), "new");
      char first = 0;
      CHECK_EQ(reader.read_at(0, &first, 1), size_t{1});
      CHECK_EQ(first, 'o');
    }
    CHECK_EQ(list_directory(folder).size(), size_t{1});
  }
}

TEST(platform_large_writes_need_no_reserved_space) {
  const DisabledFeatures without("fallocate");
  const std::string path = fresh_folder("reserved") + "/data", bytes(size_t{9} << 20, 'x');
  write_file_atomically(path, bytes);
  CHECK(read_whole_file(path) == bytes);
}

TEST(platform_file_versions_do_not_trust_whole_seconds) {
  const std::string path = fresh_folder("coarse") + "/file";
  write_bytes(path, "x");
  const auto written_ago = [&path](int seconds) {
    namespace fs = std::filesystem;
    using std::chrono::floor;
    const auto whole_second =
        floor<std::chrono::seconds>(fs::file_time_type::clock::now());
    fs::last_write_time(fs_path(path), whole_second - std::chrono::seconds(seconds));
    FileVersions stamps;
    stamps.add(path);
    return stamps;
  };
  CHECK(!written_ago(0).unchanged());
  CHECK(written_ago(10).unchanged());
}

#if !defined(_WIN32)

namespace {

int status_of_child(const std::function<int()>& body) {
  const pid_t child = fork();
  if (child == 0) _exit(body());
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

bool can_take(const std::string& path) {
  return status_of_child([&] {
           LockOwner holder;
           return DirectoryLock::take(path, &holder) ? 1 : 0;
         }) == 1;
}

}  // namespace

// A process loses its POSIX locks when it closes any descriptor of the file.
TEST(platform_lock_outlives_other_descriptors_of_its_file) {
  for (const char* lacking : {"", "ofd_locks", "file_locks"}) {
    context() = lacking;
    const DisabledFeatures without(lacking);
    const std::string path = fresh_folder("descriptors") + "/lock";
    LockOwner holder;
    const auto claim = DirectoryLock::take(path, &holder);
    CHECK(claim != nullptr);
    read_whole_file(path);
    CHECK(!can_take(path));
    CHECK(DirectoryLock::is_held(path, &holder));
  }
}

TEST(platform_lock_ends_with_its_process_not_with_children) {
  for (const char* lacking : {"", "ofd_locks", "file_locks"}) {
    context() = lacking;
    const DisabledFeatures without(lacking);
    const std::string path = fresh_folder("children") + "/lock";
    int ends[2];
    CHECK(pipe(ends) == 0);
    const pid_t child = fork();
    if (child == 0) {
      LockOwner holder;
      const auto claim = DirectoryLock::take(path, &holder);
      const pid_t grandchild = fork();
      if (grandchild == 0) {
        for (;;) pause();
      }
      if (write(ends[1], &grandchild, sizeof grandchild) < 0) _exit(1);
      kill(getpid(), SIGKILL);
    }
    pid_t grandchild = 0;
    CHECK(read(ends[0], &grandchild, sizeof grandchild) == sizeof grandchild);
    int status = 0;
    waitpid(child, &status, 0);
    CHECK(file_exists(path));
    CHECK(can_take(path));
    kill(grandchild, SIGKILL);
    close(ends[0]);
    close(ends[1]);
  }
}

TEST(platform_without_locks_another_hosts_lock_is_valid) {
  const DisabledFeatures without("file_locks");
  const std::string path = fresh_folder("hosts") + "/lock";
  LockOwner holder;
  { const auto claim = DirectoryLock::take(path, &holder); }
  CHECK(!file_exists(path));
  const auto leave = [&path](int process, const std::string& host) {
    status_of_child([&] {
      LockOwner ignored;
      const auto claim = DirectoryLock::take(path, &ignored);
      std::string owner_text = read_whole_file(path);
      const std::string this_host = host_name();
      const size_t at = owner_text.find(this_host);
      owner_text.replace(at, this_host.size(),
                         host.empty() ? this_host : host.substr(0, this_host.size()));
      write_file_atomically(path, owner_text);
      kill(getpid(), SIGKILL);
      return process;
    });
  };
  // Leaves the lock file of a killed process of this host.
  leave(0, "");
  CHECK(DirectoryLock::take(path, &holder) != nullptr);
  // Leaves the lock file of another host with a name of maximum length.
  leave(0, std::string(300, 'z'));
  CHECK(DirectoryLock::is_held(path, &holder));
  CHECK(DirectoryLock::take(path, &holder) == nullptr);
  CHECK_EQ(holder.host, std::string(host_name().size(), 'z'));
}

TEST(platform_a_folder_that_cannot_be_written_is_named) {
  const std::string folder = fresh_folder("read_only"), path = folder + "/file";
  write_file_atomically(path, "old");
  const int status = status_of_child([&] {
    // Root ignores permissions, so test as another user.
    const bool changed = geteuid() == 0 ? seteuid(65534) == 0 : chmod(folder.c_str(), 0555) == 0;
    if (!changed) return 1;
    const auto is_refused = [&](const std::function<void()>& write) {
      try {
        write();
      } catch (const Error& error) {
        return error.code() == Code::kPermissionDenied &&
               error.message().find(folder) != std::string::npos;
      }
      return false;
    };
    LockOwner holder;
    if (!is_refused([&] { write_file_atomically(path, "new"); })) return 2;
    if (!is_refused([&] { DirectoryLock::take(folder + "/lock", &holder); })) return 3;
    if (!is_refused([&] { create_directories(folder + "/inside"); })) return 4;
    return 0;
  });
  chmod(folder.c_str(), 0755);
  CHECK_EQ(status, 0);
  CHECK_EQ(read_whole_file(path), "old");
}

#endif
