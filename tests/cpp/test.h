// The small driver of the core's tests: TEST cases and CHECK macros.
#pragma once

#include <cmath>
#include <cstdio>
#include <functional>
#include <string>
#include <vector>

#include "base/status.h"

namespace runhooks_test {

struct Case {
  const char* name;
  void (*run)();
};

inline std::vector<Case>& cases() {
  static std::vector<Case> all;
  return all;
}

struct Registration {
  Registration(const char* name, void (*run)()) { cases().push_back({name, run}); }
};

struct Failure {
  std::string text;
};

// A test throws this if the platform lacks a feature that it needs. The test counts as not run.
struct NotRun {
  std::string reason;
};

[[noreturn]] inline void fail_at(const char* file, int line, const std::string& text) {
  throw Failure{runhooks::str_cat(file, ":", line, ": ", text)};
}

// Returns additional text for the messages of failing checks. Tests assign to it.
inline std::string& context() {
  static std::string text;
  return text;
}

// Returns a folder for the files of this process, which is removed at the end.
std::string temporary_folder();
// Returns the folder with the goldens: files that TensorFlow wrote (tests/testthat/golden).
std::string golden_folder();
std::string read_file(const std::string& path);

}  // namespace runhooks_test

#define TEST(name)                                                                   \
  static void test_##name();                                                         \
  static const runhooks_test::Registration registration_##name(#name, &test_##name); \
  static void test_##name()

#define CHECK(condition)                                                                   \
  do {                                                                                     \
    if (!(condition)) runhooks_test::fail_at(__FILE__, __LINE__, "not true: " #condition); \
  } while (0)

#define CHECK_EQ(a, b)                                                                  \
  do {                                                                                  \
    const auto value_a = (a);                                                           \
    const auto value_b = (b);                                                           \
    if (!(value_a == value_b)) {                                                        \
      runhooks_test::fail_at(__FILE__, __LINE__,                                        \
                             runhooks::str_cat(#a " is ", value_a, ", not ", value_b)); \
    }                                                                                   \
  } while (0)

#define CHECK_NEAR(a, b, tolerance)                                                     \
  do {                                                                                  \
    const double value_a = (a), value_b = (b);                                          \
    if (!(std::fabs(value_a - value_b) <= (tolerance))) {                               \
      runhooks_test::fail_at(__FILE__, __LINE__,                                        \
                             runhooks::str_cat(#a " is ", value_a, ", not ", value_b)); \
    }                                                                                   \
  } while (0)

// Checks that the expression throws a runhooks::Error of this code whose message contains `text`.
#define CHECK_THROWS(expression, wanted, text)                                              \
  do {                                                                                      \
    bool thrown = false;                                                                    \
    try {                                                                                   \
      (void)(expression);                                                                   \
    } catch (const runhooks::Error& error) {                                                \
      thrown = true;                                                                        \
      if (error.code() != (wanted) || error.message().find(text) == std::string::npos) {    \
        runhooks_test::fail_at(                                                             \
            __FILE__, __LINE__,                                                             \
            runhooks::str_cat("threw ", code_name(error.code()), ": ", error.message()));   \
      }                                                                                     \
    }                                                                                       \
    if (!thrown) runhooks_test::fail_at(__FILE__, __LINE__, "did not throw: " #expression); \
  } while (0)
