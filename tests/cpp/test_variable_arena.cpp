// Tests the variable arena: packing, alignment, and release.
#include <cstdint>
#include <thread>
#include <vector>

#include "base/memory.h"
#include "graph/variable.h"
#include "tensor/variable_arena.h"
#include "test.h"

using namespace runhooks;

namespace {

// Returns FALSE under AddressSanitizer. It disables the arena, because it checks only separate
// allocations.
bool is_arena_enabled() {
  void* const data = arena_allocate(8);
  if (data) arena_free(data);
  return data != nullptr;
}

Tensor persistent_zeros(int64_t n) {
  const PersistentAllocScope persistent;
  return Tensor::zeros(DType::kFloat32, Shape{n});
}

}  // namespace

TEST(arena_packs_aligned_values_and_releases_them) {
  if (!is_arena_enabled()) return;
  const size_t chunks = arena_chunk_count();
  const uint64_t reserved_before = reserved_memory();
  {
    std::vector<Tensor> values;
    for (int64_t n : {1, 16, 17, 8000, 100000}) values.push_back(persistent_zeros(n));
    for (size_t i = 0; i < values.size(); ++i) {
      const auto at = reinterpret_cast<uintptr_t>(values[i].raw());
      CHECK_EQ(at % 64, 0u);
      if (i == 0) continue;
      const auto before = reinterpret_cast<uintptr_t>(values[i - 1].raw());
      CHECK_EQ(at, before + (values[i - 1].num_bytes() + 63) / 64 * 64);
    }
    CHECK_EQ(arena_chunk_count(), chunks + 1);
    const Tensor passing = Tensor::zeros(DType::kFloat32, Shape{16});
    const auto end = reinterpret_cast<uintptr_t>(values.back().raw()) + values.back().num_bytes();
    CHECK(reinterpret_cast<uintptr_t>(passing.raw()) != end);
    const Tensor large = persistent_zeros(int64_t{1} << 19);  // a large tensor has separate pages
    CHECK_EQ(arena_chunk_count(), chunks + 1);
    values.erase(values.begin(), values.begin() + 4);
    values[0].data<float>()[99999] = 1;
    CHECK_EQ(arena_chunk_count(), chunks + 1);
  }
  CHECK_EQ(arena_chunk_count(), chunks);
  CHECK_EQ(reserved_memory(), reserved_before);
}

TEST(arena_does_not_grow_with_released_models) {
  const size_t chunks = arena_chunk_count();
  for (int model = 0; model < 200; ++model) {
    std::vector<Tensor> tables;
    for (int i = 0; i < 40; ++i) tables.push_back(persistent_zeros(100000));  // 16 MB in total
    CHECK(arena_chunk_count() <= chunks + 5);
  }
  CHECK_EQ(arena_chunk_count(), chunks);
}

TEST(arena_is_thread_safe) {
  const size_t chunks = arena_chunk_count();
  std::vector<std::thread> threads;
  std::vector<int> wrong(2);
  for (int t = 0; t < 2; ++t) {
    threads.emplace_back([t, &wrong] {
      std::vector<Tensor> values;
      for (int i = 0; i < 2000; ++i) {
        values.push_back(persistent_zeros(1 + i % 700));
        values.back().data<float>()[0] = static_cast<float>(i);
        if (i % 3 == 0) values.erase(values.begin() + i % static_cast<int>(values.size()));
      }
      for (const Tensor& value : values) {
        for (int64_t i = 1; i < value.num_elements(); ++i) {
          if (value.data<float>()[i] != 0) ++wrong[static_cast<size_t>(t)];
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK_EQ(wrong[0] + wrong[1], 0);
  CHECK_EQ(arena_chunk_count(), chunks);
}

TEST(arena_holds_variables_however_they_are_initialized) {
  if (!is_arena_enabled()) return;
  const size_t chunks = arena_chunk_count();
  VariableState assigned("a", DType::kFloat32), reserved_before("b", DType::kFloat32);
  const Tensor value = Tensor::vector<float>({1, 2, 3});
  assigned.assign(value);
  CHECK_EQ(arena_chunk_count(), chunks + 1);
  const void* const address = assigned.value().raw();
  assigned.assign(Tensor::vector<float>({4, 5, 6}));
  CHECK(assigned.value().raw() == address);
  reserved_before.take(Tensor::vector<float>({7, 8, 9}));
  CHECK(reserved_before.value().equals(Tensor::vector<float>({7, 8, 9})));
  CHECK_EQ(reinterpret_cast<uintptr_t>(reserved_before.value().raw()),
           reinterpret_cast<uintptr_t>(address) + 64);
  CHECK(!PersistentAllocScope::is_active());
}
