// Convolutions and pools, compared with loops over the window. Small integers make every sum exact,
// so results must match bit for bit.
#include <cstring>
#include <random>

#include "ops/nn/window.h"
#include "ops/state/gradient_helpers.h"
#include "session/session.h"
#include "test.h"
#include "threads_test.h"

using namespace runhooks;
using namespace runhooks_test;

namespace {

struct Sizes {
  int64_t batch, height, width, channels, rows, columns, outputs;
  std::vector<int64_t> strides, dilations;
  const char* padding;
};

std::string describe(const Sizes& s) {
  return str_cat(s.batch, " images of ", s.height, " x ", s.width, " x ", s.channels, ", filter ",
                 s.rows, " x ", s.columns, " x ", s.outputs, ", strides ", s.strides[1], " ",
                 s.strides[2], ", dilations ", s.dilations[1], " ", s.dilations[2], ", ",
                 s.padding);
}

template <typename T>
Tensor whole_numbers(const Shape& shape, std::mt19937& random) {
  Tensor t(sizeof(T) == sizeof(float) ? DType::kFloat32 : DType::kFloat64, shape);
  std::uniform_int_distribution<int> draw(-3, 3);
  for (int64_t i = 0; i < t.num_elements(); ++i) t.data<T>()[i] = static_cast<T>(draw(random));
  return t;
}

OpBuilder window_op(Graph& g, const char* type, const std::vector<Output>& in, const Sizes& s) {
  return g.op(type, in).attr("strides", s.strides).attr("padding", s.padding);
}

// Computes the output y and the gradients dx and dw by loops over all windows.
template <typename T>
std::vector<Tensor> reference_convolution(
    const Window& window, const Sizes& s, const Tensor& x, const Tensor& w, const Tensor& dy) {
  Tensor y(dy.dtype(), dy.shape()), dx(x.dtype(), x.shape()), dw(w.dtype(), w.shape());
  for (Tensor* t : {&y, &dx, &dw}) std::memset(t->raw(), 0, t->num_bytes());
  for (int64_t n = 0; n < s.batch; ++n) {
    for (int64_t oy = 0; oy < window.height.out; ++oy) {
      for (int64_t ox = 0; ox < window.width.out; ++ox) {
        const int64_t output_offset =
            ((n * window.height.out + oy) * window.width.out + ox) * s.outputs;
        visit_window(window, oy, ox, [&](int64_t iy, int64_t ix, int64_t ky, int64_t kx) {
          const int64_t input_offset = ((n * s.height + iy) * s.width + ix) * s.channels;
          const int64_t filter_offset = (ky * s.columns + kx) * s.channels * s.outputs;
          for (int64_t c = 0; c < s.channels; ++c) {
            for (int64_t o = 0; o < s.outputs; ++o) {
              const int64_t index = filter_offset + c * s.outputs + o;
              y.data<T>()[output_offset + o] += x.data<T>()[input_offset + c] * w.data<T>()[index];
              dx.data<T>()[input_offset + c] +=
                  dy.data<T>()[output_offset + o] * w.data<T>()[index];
              dw.data<T>()[index] +=
                  dy.data<T>()[output_offset + o] * x.data<T>()[input_offset + c];
            }
          }
        });
      }
    }
  }
  return {y, dx, dw};
}

template <typename T>
void check_convolution(const Sizes& s, std::mt19937& random) {
  context() = describe(s);
  auto graph = std::make_shared<Graph>();
  const Tensor x = whole_numbers<T>(Shape{s.batch, s.height, s.width, s.channels}, random);
  const Tensor w = whole_numbers<T>(Shape{s.rows, s.columns, s.channels, s.outputs}, random);
  const Output image = graph->op("Placeholder").attr("dtype", x.dtype()).attr("shape", x.shape());
  const Output filter = graph->op("Placeholder").attr("dtype", x.dtype()).attr("shape", w.shape());
  Output y = window_op(*graph, "Conv2D", {image, filter}, s).attr("dilations", s.dilations);
  const Tensor dy = whole_numbers<T>(y.shape(), random);
  const Output grad = graph->op("Placeholder").attr("dtype", x.dtype()).attr("shape", y.shape());
  const Output dx =
      window_op(*graph, "Conv2DBackpropInput", {shape_of(*graph, image), filter, grad}, s)
          .attr("dilations", s.dilations);
  const Output dw =
      window_op(*graph, "Conv2DBackpropFilter", {image, shape_of(*graph, filter), grad}, s)
          .attr("dilations", s.dilations);
  const Window window(*y.op, x.shape(), s.rows, s.columns);
  const std::vector<Tensor> expected = reference_convolution<T>(window, s, x, w, dy);
  for (int num_threads : {1, 2, 3}) {
    const Threads threads(num_threads);
    Session session(graph);
    for (int run = 0; run < 2; ++run) {  // results of the first run must not change the second
      const auto got = session.run({y, dx, dw}, {{image, x}, {filter, w}, {grad, dy}});
      for (size_t i = 0; i < 3; ++i) {
        CHECK_EQ(got[i].num_elements(), expected[i].num_elements());
        for (int64_t k = 0; k < got[i].num_elements(); ++k) {
          CHECK_EQ(got[i].data<T>()[k], expected[i].data<T>()[k]);
        }
      }
    }
  }
}

}  // namespace

