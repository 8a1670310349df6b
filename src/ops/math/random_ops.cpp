// Random ops with the same bits as TensorFlow's. The two seeds of an op define a stream of blocks
// of four words. The session stores a position in this stream, and each number advances it by 256.
#include <algorithm>
#include <cmath>
#include <limits>

#include "base/random.h"
#include "graph/op_registry.h"
#include "graph/saveable.h"
#include "ops/array/copy_elements.h"

namespace runhooks {

namespace {

class Generator : public StatefulResource {
 public:
  explicit Generator(const Operation& op) : philox_(0, 0) {
    seed_ = static_cast<uint64_t>(op.attr_int("seed"));
    seed2_ = static_cast<uint64_t>(op.attr_int("seed2"));
    if (seed_ == 0 && seed2_ == 0) {
      seed_ = fresh_seed();
      seed2_ = fresh_seed();
    }
    philox_ = Philox(seed_, seed2_);
  }
  static std::unique_ptr<StatefulResource> make(const Operation& op) {
    return std::make_unique<Generator>(op);
  }
  NamedTensors save_state() const override {
    return {{"seed", Tensor::scalar(static_cast<int64_t>(seed_))},
            {"seed2", Tensor::scalar(static_cast<int64_t>(seed2_))},
            {"position", Tensor::scalar(static_cast<int64_t>(position_))}};
  }
  void restore_state(const NamedTensors& state) override {
    const int64_t seed = state_integer(state, "seed"), seed2 = state_integer(state, "seed2");
    position_ = static_cast<uint64_t>(state_integer(state, "position"));
    seed_ = static_cast<uint64_t>(seed);
    seed2_ = static_cast<uint64_t>(seed2);
    philox_ = Philox(seed_, seed2_);
  }
  // Reserves 256 blocks for each of n numbers. Returns the position of the first block.
  uint64_t reserve(int64_t n) {
    const uint64_t start = position_;
    position_ += static_cast<uint64_t>(n) * 256;
    return start;
  }
  // Reserves n blocks and returns the position of the first.
  uint64_t reserve_blocks(int64_t n) {
    const uint64_t start = position_;
    position_ += static_cast<uint64_t>(n);
    return start;
  }
  const Philox& philox() const { return philox_; }

 private:
  Philox philox_;
  uint64_t seed_ = 0, seed2_ = 0, position_ = 0;
};

float uniform_float(uint32_t x) {
  const uint32_t bits = (127u << 23) | (x & 0x7fffffu);
  float result;
  std::memcpy(&result, &bits, sizeof result);
  return result - 1.0f;
}

double uniform_double(uint32_t high, uint32_t low) {
  const uint64_t bits = (uint64_t{1023} << 52) | (uint64_t{high & 0xfffffu} << 32) | low;
  double result;
  std::memcpy(&result, &bits, sizeof result);
  return result - 1.0;
}

void box_muller(const uint32_t* x, float out[2]) {
  const float min_uniform = 1.0e-7f;
  float u1 = uniform_float(x[0]);
  if (u1 < min_uniform) u1 = min_uniform;
  const auto v1 = static_cast<float>(2 * 3.14159265358979323846 * uniform_float(x[1]));
  const float u2 = std::sqrt(-2.0f * std::log(u1));
  out[0] = std::sin(v1) * u2;
  out[1] = std::cos(v1) * u2;
}

void box_muller(const uint32_t* x, double out[2]) {
  const double min_uniform = 1.0e-7;
  double u1 = uniform_double(x[0], x[1]);
  if (u1 < min_uniform) u1 = min_uniform;
  const double v1 = 2 * 3.14159265358979323846 * uniform_double(x[2], x[3]);
  const double u2 = std::sqrt(-2.0 * std::log(u1));
  out[0] = std::sin(v1) * u2;
  out[1] = std::cos(v1) * u2;
}

// A distribution converts one block of four words to four float32 or two float64 numbers.
struct UniformDistribution {
  static void draw(const uint32_t* x, float* out) {
    for (int i = 0; i < 4; ++i) out[i] = uniform_float(x[i]);
  }
  static void draw(const uint32_t* x, double* out) {
    out[0] = uniform_double(x[0], x[1]);
    out[1] = uniform_double(x[2], x[3]);
  }
};
struct NormalDistribution {
  static void draw(const uint32_t* x, float* out) {
    box_muller(x, out);
    box_muller(x + 2, out + 2);
  }
  static void draw(const uint32_t* x, double* out) { box_muller(x, out); }
};

// The words of a stream from a position on.
class PhiloxWords {
 public:
  PhiloxWords(const Philox& philox, uint64_t position) : philox_(philox), position_(position) {}
  uint32_t next() {
    if (used_ == 4) {
      philox_.block(position_++, block_);
      used_ = 0;
    }
    return block_[used_++];
  }
  double uniform() {
    const uint32_t high = next();
    return uniform_double(high, next());
  }

