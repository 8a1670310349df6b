#include "data/dataset.h"

#include "base/fingerprint.h"
#include "base/interrupt.h"
#include "base/parallel_for.h"
#include "base/random.h"
#include "data/elements.h"
#include "data/one_input_dataset.h"

namespace runhooks {

void ElementSink::copy(int i, const Tensor& value) {
  Tensor& to = allocate(i, value.dtype(), value.shape());
  if (value.dtype() == DType::kString) to.set_dictionary(value.dictionary());
  const auto* from = static_cast<const char*>(value.raw());
  auto* out = static_cast<char*>(to.raw());
  const auto bytes = static_cast<int64_t>(value.num_bytes());
  parallel_for_range((bytes + 7) / 8, [=](int64_t first, int64_t n) {
    const int64_t end = std::min(8 * (first + n), bytes);
    if (end > 8 * first) {
      std::memcpy(out + 8 * first, from + 8 * first, static_cast<size_t>(end - 8 * first));
    }
  });
}

void ElementSink::emit(Components components) {
  for (size_t i = 0; i < components.size(); ++i) {
    put(static_cast<int>(i), std::move(components[i]));
  }
}

void ComponentsSink::put(int i, Tensor value) {
  const auto index = static_cast<size_t>(i);
  if (components_.size() <= index) components_.resize(index + 1);
  components_[index] = std::move(value);
}

Tensor& ComponentsSink::allocate(int i, DType dtype, const Shape& shape) {
  put(i, Tensor(dtype, shape));
  return components_[static_cast<size_t>(i)];
}

// --- several elements at once

int64_t DatasetIterator::next_rows(int64_t, int64_t*) {
  fail(Code::kInternal, "next_rows() requires a dataset with a row table.");
}

int64_t DatasetIterator::next_stacked(int64_t n, bool only_whole, ElementSink& sink) {
  std::vector<Components> elements;
  ComponentsSink element;
  InterruptPoll poll;
  while (static_cast<int64_t>(elements.size()) < n && next(element)) {
    poll();
    elements.push_back(element.take());
  }
  const auto num_read = static_cast<int64_t>(elements.size());
  if (num_read > 0 && (num_read == n || !only_whole)) put_stacked(elements, sink);
  return num_read;
}

int64_t DatasetIterator::next_block(int64_t, ElementSink& sink) {
  ComponentsSink element;
  if (!next(element)) return 0;
  Components components = element.take();
  for (Tensor& component : components) {
    component = component.reshaped(batched_shape(component.shape(), 1));
  }
  sink.emit(std::move(components));
  return 1;
}

// --- seeds

namespace {

constexpr uint64_t kDefaultGraphSeed = 87654321;  // TensorFlow's default

// Increments and returns the counter. The arithmetic is unsigned, because a restored counter may
// have any value and may overflow.
uint64_t next_seed(int64_t* counter) {
  const uint64_t next = static_cast<uint64_t>(*counter) + 1;
  *counter = static_cast<int64_t>(next);
  return next;
}

}  // namespace

IteratorContext::IteratorContext(const Graph& graph)
    : has_graph_seed_(graph.has_seed()), graph_seed_(static_cast<uint64_t>(graph.seed())) {}

Seeds IteratorContext::seeds(std::optional<int64_t> dataset_seed) {
  Seeds seeds;
  if (dataset_seed) {
    seeds = {has_graph_seed_ ? graph_seed_ : kDefaultGraphSeed,
             static_cast<uint64_t>(*dataset_seed)};
  } else {
    if (!has_graph_seed_ && !has_root_) {
      root_ = fresh_seed();
      has_root_ = true;
    }
    seeds = {has_graph_seed_ ? graph_seed_ : root_, next_seed(&num_issued_)};
  }
  if (seeds.seed == 0 && seeds.seed2 == 0) seeds.seed2 = 2147483647;
  return seeds;
}

IteratorContext IteratorContext::fork() {
  const Seeds child_seeds = seeds(std::nullopt);
  IteratorContext child;
  child.has_graph_seed_ = has_graph_seed_;
  child.graph_seed_ = graph_seed_;
  child.has_root_ = true;
  child.root_ = child_seeds.seed;
  // Each context issues consecutive seeds, so children start far apart. Seeds of nested children
  // may not fit into 31 bits, so those are hashed instead of shifted.
  const bool fits = child_seeds.seed2 < uint64_t{1} << 31;
  const uint64_t begin =
      fits ? child_seeds.seed2 << 32 : fingerprint64(static_cast<int64_t>(child_seeds.seed2)) >> 1;
  child.num_issued_ = static_cast<int64_t>(begin);
  return child;
}

NamedTensors IteratorContext::save() const {
  return {{"root", Tensor::scalar(static_cast<int64_t>(has_graph_seed_ ? graph_seed_ : root_))},
          {"used", Tensor::scalar(num_issued_)}};
}

void IteratorContext::restore(const NamedTensors& state) {
  const auto root = static_cast<uint64_t>(state_integer(state, "root"));
  num_issued_ = state_integer(state, "used");
  (has_graph_seed_ ? graph_seed_ : root_) = root;
  has_root_ = true;
}

std::shared_ptr<const Dataset> Dataset::inner(size_t k) const {
  fail(Code::kInternal, "Component ", static_cast<unsigned long>(k), " of ", description(),
       " is not a dataset.");
}

}  // namespace runhooks
