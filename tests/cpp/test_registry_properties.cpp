// Every op returns a result or an error that names it for any input, and never crashes. Also run
// under sanitizers: make cpptest SAN=address,undefined T=properties.
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <random>

#include "base/memory.h"
#include "invalid_inputs.h"
#include "test.h"

#if defined(__SANITIZE_ADDRESS__)
extern "C" void __sanitizer_set_death_callback(void (*callback)());
// A failed allocation must be an error, as without the sanitizer.
extern "C" const char* __asan_default_options() { return "allocator_may_return_null=1"; }
#endif

using namespace runhooks;
using namespace runhooks_test;

namespace {

// The current attempt, printed after a crash.
char last_words[256];

void say_last_words() {
  const ssize_t written = write(STDERR_FILENO, last_words, std::strlen(last_words));
  (void)written;
}

#if !defined(__SANITIZE_ADDRESS__)
void die_by_signal(int signal) {
  say_last_words();
  std::signal(signal, SIG_DFL);
  std::raise(signal);
}
#endif

void speak_before_dying() {
#if defined(__SANITIZE_ADDRESS__)
  __sanitizer_set_death_callback(say_last_words);
#else
  for (int signal : {SIGSEGV, SIGFPE, SIGABRT, SIGILL}) {
    std::signal(signal, die_by_signal);
  }
#endif
}

// Reads every byte, so that a sanitizer detects invalid memory.
uint64_t touch(const Tensor& t) {
  uint64_t sum = 0;
  if (t.is_valid() && t.dtype() == DType::kString) {
    for (int64_t i = 0; i < t.num_elements(); ++i) sum += t.string_at(i).size();
  } else if (t.is_valid()) {
    const auto* bytes = static_cast<const unsigned char*>(t.raw());
    for (size_t i = 0; i < t.num_bytes(); ++i) sum += bytes[i];
  }
  return sum;
}

// TRUE if `attempt` returned a result.
template <typename Try>
bool gives_or_refuses(Try attempt) {
  try {
    attempt();
    return true;
  } catch (const Error& error) {
    CHECK(!error.message().empty());
    return false;
  }
}

// Returns the number of runs with a result.
int try_once(const OpDef& def, std::mt19937& random) {
  std::unique_ptr<IllCall> call;
  if (!gives_or_refuses([&] { call = std::make_unique<IllCall>(def, random); })) return 0;
  Session session(call->graph());
  gives_or_refuses([&] { call->initialize(session); });
  int results = 0;
  // Further runs after an error must work.
  for (int run = 0; run < 3; ++run) {
    const Feeds feeds = call->feeds();
    results += gives_or_refuses([&] {
      for (const Tensor& result : session.run(call->fetches(), feeds)) touch(result);
    });
  }
  return results;
}

uint64_t number_from(const char* variable, uint64_t otherwise) {
  const char* given = std::getenv(variable);
  return given ? std::strtoull(given, nullptr, 10) : otherwise;
}

// Some ops write files under the names in their inputs.
class InTemporaryFolder {
 public:
  InTemporaryFolder() { std::filesystem::current_path(temporary_folder()); }
  ~InTemporaryFolder() { std::filesystem::current_path(before_); }

 private:
  const std::filesystem::path before_ = std::filesystem::current_path();
};

}  // namespace

namespace {

bool takes_handle(const OpDef& def) {
  return std::any_of(def.inputs.begin(), def.inputs.end(),
                     [](const ArgDef& arg) { return arg.takes_handles(); });
}

}  // namespace

// RUNHOOKS_SEED repeats a run, RUNHOOKS_ROUNDS makes it longer.
TEST(registry_properties_an_error_or_a_result) {
  const uint64_t seed = number_from("RUNHOOKS_SEED", std::random_device()());
  const uint64_t rounds = number_from("RUNHOOKS_ROUNDS", 60);
  const uint64_t limit = set_memory_limit(reserved_memory() + (uint64_t{4} << 20));
  speak_before_dying();
  const InTemporaryFolder no_files_here;
  int tried = 0, refused = 0;
  for (const auto& entry : all_ops()) {
    if (entry.second.summary == "for tests") continue;
    int results = 0;
    for (uint64_t round = 0; round < rounds; ++round) {
      context() = str_cat("RUNHOOKS_SEED=", seed, " ", entry.first, ", round ", round);
      std::snprintf(last_words, sizeof last_words, "This was at %s.\n", context().c_str());
      std::seed_seq numbers{seed, static_cast<uint64_t>(std::hash<std::string>()(entry.first)),
                            round};
      std::mt19937 random(numbers);
      results += try_once(entry.second, random);
    }
    ++tried;
    // Random inputs contain no resource handles.
    refused += results == 0 && !takes_handle(entry.second);
  }
  set_memory_limit(limit);
  last_words[0] = '\0';
  CHECK(tried > 150);
  // If most calls were rejected, the test would be useless.
  CHECK(rounds < 60 || refused < tried / 10);
}
