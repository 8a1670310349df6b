// Compares the coordinates of TRUE elements with a computation by division.
#include <memory>
#include <random>
#include <vector>

#include "session/session.h"
#include "test.h"

using namespace runhooks;

namespace {

std::vector<int64_t> coordinates(const Tensor& x) {
  std::vector<int64_t> all;
  const Shape& shape = x.shape();
  for (int64_t i = 0; i < x.num_elements(); ++i) {
    if (x.number_at(i) == 0) continue;
    std::vector<int64_t> place(static_cast<size_t>(shape.rank()));
    int64_t rest = i;
    for (int d = shape.rank() - 1; d >= 0; --d) {
      place[static_cast<size_t>(d)] = rest % shape.dim(d);
      rest /= shape.dim(d);
    }
    all.insert(all.end(), place.begin(), place.end());
  }
  return all;
}

template <typename T>
void check_where(const Shape& shape, std::mt19937& random) {
  Tensor x(dtype_of<T>(), shape);
  for (int64_t i = 0; i < x.num_elements(); ++i) x.data<T>()[i] = static_cast<T>(random() % 2);
  const auto graph = std::make_shared<Graph>();
  const Output given = graph->op("Placeholder").attr("dtype", x.dtype());
  const Output where = graph->op("Where", {given});
  Session session(graph);
  for (int run = 0; run < 2; ++run) {
    const Tensor found = session.run({Fetch(where)}, {{given, x}})[0];
    CHECK_EQ(found.shape().dim(1), static_cast<int64_t>(shape.rank()));
    const auto* at = found.data<int64_t>();
    CHECK(std::vector<int64_t>(at, at + found.num_elements()) == coordinates(x));
  }
}

}  // namespace

TEST(where_finds_coordinates_of_any_rank) {
  std::mt19937 random(41);
  const std::vector<Shape> shapes = {Shape{},        Shape{7},       Shape{0},         Shape{5, 1},
                                     Shape{1, 5},    Shape{4, 3},    Shape{3, 0},      Shape{0, 3},
                                     Shape{2, 3, 4}, Shape{3, 1, 2}, Shape{2, 2, 3, 2}};
  for (const Shape& shape : shapes) {
    check_where<bool>(shape, random);
    check_where<float>(shape, random);
    check_where<int64_t>(shape, random);
  }
}