 private:
  const Philox& philox_;
  uint64_t position_;
  uint32_t block_[4] = {};
  int used_ = 4;
};

// Base of kernels that draw numbers from the generator of their operation.
class RandomKernel : public Kernel {
 public:
  void prepare(KernelContext& c) final {
    generator_ = static_cast<Generator*>(stateful_resource(c.resources(), c.op()));
  }

 protected:
  Generator* generator_ = nullptr;
};

template <typename T, typename Distribution>
class FillRandomKernel : public RandomKernel {
 public:
  void compute(KernelContext& c) override {
    T* y = c.output(0).template data<T>();
    const int64_t n = c.output(0).num_elements();
    uint64_t position = generator_->reserve(n);
    uint32_t words[4 * Philox::kLanes];
    T last_numbers[4 * Philox::kLanes];
    for (int64_t i = 0; i < n; position += Philox::kLanes) {
      generator_->philox().blocks(position, words);
      constexpr int kNumbersPerBlock = std::is_same_v<T, float> ? 4 : 2;
      constexpr int64_t kNumbersPerCall = kNumbersPerBlock * Philox::kLanes;
      const bool fits = i + kNumbersPerCall <= n;
      T* to = fits ? y + i : last_numbers;
      for (int lane = 0; lane < Philox::kLanes; ++lane) {
        Distribution::draw(words + 4 * lane, to + kNumbersPerBlock * lane);
      }
      if (!fits) std::copy(last_numbers, last_numbers + (n - i), y + i);
      i += kNumbersPerCall;
    }
  }
};
template <typename T>
using UniformKernel = FillRandomKernel<T, UniformDistribution>;
template <typename T>
using NormalKernel = FillRandomKernel<T, NormalDistribution>;

// Rejection sampling needs an unknown number of words. Therefore each group of four float32 numbers
// (two float64 numbers) uses a separate range of blocks.
template <typename T>
class TruncatedNormalKernel : public RandomKernel {
 public:
  void compute(KernelContext& c) override {
    T* y = c.output(0).template data<T>();
    const int64_t n = c.output(0).num_elements();
    const uint64_t start = generator_->reserve(n);
    const int64_t group = std::is_same_v<T, float> ? 4 : 2;
    for (int64_t i = 0, g = 0; i < n; i += group, ++g) {
      fill_group(start + static_cast<uint64_t>(g * group * 256 / 4), std::min(group, n - i), y + i);
    }
  }