TEST(conv_is_the_sum_over_the_window) {
  std::mt19937 random(11);
  const std::vector<Sizes> all = {
      {100, 6, 5, 3, 3, 3, 4, {1, 1, 1, 1}, {1, 1, 1, 1}, "SAME"},
      {9, 14, 14, 32, 5, 5, 40, {1, 1, 1, 1}, {1, 1, 1, 1}, "SAME"},
      {17, 12, 11, 1, 5, 5, 32, {1, 1, 1, 1}, {1, 1, 1, 1}, "VALID"},
      {3, 40, 37, 33, 3, 2, 5, {1, 1, 1, 1}, {1, 1, 1, 1}, "SAME"},    // large images in tiles
      {1, 50, 40, 20, 3, 3, 17, {1, 2, 3, 1}, {1, 1, 1, 1}, "VALID"},  // a single image
      {2, 9, 230, 1, 2, 200, 3, {1, 1, 1, 1}, {1, 1, 1, 1}, "SAME"},   // rows that are split
      {12, 9, 10, 70, 3, 3, 70, {1, 2, 2, 1}, {1, 1, 1, 1}, "SAME"},
      {10, 11, 12, 6, 3, 2, 33, {1, 1, 1, 1}, {1, 2, 3, 1}, "SAME"},
      {10, 11, 12, 6, 3, 2, 7, {1, 1, 1, 1}, {1, 3, 1, 1}, "VALID"},
      {5, 7, 8, 20, 1, 1, 9, {1, 1, 1, 1}, {1, 1, 1, 1}, "SAME"},
      {5, 7, 8, 20, 1, 1, 9, {1, 2, 2, 1}, {1, 1, 1, 1}, "VALID"},
      {4, 5, 5, 2, 5, 5, 3, {1, 1, 1, 1}, {1, 1, 1, 1}, "VALID"},  // an image-sized window
      {3, 2, 3, 2, 4, 5, 3, {1, 3, 2, 1}, {1, 1, 1, 1}, "SAME"},   // a window larger than the image
      {0, 4, 4, 2, 3, 3, 3, {1, 1, 1, 1}, {1, 1, 1, 1}, "SAME"},
      {2, 4, 4, 0, 3, 3, 3, {1, 1, 1, 1}, {1, 1, 1, 1}, "SAME"},
      {2, 4, 4, 3, 3, 3, 0, {1, 1, 1, 1}, {1, 1, 1, 1}, "SAME"},
  };
  for (const Sizes& sizes : all) {
    check_convolution<float>(sizes, random);
    check_convolution<double>(sizes, random);
  }
}

TEST(conv_is_the_sum_over_the_window_for_random_sizes) {
  std::mt19937 random(12);
  auto draw = [&](int64_t low, int64_t high) {
    return std::uniform_int_distribution<int64_t>(low, high)(random);
  };
  for (int i = 0; i < 60; ++i) {
    Sizes s = {draw(1, 20), draw(3, 16), draw(3, 16),  draw(1, 20),  draw(1, 3),
               draw(1, 3),  draw(1, 40), {1, 1, 1, 1}, {1, 1, 1, 1}, draw(0, 1) ? "SAME" : "VALID"};
    for (size_t axis : {1, 2}) {
      if (draw(0, 2) == 0) s.strides[axis] = draw(1, 3);
      if (s.strides[1] == 1 && s.strides[2] == 1 && s.padding[0] == 'S') {
        s.dilations[axis] = draw(1, 2);
      }
    }
    check_convolution<float>(s, random);
  }
}

// 37 channels fill two vector registers of 16 floats, with 5 channels left over. If several cells
// of a window are equal, the first one counts as the largest.
TEST(max_pool_gradient_goes_to_the_first_largest_cell) {
  const Sizes s = {3, 7, 6, 37, 3, 2, 0, {1, 2, 1, 1}, {1, 1, 1, 1}, "SAME"};
  const std::vector<int64_t> ksize = {1, s.rows, s.columns, 1};
  std::mt19937 random(13);
  auto graph = std::make_shared<Graph>();
  const Tensor x = whole_numbers<float>(Shape{s.batch, s.height, s.width, s.channels}, random);
  const Output image = graph->constant(x);
  const Output y = window_op(*graph, "MaxPool", {image}, s).attr("ksize", ksize);
  const Tensor dy = whole_numbers<float>(y.shape(), random);
  const Output grad = graph->constant(dy), grad_grad = graph->constant(x);
  const Output dx = window_op(*graph, "MaxPoolGrad", {image, y, grad}, s).attr("ksize", ksize);
  const Output dx_grad =
      window_op(*graph, "MaxPoolGradGrad", {image, y, grad_grad}, s).attr("ksize", ksize);
  const Window window(*y.op, x.shape(), s.rows, s.columns);
  std::vector<float> largest, gradient(static_cast<size_t>(x.num_elements()), 0);
  for (int64_t n = 0, output_offset = 0; n < s.batch; ++n) {
    for (int64_t oy = 0; oy < window.height.out; ++oy) {
      for (int64_t ox = 0; ox < window.width.out; ++ox) {
        for (int64_t c = 0; c < s.channels; ++c, ++output_offset) {
          int64_t best = -1;
          visit_window(window, oy, ox, [&](int64_t iy, int64_t ix, int64_t, int64_t) {
            const int64_t input_offset = ((n * s.height + iy) * s.width + ix) * s.channels + c;
            if (best < 0 || x.data<float>()[best] < x.data<float>()[input_offset])
              best = input_offset;
          });
          largest.push_back(x.data<float>()[best]);
          gradient[static_cast<size_t>(best)] += dy.data<float>()[output_offset];
        }
      }
    }
  }
  for (int num_threads : {1, 2}) {
    const Threads threads(num_threads);
    Session session(graph);
    const auto got = session.run({y, dx, dx_grad});
    for (size_t i = 0; i < largest.size(); ++i) {
      CHECK_EQ(got[0].data<float>()[i], largest[i]);
      CHECK_EQ(got[2].data<float>()[i], largest[i]);
    }
    for (size_t i = 0; i < gradient.size(); ++i) CHECK_EQ(got[1].data<float>()[i], gradient[i]);
  }
}
