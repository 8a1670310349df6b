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
  std::vector<std::vector<uint64_t>> made(kThreads);
  std::vector<std::thread> threads;
  for (auto& own : made) {
    threads.emplace_back([&own] {
      for (size_t i = 0; i < kNumbers; ++i) own.push_back(random_device_u64());
    });
  }
  for (std::thread& thread : threads) thread.join();
  std::set<uint64_t> all;
  for (const auto& own : made) all.insert(own.begin(), own.end());
  CHECK_EQ(all.size(), kThreads * kNumbers);
}

TEST(random_numbers_of_the_machine_differ_in_a_forked_process) {
  random_device_u64();
  ChildProcess child([](const ChildProcess::Say& say) {
    const uint64_t number = random_device_u64();
    say(std::string(reinterpret_cast<const char*>(&number), sizeof number));
    return 0;
  });
  const uint64_t own = random_device_u64();
  const std::string said = child.hear(sizeof own);
  CHECK_EQ(said.size(), sizeof own);
  uint64_t other = own;
  std::memcpy(&other, said.data(), sizeof other);
  CHECK_EQ(child.wait(), 0);
  CHECK(own != other);
}