 private:
  void fill_group(uint64_t position, int64_t n, T* y) const {
    constexpr int kWordsPerPair = std::is_same_v<T, float> ? 2 : 4;
    PhiloxWords words(generator_->philox(), position);
    uint32_t pair_words[kWordsPerPair];
    T pair[2];
    for (int64_t i = 0; i < n;) {
      for (uint32_t& word : pair_words) word = words.next();
      box_muller(pair_words, pair);
      for (int k = 0; k < 2 && i < n; ++k) {
        if (std::fabs(pair[k]) < T(2)) y[i++] = pair[k];
      }
    }
  }
};

template <typename T>
class UniformIntKernel : public RandomKernel {
 public:
  void compute(KernelContext& c) override {
    using U = std::make_unsigned_t<T>;
    const T low = *c.input(1).data<T>(), high = *c.input(2).data<T>();
    if (low >= high) {
      invalid_argument("Need minval < maxval, got ", low, " >= ", high, ".");
    }
    const U range = static_cast<U>(high) - static_cast<U>(low);
    T* y = c.output(0).template data<T>();
    const int64_t n = c.output(0).num_elements();
    PhiloxWords words(generator_->philox(), generator_->reserve(n));
    for (int64_t i = 0; i < n; ++i) {
      U x = words.next();
      if constexpr (sizeof(T) == 8) x |= static_cast<U>(words.next()) << 32;
      y[i] = static_cast<T>(static_cast<U>(low) + x % range);
    }
  }
};

// Shuffles rows by the algorithm of Fisher and Yates.
class ShuffleKernel : public RandomKernel {
 public:
  void compute(KernelContext& c) override {
    const Tensor& x = c.input(0);
    element_copier_.begin(c.output(0), x);
    const int64_t n = x.shape().rank() > 0 ? x.shape().dim(0) : 1;
    order_.resize(static_cast<size_t>(n));
    for (int64_t i = 0; i < n; ++i) order_[static_cast<size_t>(i)] = i;
    if (n > 1) {
      PhiloxWords words(generator_->philox(), generator_->reserve_blocks((n - 1 + 3) / 4));
      for (int64_t i = 0; i + 1 < n; ++i) {
        const auto k = static_cast<size_t>(i + words.next() % static_cast<uint32_t>(n - i));
        std::swap(order_[static_cast<size_t>(i)], order_[k]);
      }
    }
    const int64_t width = n > 0 ? x.num_elements() / n : 0;
    for (int64_t i = 0; i < n; ++i) {
      element_copier_.copy(x, order_[static_cast<size_t>(i)] * width, i * width, width);
    }
  }

 private:
  std::vector<int64_t> order_;
  ElementCopier element_copier_;
};

// For each row of logits, draws classes with the probabilities softmax(logits).
template <typename T>
class MultinomialKernel : public RandomKernel {
 public:
  void compute(KernelContext& c) override {
    const Tensor& logits = c.input(0);
    const int64_t rows = logits.shape().dim(0), classes = logits.shape().dim(1);
    const int64_t n = c.output(0).shape().dim(1);
    if (classes < 1 && n > 0) invalid_argument("num_classes should be positive, got ", classes);
    const uint64_t start = generator_->reserve(rows * ((n + 3) / 4 * 4) * 2);
    PhiloxWords words(generator_->philox(), start);
    cumulative_weights_.resize(static_cast<size_t>(classes));
    for (int64_t row = 0; row < rows; ++row) {
      const double total = accumulate_weights(logits.data<T>() + row * classes);
      for (int64_t i = 0; i < n; ++i) {
        const auto first_above = std::upper_bound(
            cumulative_weights_.begin(), cumulative_weights_.end(), words.uniform() * total);
        const int64_t drawn_class = first_above - cumulative_weights_.begin();
        if (c.output(0).dtype() == DType::kInt64) {
          c.output(0).template data<int64_t>()[row * n + i] = drawn_class;
        } else {
          c.output(0).template data<int32_t>()[row * n + i] = static_cast<int32_t>(drawn_class);
        }
      }
    }
  }

