// For any input, every op returns a result or an error that names the op, and never crashes. Also
// run this test under sanitizers: make cpptest SAN=address,undefined T=properties.
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
// A failed allocation must throw an error, as it does without the sanitizer.
extern "C" const char* __asan_default_options() { return "allocator_may_return_null=1"; }
#endif

using namespace runhooks;
using namespace runhooks_test;

namespace {

// The name of the current op and the random seed; printed if the process crashes.
char crash_report[256];

void print_crash_report() {
  const ssize_t written = write(STDERR_FILENO, crash_report, std::strlen(crash_report));
  (void)written;
}

#if !defined(__SANITIZE_ADDRESS__)
void handle_signal(int signal) {
  print_crash_report();
  std::signal(signal, SIG_DFL);
  std::raise(signal);
}
#endif

void print_report_on_crash() {
#if defined(__SANITIZE_ADDRESS__)
  __sanitizer_set_death_callback(print_crash_report);
#else
  for (int signal : {SIGSEGV, SIGFPE, SIGABRT, SIGILL}) {
    std::signal(signal, handle_signal);
  }
#endif
}

// Reads every byte, so that a sanitizer detects invalid memory.
uint64_t read_all_bytes(const Tensor& t) {
  uint64_t sum = 0;
  if (t.is_valid() && t.dtype() == DType::kString) {
    for (int64_t i = 0; i < t.num_elements(); ++i) sum += t.string_at(i).size();
  } else if (t.is_valid()) {
    const auto* bytes = static_cast<const unsigned char*>(t.raw());
    for (size_t i = 0; i < t.num_bytes(); ++i) sum += bytes[i];
  }
  return sum;
}

// Whether `attempt` returned a result rather than throwing an error with a message.
template <typename Function>
bool returns_result(Function attempt) {
  try {
    attempt();
    return true;
  } catch (const Error& error) {
    CHECK(!error.message().empty());
    return false;
  }
}

// Runs an operation with random inputs. Returns the number of runs with a result.
int count_results(const OpDef& def, std::mt19937& random) {
  std::unique_ptr<IllCall> call;
  if (!returns_result([&] { call = std::make_unique<IllCall>(def, random); })) return 0;
  Session session(call->graph());
  returns_result([&] { call->initialize(session); });
  int results = 0;
  // Further runs after an error must work.
  for (int run = 0; run < 3; ++run) {
    const Feeds feeds = call->feeds();
    results += returns_result([&] {
      for (const Tensor& result : session.run(call->fetches(), feeds)) read_all_bytes(result);
    });
  }
  return results;
}

uint64_t number_from_environment(const char* variable, uint64_t default_value) {
  const char* text = std::getenv(variable);
  return text ? std::strtoull(text, nullptr, 10) : default_value;
}

// Changes the working directory, because some ops write files whose names are inputs.
class InTemporaryFolder {
 public:
  InTemporaryFolder() { std::filesystem::current_path(temporary_folder()); }
  ~InTemporaryFolder() { std::filesystem::current_path(before_); }

 private:
  const std::filesystem::path before_ = std::filesystem::current_path();
};

bool takes_handle(const OpDef& def) {
  return std::any_of(def.inputs.begin(), def.inputs.end(),
                     [](const ArgDef& arg) { return arg.takes_handles(); });
}

}  // namespace

// Set RUNHOOKS_SEED to repeat a run, and RUNHOOKS_ROUNDS to make it longer.
TEST(registry_properties_an_error_or_a_result) {
  const uint64_t seed = number_from_environment("RUNHOOKS_SEED", std::random_device()());
  const uint64_t rounds = number_from_environment("RUNHOOKS_ROUNDS", 60);
  const uint64_t limit = set_memory_limit(reserved_memory() + (uint64_t{4} << 20));
  print_report_on_crash();
  const InTemporaryFolder no_files_here;
  int num_ops = 0, always_rejected = 0;
  for (const auto& entry : all_ops()) {
    if (entry.second.summary == "for tests") continue;
    int results = 0;
    for (uint64_t round = 0; round < rounds; ++round) {
      context() = str_cat("RUNHOOKS_SEED=", seed, " ", entry.first, ", round ", round);
      std::snprintf(crash_report, sizeof crash_report, "This was at %s.\n", context().c_str());
      std::seed_seq numbers{seed, static_cast<uint64_t>(std::hash<std::string>()(entry.first)),
                            round};
      std::mt19937 random(numbers);
      results += count_results(entry.second, random);
    }
    ++num_ops;
    // An op that takes a handle is always rejected, because random inputs contain no handles.
    always_rejected += results == 0 && !takes_handle(entry.second);
  }
  set_memory_limit(limit);
  crash_report[0] = '\0';
  CHECK(num_ops > 150);
  // If most calls were rejected, the test would be useless.
  CHECK(rounds < 60 || always_rejected < num_ops / 10);
}
