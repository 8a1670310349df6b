// Runs the core's tests: `runhooks_tests [part of a name, or =name ...]`. With `--list`, prints the
// names of all tests.
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <random>
#include <sstream>

#include "base/machine.h"
#include "test.h"

namespace runhooks_test {

std::string temporary_folder() {
  static const std::string folder = [] {
    namespace fs = std::filesystem;
    const std::string name =
        runhooks::str_cat("runhooks-", static_cast<unsigned long>(std::random_device()()), "-",
                          runhooks::process_id());
    // Uses "/" as the separator on Windows, too, because tests join paths themselves.
    const std::string path = (fs::temp_directory_path() / name).generic_string();
    if (!fs::create_directory(path)) {
      fail_at(__FILE__, __LINE__, "cannot make a temporary folder");
    }
    fs::permissions(path, fs::perms::owner_all);
    return path;
  }();
  return folder;
}

std::string golden_folder() {
  const char* path = std::getenv("RUNHOOKS_GOLDEN");
  if (!path) fail_at(__FILE__, __LINE__, "RUNHOOKS_GOLDEN does not name tests/testthat/golden");
  return path;
}

std::string read_file(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) fail_at(__FILE__, __LINE__, "cannot read " + path);
  std::stringstream text;
  text << in.rdbuf();
  return text.str();
}

}  // namespace runhooks_test

namespace {

bool matches(const char* name, const char* pattern) {
  return *pattern == '=' ? std::strcmp(name, pattern + 1) == 0
                         : std::strstr(name, pattern) != nullptr;
}

}  // namespace

int main(int argc, char** argv) {
  using namespace runhooks_test;
  if (argc == 2 && std::strcmp(argv[1], "--list") == 0) {
    for (const Case& test : cases()) std::printf("%s\n", test.name);
    return 0;
  }
  int passed = 0, failed = 0, not_run = 0;
  for (const Case& test : cases()) {
    bool pattern = argc == 1;
    for (int i = 1; i < argc; ++i) pattern = pattern || matches(test.name, argv[i]);
    if (!pattern) continue;
    context().clear();
    std::string error;
    try {
      test.run();
    } catch (const NotRun& missing) {
      ++not_run;
      std::printf("NOT RUN %s: %s\n", test.name, missing.reason.c_str());
      continue;
    } catch (const Failure& failure) {
      error = failure.text;
    } catch (const std::exception& unexpected) {
      error = std::string("threw: ") + unexpected.what();
    }
    if (error.empty()) {
      ++passed;
    } else {
      ++failed;
      std::printf("FAILED %s: %s%s%s\n", test.name, error.c_str(), context().empty() ? "" : " at ",
                  context().c_str());
    }
  }
  std::filesystem::remove_all(temporary_folder());
  if (not_run) std::printf("core: %d not run\n", not_run);
  std::printf("core: %d passed, %d failed\n", passed, failed);
  return failed ? 1 : 0;
}
