// Slices and tiles with extreme strides, bounds and multiples.
#include <limits>
#include <memory>
#include <vector>

#include "session/session.h"
#include "test.h"

using namespace runhooks;

TEST(strides_beyond_the_end_take_one_element) {
  constexpr int64_t kMax = std::numeric_limits<int64_t>::max();
  constexpr int64_t kMin = std::numeric_limits<int64_t>::min();
  const auto graph = std::make_shared<Graph>();
  const Output x = graph->constant(Tensor::vector<float>({1, 2, 3, 4}), "x");
  const auto slice = [&](int64_t begin, int64_t end, int64_t stride) {
    const auto number = [&](int64_t value) {
      return graph->constant(Tensor::vector<int64_t>({value}), "number");
    };
    const Output y = graph->op("StridedSlice", {x, number(begin), number(end), number(stride)});
    const Tensor values = Session(graph).run({Fetch(y)}, {})[0];
    const auto* data = values.data<float>();
    return std::vector<float>(data, data + values.num_elements());
  };
  using Floats = std::vector<float>;
  for (const int64_t stride : {int64_t{4}, int64_t{5}, kMax - 1, kMax}) {
    CHECK(slice(0, 4, stride) == (Floats{1}));
    CHECK(slice(1, kMax, stride) == (Floats{2}));
    CHECK(slice(3, 0, -stride) == (Floats{4}));
  }
  CHECK(slice(-1, kMin, kMin) == (Floats{4}));
  CHECK(slice(0, kMax, 3) == (Floats{1, 4}));
  CHECK(slice(3, kMin, -3) == (Floats{4, 1}));
}

TEST(impossible_tiles_are_errors_when_they_are_added) {
  const auto graph = std::make_shared<Graph>();
  const Output x = graph->constant(Tensor::vector<float>({1, 2, 3, 4}), "x");
  const Output times =
      graph->constant(Tensor::vector<int64_t>({std::numeric_limits<int64_t>::max()}), "times");
  CHECK_THROWS(graph->op("Tile", {x, times}).build(), Code::kResourceExhausted,
               "too many elements");
}
