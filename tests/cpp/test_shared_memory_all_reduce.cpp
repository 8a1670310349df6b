// Tests the all-reduce (sum over all processes) in shared memory, with threads in place of
// processes.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <condition_variable>
#include <cstring>
#include <exception>
#include <functional>
#include <limits>
#include <memory>
#include <mutex>
#include <random>
#include <thread>

#include "base/platform.h"
#include "cluster/shared_memory.h"
#include "cluster/shared_memory_all_reduce.h"
#include "test.h"

using namespace runhooks;
using namespace runhooks_test;

namespace {

constexpr int64_t kRoom = 8192;

void nothing() {}

// Runs `f` in a thread per rank on one shared memory, and throws the first error.
void with_ranks(int size, const std::function<void(SharedMemoryAllReduce&, int rank)>& f) {
  struct alignas(128) Line {
    char bytes[128];
  };
  const auto bytes = static_cast<size_t>(SharedMemoryAllReduce::memory_bytes(kRoom, size));
  const auto memory = std::make_unique<Line[]>(bytes / sizeof(Line) + 1);
  std::vector<std::exception_ptr> errors(static_cast<size_t>(size));
  std::vector<std::thread> threads;
  for (int rank = 0; rank < size; ++rank) {
    threads.emplace_back([&, rank] {
      try {
        SharedMemoryAllReduce sums(memory.get(), kRoom, rank, size, 100, nothing);
        f(sums, rank);
      } catch (...) {
        errors[static_cast<size_t>(rank)] = std::current_exception();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const std::exception_ptr& error : errors) {
    if (error) std::rethrow_exception(error);
  }
}

// Draws floats of different magnitudes, whose sum depends on the order.
template <typename T>
std::vector<T> drawn(int rank, int64_t n) {
  std::mt19937 random(static_cast<unsigned>(rank) * 1000 + static_cast<unsigned>(n));
  std::vector<T> values(static_cast<size_t>(n));
  for (T& value : values) {
    const double scale = std::is_integral_v<T> ? 1 : 1 << random() % 30;
    value = static_cast<T>((static_cast<double>(random() % 200001) - 1e5) * scale);
  }
  return values;
}

template <typename T>
std::vector<T> sum_in_order(int size, int64_t n) {
  std::vector<T> sum = drawn<T>(0, n);
  for (int rank = 1; rank < size; ++rank) {
    const std::vector<T> other = drawn<T>(rank, n);
    for (size_t i = 0; i < sum.size(); ++i) sum[i] += other[i];
  }
  return sum;
}

template <typename T>
bool same_bits(const std::vector<T>& a, const std::vector<T>& b) {
  return a.size() == b.size() &&
         (a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(T)) == 0);
}

// Sizes near the length of a vector, near the threshold for local sums, and of one and several
// chunks.
const std::vector<int64_t> kSizes = {0, 1, 7, 33, 1023, 1024, 1025, 2047, 2048, 2049, 4095, 30011};

template <typename T>
void check_sums(DType dtype) {
  for (const int size : {2, 3, 4}) {
    std::vector<std::vector<T>> results(kSizes.size() * static_cast<size_t>(size));
    with_ranks(size, [&](SharedMemoryAllReduce& sums, int rank) {
      for (size_t k = 0; k < kSizes.size(); ++k) {
        std::vector<T> values = drawn<T>(rank, kSizes[k]);
        sums.add(values.data(), kSizes[k], dtype);
        results[k * static_cast<size_t>(size) + static_cast<size_t>(rank)] = values;
      }
    });
    for (size_t i = 0; i < results.size(); ++i) {
      CHECK(same_bits(results[i], sum_in_order<T>(size, kSizes[i / static_cast<size_t>(size)])));
    }
  }
}

template <typename T>
void check_averages(DType dtype) {
  const std::vector<int64_t> lengths = {3, 0, 2500, 1, 700, 5000, 0};
  for (const int size : {2, 3, 4}) {
    std::vector<std::vector<T>> results(static_cast<size_t>(size));
    with_ranks(size, [&](SharedMemoryAllReduce& sums, int rank) {
      std::vector<T> own, means(8204);
      for (const int64_t n : lengths) {
        const std::vector<T> part = drawn<T>(rank, n);
        own.insert(own.end(), part.begin(), part.end());
      }
      const std::vector<T> before = own;
      std::vector<ReduceBuffer> parts;
      int64_t at = 0;
      for (const int64_t n : lengths) {
        parts.push_back({own.data() + at, means.data() + at, n});
        at += n;
      }
      sums.average(parts, dtype);
      CHECK(same_bits(own, before));
      results[static_cast<size_t>(rank)] = means;
    });
    std::vector<T> expected;
    for (const int64_t n : lengths) {
      for (const T sum : sum_in_order<T>(size, n)) expected.push_back(sum / static_cast<T>(size));
    }
    for (const std::vector<T>& means : results) CHECK(same_bits(means, expected));
  }
}

// Returns a quiet NaN with this sign and payload.
template <typename T>
T not_a_number(bool is_negative, uint32_t payload) {
  using Bits = std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t>;
  T exponent = std::numeric_limits<T>::quiet_NaN();
  Bits bits;
  std::memcpy(&bits, &exponent, sizeof bits);
  bits = (bits & ~(Bits{1} << (8 * sizeof(T) - 1))) | payload;
  if (is_negative) bits |= Bits{1} << (8 * sizeof(T) - 1);
  std::memcpy(&exponent, &bits, sizeof bits);
  return exponent;
}

// Processes have different NaNs at some positions, so that the result depends on the order.
template <typename T>
void check_nans(DType dtype) {
  for (const int size : {2, 3, 4}) {
    std::vector<std::vector<T>> in_place(static_cast<size_t>(size)), apart = in_place;
    with_ranks(size, [&](SharedMemoryAllReduce& sums, int rank) {
      const auto at = static_cast<size_t>(rank);
      for (const int64_t n : kSizes) {
        std::vector<T> values = drawn<T>(rank, n);
        for (size_t i = 0; i < values.size(); ++i) {
          if (i % 5 == 0 || i % 5 == at + 1) {
            values[i] =
                not_a_number<T>(rank % 2 == 1, static_cast<uint32_t>(100 * rank + i % 90 + 1));
          }
        }
        std::vector<T> means(values.size());
        sums.average({{values.data(), means.data(), n}}, dtype);
        apart[at].insert(apart[at].end(), means.begin(), means.end());
        sums.add(values.data(), n, dtype);
        in_place[at].insert(in_place[at].end(), values.begin(), values.end());
      }
    });
    CHECK(std::isnan(in_place[0][0]));
    for (int rank = 1; rank < size; ++rank) {
      CHECK(same_bits(in_place[static_cast<size_t>(rank)], in_place[0]));
      CHECK(same_bits(apart[static_cast<size_t>(rank)], apart[0]));
    }
  }
}

}  // namespace

TEST(cluster_shared_sums_of_nans_have_the_same_bits) {
  check_nans<float>(DType::kFloat32);
  check_nans<double>(DType::kFloat64);
}

TEST(cluster_shared_sums_are_in_rank_order_with_the_same_bits) {
  check_sums<float>(DType::kFloat32);
  check_sums<double>(DType::kFloat64);
  check_sums<int32_t>(DType::kInt32);
  check_sums<int64_t>(DType::kInt64);
}

TEST(cluster_shared_averages_divide_the_sums_by_the_processes) {
  check_averages<float>(DType::kFloat32);
  check_averages<double>(DType::kFloat64);
}

TEST(cluster_shared_sums_and_votes_with_a_late_process) {
  for (const int size : {2, 3, 4}) {
    with_ranks(size, [&](SharedMemoryAllReduce& sums, int rank) {
      std::mt19937 random(static_cast<unsigned>(rank));
      for (int64_t step = 0; step < 300; ++step) {
        if (random() % 50 == 0) std::this_thread::sleep_for(std::chrono::microseconds(200));
        int64_t votes[2] = {step + rank, -rank};
        sums.largest(votes, 2);
        CHECK_EQ(votes[0], step + size - 1);
        CHECK_EQ(votes[1], int64_t{0});
        std::vector<float> values(static_cast<size_t>(step * 17), static_cast<float>(rank + 1));
        sums.add(values.data(), step * 17, DType::kFloat32);
        const auto sum = static_cast<float>(size * (size + 1) / 2);
        CHECK(std::all_of(values.begin(), values.end(), [&](float x) { return x == sum; }));
      }
    });
  }
}

TEST(cluster_processes_with_different_sums_are_errors) {
  for (const int size : {2, 3}) {
    for (const bool other_type : {false, true}) {
      const auto differ = [&](SharedMemoryAllReduce& sums, int rank) {
        std::vector<double> values(100);
        const bool is_other = rank == size - 1;
        sums.add(values.data(), is_other && !other_type ? 7 : 8,
                 is_other && other_type ? DType::kInt64 : DType::kFloat64);
      };
      CHECK_THROWS(with_ranks(size, differ), Code::kInternal, "runs another reduction");
    }
  }
}

#ifdef __linux__
namespace {

// The messages with which two threads agree on shared memory.
struct Table {
  std::mutex mutex;
  std::condition_variable changed;
  std::vector<char> sent;
  int64_t largest = 0;
  int asked = 0;
};

class FakeCommunicator : public Communicator {
 public:
  FakeCommunicator(int rank, Table& table) : rank_(rank), table_(table) {}
  int rank() const override { return rank_; }
  int size() const override { return 2; }
  int local_rank() const override { return rank_; }
  std::string library() const override { return "none"; }
  void add(void*, int64_t, DType) override {}
  void largest(int64_t* values, int64_t) override {
    std::unique_lock<std::mutex> lock(table_.mutex);
    table_.largest = std::max(table_.largest, *values);
    ++table_.asked;
    table_.changed.notify_all();
    table_.changed.wait(lock, [&] { return table_.asked == 2; });
    *values = table_.largest;
  }
  void broadcast(void* bytes, int64_t n, int) override {
    std::unique_lock<std::mutex> lock(table_.mutex);
    auto* const own = static_cast<char*>(bytes);
    if (rank_ == 0) table_.sent.assign(own, own + n);
    table_.changed.notify_all();
    table_.changed.wait(lock, [&] { return !table_.sent.empty(); });
    if (rank_ == 0) return;
    std::copy(table_.sent.begin(), table_.sent.end(), own);
    if (elsewhere) own[n - 1] ^= 1;
  }
  void gather(const void*, int64_t, void*) override {}
  void abort(int) override {}
  void finish() override {}

  bool elsewhere = false;  // the memory found belongs to another process

 private:
  int rank_;
  Table& table_;
};

}  // namespace

TEST(cluster_memory_is_shared_by_all_or_none) {
  for (const auto& [lacking, elsewhere] :
       {std::make_pair("", false), std::make_pair("", true), std::make_pair("memfd", false)}) {
    const DisabledFeatures without(lacking);
    const bool is_missing = elsewhere || *lacking;
    Table table;
    std::unique_ptr<SharedMemory> memory[2];
    std::vector<std::thread> threads;
    for (int rank = 0; rank < 2; ++rank) {
      threads.emplace_back([&, rank, is_elsewhere = elsewhere] {
        FakeCommunicator all(rank, table);
        all.elsewhere = is_elsewhere;
        memory[rank] = shared_memory(all, 1 << 20);
      });
    }
    for (std::thread& thread : threads) thread.join();
    CHECK_EQ(memory[0] == nullptr, is_missing);
    CHECK_EQ(memory[1] == nullptr, is_missing);
    if (is_missing) continue;
    CHECK(memory[0]->bytes() != memory[1]->bytes());
    auto* const one = static_cast<char*>(memory[0]->bytes());
    const auto* const other = static_cast<const char*>(memory[1]->bytes());
    CHECK(std::all_of(other, other + (1 << 20), [](char x) { return x == 0; }));
    one[(1 << 20) - 1] = 5;
    CHECK_EQ(static_cast<int>(other[(1 << 20) - 1]), 5);
  }
}
#endif
