// Runs the core's tests: `runhooks_tests [part of a name ...]`.
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "test.h"

namespace runhooks_test {

std::string temporary_folder() {
  static const std::string folder = [] {
    std::string path = (std::filesystem::temp_directory_path() / "runhooks-XXXXXX").string();
    if (!mkdtemp(path.data())) fail_at(__FILE__, __LINE__, "cannot make a temporary folder");
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

int main(int argc, char** argv) {
  using namespace runhooks_test;
  int passed = 0, failed = 0;
  for (const Case& test : cases()) {
    bool wanted = argc == 1;
    for (int i = 1; i < argc; ++i) wanted = wanted || std::strstr(test.name, argv[i]);
    if (!wanted) continue;
    context().clear();
    std::string error;
    try {
      test.run();
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
  std::printf("core: %d passed, %d failed\n", passed, failed);
  return failed ? 1 : 0;
}
