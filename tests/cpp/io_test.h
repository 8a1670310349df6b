// Helpers for the tests of src/io: hexadecimal text, files, and random bytes with a reported seed.
#pragma once

#include <cstdlib>
#include <random>
#include <string>

#include "io/files/atomic_file.h"
#include "test.h"

namespace runhooks_test {

inline std::string from_hex(const std::string& hex) {
  std::string bytes;
  for (size_t i = 0; i + 1 < hex.size(); i += 2) {
    bytes += static_cast<char>(std::stoi(hex.substr(i, 2), nullptr, 16));
  }
  return bytes;
}

inline std::string to_hex(std::string_view bytes) {
  std::string hex;
  for (char c : bytes) {
    hex += "0123456789abcdef"[static_cast<unsigned char>(c) >> 4];
    hex += "0123456789abcdef"[static_cast<unsigned char>(c) & 15];
  }
  return hex;
}

// Creates a new subfolder of the temporary folder, and returns its path.
inline std::string fresh_folder(const std::string& name) {
  static int count = 0;
  const std::string path = runhooks::str_cat(temporary_folder(), "/", name, count++);
  runhooks::create_directories(path);
  return path;
}

inline void write_bytes(const std::string& path, std::string_view bytes) {
  // Removes the old file first: some file systems flush a file that is truncated and rewritten.
  runhooks::remove_file(path);
  runhooks::OutputFile file(path);
  file.write(bytes);
  file.close();
}

inline std::string golden_file(const std::string& name) {
  return golden_folder() + "/files/" + name;
}

// Returns a generator whose seed is printed with failures. Set RUNHOOKS_SEED to repeat a run.
inline std::mt19937_64 seeded_generator() {
  const char* seed_text = std::getenv("RUNHOOKS_SEED");
  const uint64_t seed = seed_text ? std::strtoull(seed_text, nullptr, 10) : std::random_device()();
  context() = runhooks::str_cat("RUNHOOKS_SEED=", seed);
  return std::mt19937_64(seed);
}

inline std::string random_bytes(std::mt19937_64& random, size_t size) {
  std::string bytes(size, '\0');
  for (char& c : bytes) c = static_cast<char>(random());
  return bytes;
}

// Runs `read` on damaged data. Checks that it succeeds or throws an Error of kDataLoss or kNotFound
// that names `file`.
template <typename Read>
bool reads_or_reports(const std::string& file, Read read) {
  using runhooks::Code;
  try {
    read();
    return true;
  } catch (const runhooks::Error& error) {
    const bool good_code = error.code() == Code::kDataLoss || error.code() == Code::kNotFound;
    if (!good_code || error.message().find(file) == std::string::npos) {
      fail_at(__FILE__, __LINE__,
              runhooks::str_cat(code_name(error.code()), ": ", error.message()));
    }
    return false;
  }
}

}  // namespace runhooks_test
