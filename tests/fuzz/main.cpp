// The fuzzing loop for compilers without libFuzzer: `runhooks_fuzz seconds seed input...` mutates
// the given files and folders and passes each result to one reader. After a crash,
// $RUNHOOKS_FUZZ_LAST holds the last input and its reader, and `runhooks_fuzz 0 <reader> <file>`
// repeats it.
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <random>
#include <sstream>

#include "readers.h"

namespace {

namespace fs = std::filesystem;
using runhooks_fuzz::Reader;

// All readers, or those whose name contains $RUNHOOKS_FUZZ_READER.
const std::vector<Reader>& readers() {
  static const std::vector<Reader> chosen = [] {
    const char* part = std::getenv("RUNHOOKS_FUZZ_READER");
    std::vector<Reader> all;
    for (const Reader& reader : runhooks_fuzz::readers()) {
      if (!part || std::strstr(reader.name, part)) all.push_back(reader);
    }
    return all;
  }();
  return chosen;
}

constexpr size_t kLargest = 64 * 1024;
constexpr unsigned kSpinBeforeSleep = 20;  // limit for one input, in seconds

std::string bytes_of(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  std::stringstream text;
  text << in.rdbuf();
  return text.str();
}

std::vector<std::string> corpus_of(int argc, char** argv) {
  std::vector<std::string> paths;
  for (int i = 3; i < argc; ++i) {
    if (fs::is_regular_file(argv[i])) paths.push_back(argv[i]);
    if (!fs::is_directory(argv[i])) continue;
    for (const auto& entry : fs::recursive_directory_iterator(argv[i])) {
      if (entry.is_regular_file()) paths.push_back(entry.path().string());
    }
  }
  std::sort(paths.begin(), paths.end());  // the same order on every machine
  std::vector<std::string> corpus = {""};
  for (const std::string& path : paths) {
    std::string bytes = bytes_of(path);
    if (bytes.size() <= kLargest) corpus.push_back(std::move(bytes));
  }
  return corpus;
}

class Mutator {
 public:
  explicit Mutator(uint64_t seed) : random_(seed) {}
  size_t below(size_t n) { return n ? static_cast<size_t>(random_() % n) : 0; }

  std::string change(std::string bytes, const std::string& other) {
    for (size_t changes = 1 + below(8); changes > 0; --changes) change_once(bytes, other);
    if (bytes.size() > kLargest) bytes.resize(kLargest);
    return bytes;
  }

 private:
  void change_once(std::string& bytes, const std::string& other) {
    const size_t at = below(bytes.size() + 1), size = below(bytes.size() - at + 1);
    switch (below(7)) {
      case 0:
        if (at < bytes.size()) bytes[at] = static_cast<char>(bytes[at] ^ (1 << below(8)));
        break;
      case 1:
        if (at < bytes.size()) bytes[at] = static_cast<char>(random_());
        break;
      case 2:  // a number larger than its bytes, as a varint
        bytes.insert(at, std::string("\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01").substr(below(10)));
        break;
      case 3:
        bytes.erase(at, std::min<size_t>(size, 1 + below(64)));
        break;
      case 4:
        bytes.insert(at, bytes.substr(at, std::min<size_t>(size, 1 + below(64))));
        break;
      case 5: {
        const size_t from = below(other.size());
        bytes.insert(at, other.substr(from, 1 + below(64)));
        break;
      }
      default:
        bytes.resize(at);
    }
  }
  std::mt19937_64 random_;
};

// Survives a crash. A memory-mapped file avoids a system call per input.
class LastInput {
 public:
  LastInput() {
    const char* path = std::getenv("RUNHOOKS_FUZZ_LAST");
    const int file = path ? open(path, O_RDWR | O_CREAT | O_TRUNC, 0644) : -1;
    if (file < 0) return;
    if (ftruncate(file, static_cast<off_t>(kSize)) == 0) {
      void* place = mmap(nullptr, kSize, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
      if (place != MAP_FAILED) place_ = static_cast<char*>(place);
    }
    close(file);
  }
  // Stores the reader's name, the size and the bytes.
  void keep(const Reader& reader, const std::string& bytes) {
    if (!place_) return;
    const int head = std::snprintf(place_, 100, "%s\n%zu\n", reader.name, bytes.size());
    std::memcpy(place_ + head, bytes.data(), bytes.size());
  }

 private:
  static constexpr size_t kSize = kLargest + 128;
  char* place_ = nullptr;
};

int repeat(const char* path) {
  std::ifstream in(path, std::ios::binary);
  std::string name, size;
  std::getline(in, name);
  std::getline(in, size);
  std::string bytes(std::strtoul(size.c_str(), nullptr, 10), '\0');
  in.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  for (const Reader& reader : runhooks_fuzz::readers()) {
    if (name != reader.name) continue;
    alarm(kSpinBeforeSleep);
    runhooks_fuzz::read_with(reader, bytes);
    std::printf("fuzz: the reader of %s stood it\n", reader.name);
    return 0;
  }
  std::printf("fuzz: %s names no reader\n", path);
  return 1;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 3 && std::strcmp(argv[1], "again") == 0) return repeat(argv[2]);
  if (argc < 4) {
    std::printf("usage: runhooks_fuzz seconds seed input... | runhooks_fuzz again file\n");
    return 1;
  }
  const auto seconds = std::chrono::duration<double>(std::strtod(argv[1], nullptr));
  const std::vector<std::string> corpus = corpus_of(argc, argv);
  if (corpus.size() < 2) {
    std::printf("fuzz: no inputs to begin with\n");
    return 1;
  }
  if (readers().empty()) {
    std::printf("fuzz: no reader has such a name\n");
    return 1;
  }
  Mutator mutator(std::strtoull(argv[2], nullptr, 10));
  LastInput last;
  std::map<std::string, size_t> counts;
  const auto start = std::chrono::steady_clock::now();
  size_t inputs = 0;
  while (std::chrono::steady_clock::now() - start < seconds) {
    const std::string& from = corpus[mutator.below(corpus.size())];
    const std::string bytes = mutator.change(from, corpus[mutator.below(corpus.size())]);
    const Reader& reader = readers()[mutator.below(readers().size())];
    last.keep(reader, bytes);
    alarm(kSpinBeforeSleep);  // also limits inputs that hang
    runhooks_fuzz::read_with(reader, bytes);
    ++counts[reader.name];
    ++inputs;
  }
  alarm(0);
  std::printf(
      "fuzz: %zu inputs from %zu files, seed %s, no finding; the fewest for one of %zu readers: "
      "%zu\n",
      inputs, corpus.size() - 1, argv[2], readers().size(),
      counts.size() < readers().size()
          ? size_t{0}
          : std::min_element(counts.begin(), counts.end(), [](const auto& a, const auto& b) {
              return a.second < b.second;
            })->second);
  return 0;
}
