// Numbers that nobody can foresee, whichever thread or process asks.
#include <sys/wait.h>
#include <unistd.h>

#include <set>
#include <thread>
#include <vector>

#include "base/random.h"
#include "test.h"

using namespace runhooks;

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
  int ends[2];
  CHECK(pipe(ends) == 0);
  random_device_u64();
  const pid_t child = fork();
  if (child == 0) {
    const uint64_t number = random_device_u64();
    _exit(write(ends[1], &number, sizeof number) == sizeof number ? 0 : 1);
  }
  const uint64_t own = random_device_u64();
  uint64_t other = own;
  CHECK(read(ends[0], &other, sizeof other) == sizeof other);
  waitpid(child, nullptr, 0);
  close(ends[0]);
  close(ends[1]);
  CHECK(own != other);
}