 private:
  double accumulate_weights(const T* logits) {
    T max_logit = std::numeric_limits<T>::lowest();
    for (size_t k = 0; k < cumulative_weights_.size(); ++k) {
      if (std::isfinite(logits[k])) max_logit = std::max(max_logit, logits[k]);
    }
    double total = 0;
    for (size_t k = 0; k < cumulative_weights_.size(); ++k) {
      if (std::isfinite(logits[k])) {
        total += std::exp(static_cast<double>(logits[k]) - static_cast<double>(max_logit));
      }
      cumulative_weights_[k] = total;
    }
    return total;
  }
  std::vector<double> cumulative_weights_;  // of the classes of a row
};

void multinomial_shape(ShapeContext& c) {
  const Tensor* n = c.value(1);
  c.set_output(0, Shape{c.with_rank(0, 2).dim(0), n ? n->integers()[0] : -1});
}

void shape_from_input(ShapeContext& c) {
  const Tensor* shape = c.value(0);
  if (shape) {
    c.set_output(0, Shape(shape->integers()));
    return;
  }
  const Shape& dims = c.input(0);
  const bool has_rank = dims.has_rank() && dims.rank() == 1 && dims.dim(0) >= 0;
  c.set_output(0,
               has_rank ? Shape::unknown_of_rank(static_cast<int>(dims.dim(0))) : Shape::unknown());
}

}  // namespace

#define RUNHOOKS_RANDOM_OP(type)       \
  RUNHOOKS_REGISTER_OP(type)           \
      .input("shape: T, vector, >= 0") \
      .output("output: dtype")         \
      .attr("seed: int = 0")           \
      .attr("seed2: int = 0")          \
      .attr("dtype: {float, double}")  \
      .attr("T: {int32, int64}")       \
      .shape(shape_from_input)         \
      .stateful()                      \
      .owns_resource(Generator::make)  \
      .not_differentiable()            \
      .endpoint("raw_ops." type)

RUNHOOKS_RANDOM_OP("RandomUniform")
    .kernel(kernel_by_type<UniformKernel, float, double>("dtype"))
    .summary("Uniform random numbers in [0, 1).");
RUNHOOKS_RANDOM_OP("RandomStandardNormal")
    .kernel(kernel_by_type<NormalKernel, float, double>("dtype"))
    .summary("Standard normal random numbers.");
RUNHOOKS_RANDOM_OP("TruncatedNormal")
    .kernel(kernel_by_type<TruncatedNormalKernel, float, double>("dtype"))
    .summary("Standard normal random numbers, truncated at 2 standard deviations.");

RUNHOOKS_REGISTER_OP("RandomUniformInt")
    .input("shape: T, vector, >= 0")
    .input("minval: Tout, scalar")
    .input("maxval: Tout, scalar")
    .output("output: Tout")
    .attr("seed: int = 0")
    .attr("seed2: int = 0")
    .attr("Tout: {int32, int64}")
    .attr("T: {int32, int64}")
    .shape(shape_from_input)
    .kernel(kernel_by_type<UniformIntKernel, int32_t, int64_t>("Tout"))
    .stateful()
    .owns_resource(Generator::make)
    .not_differentiable()
    .endpoint("raw_ops.RandomUniformInt")
    .summary("Uniform random integers from minval to maxval - 1.");

RUNHOOKS_REGISTER_OP("RandomShuffle")
    .input("value: T")
    .output("output: T")
    .attr("seed: int = 0")
    .attr("seed2: int = 0")
    .attr("T: type")
    .shape(unchanged_shape)
    .kernel(kernel_of<ShuffleKernel>())
    .stateful()
    .owns_resource(Generator::make)
    .not_differentiable()
    .endpoint("raw_ops.RandomShuffle")
    .summary("The rows of a tensor in a random order.");

RUNHOOKS_REGISTER_OP("Multinomial")
    .input("logits: T, rank 2")
    .input("num_samples: int32, scalar, >= 0")
    .output("output: output_dtype")
    .attr("seed: int = 0")
    .attr("seed2: int = 0")
    .attr("T: {float, double}")
    .attr("output_dtype: {int32, int64} = DT_INT64")
    .shape(multinomial_shape)
    .kernel(kernel_by_type<MultinomialKernel, float, double>())
    .stateful()
    .owns_resource(Generator::make)
    .not_differentiable()
    .endpoint("raw_ops.Multinomial")
    .summary("Classes drawn according to logits, num_samples per row.");

}  // namespace runhooks
