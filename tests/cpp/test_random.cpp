// Unpredictable random numbers differ between threads and processes.
#include <cstring>
#include <set>
#include <thread>
#include <vector>

#include "base/random.h"
#include "child_test.h"
#include "test.h"

using namespace runhooks;
using namespace runhooks_test;

TEST(random_numbers_of_the_machine_differ_from_thread_to_thread) {
  constexpr size_t kThreads = 4, kNumbers = 500;
  std::vector<std::vector<uint64_t>> numbers(kThreads);
  std::vector<std::thread> threads;
  for (auto& thread_numbers : numbers) {
    threads.emplace_back([&thread_numbers] {
      for (size_t i = 0; i < kNumbers; ++i) thread_numbers.push_back(random_device_u64());
    });
  }
  for (std::thread& thread : threads) thread.join();
  std::set<uint64_t> distinct;
  for (const auto& thread_numbers : numbers)
    distinct.insert(thread_numbers.begin(), thread_numbers.end());
  CHECK_EQ(distinct.size(), kThreads * kNumbers);
}

TEST(random_numbers_of_the_machine_differ_in_a_forked_process) {
  random_device_u64();
  ChildProcess child([](const ChildProcess::Send& send) {
    const uint64_t number = random_device_u64();
    send(std::string(reinterpret_cast<const char*>(&number), sizeof number));
    return 0;
  });
  const uint64_t parent_number = random_device_u64();
  const std::string bytes = child.receive(sizeof parent_number);
  CHECK_EQ(bytes.size(), sizeof parent_number);
  uint64_t child_number = parent_number;
  std::memcpy(&child_number, bytes.data(), sizeof child_number);
  CHECK_EQ(child.wait(), 0);
  CHECK(parent_number != child_number);
}

TEST(random_seeds_come_from_their_scope_after_an_error_of_its_source) {
  int calls = 0;
  const SeedSourceScope scope([&calls]() -> uint64_t {
    if (++calls == 1) fail(Code::kUnavailable, "no seed");
    return 7;
  });
  CHECK_THROWS(fresh_seed(), Code::kUnavailable, "no seed");
  CHECK_EQ(fresh_seed(), uint64_t{7});
}
