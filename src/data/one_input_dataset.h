// Base classes of datasets that transform one input dataset.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/interrupt.h"
#include "data/dataset.h"

namespace runhooks {

inline std::shared_ptr<const Dataset> dataset_argument(const Args& args,
                                                       const std::string& name = "dataset") {
  return args.object<const Dataset>(name, "a dataset");
}

inline std::vector<std::shared_ptr<const Dataset>> datasets_argument(const Args& args,
                                                                     const std::string& name) {
  std::vector<std::shared_ptr<const Dataset>> result;
  for (const Value& value : args.list(name)) {
    const auto* object = value.get_if<std::shared_ptr<CoreObject>>();
    result.push_back(object ? std::dynamic_pointer_cast<const Dataset>(*object) : nullptr);
    if (!result.back()) invalid_argument("`", name, "` of ", args.owner(), " must be datasets.");
  }
  if (result.empty()) invalid_argument("`", name, "` of ", args.owner(), " must not be empty.");
  return result;
}

// A dataset that transforms the elements of one input. By default, its elements have the types and
// shapes of the input's.
class Transformation : public Dataset {
 public:
  explicit Transformation(std::shared_ptr<const Dataset> input) : input_(std::move(input)) {}
  std::vector<DType> dtypes() const override { return input_->dtypes(); }
  std::vector<Shape> shapes() const override { return input_->shapes(); }
  bool runs_on_main_thread() const override { return input_->runs_on_main_thread(); }
  bool is_endless() const override { return input_->is_endless(); }
  std::shared_ptr<const Dataset> inner(size_t k) const override { return input_->inner(k); }
  const Dataset& input() const { return *input_; }
  bool reads_files() const override { return input_->reads_files(); }
  std::shared_ptr<const Dataset> shard_by_file(int64_t readers, int64_t reader) const override;

 protected:
  // Returns the same transformation of another input.
  std::shared_ptr<const Dataset> with_input(const std::shared_ptr<const Dataset>& input) const;

 private:
  // True if transforming the shards of the input separately gives the same elements, in any order.
  // False for transformations that count all elements, such as `take`.
  virtual bool commutes_with_sharding() const { return false; }

  std::shared_ptr<const Dataset> input_;
};

// Returns the number of batches of `n` elements, or `n` if it is negative (unknown or infinite).
inline int64_t batched_cardinality(int64_t n, int64_t batch_size, bool drop_remainder) {
  if (n < 0) return n;
  return n / batch_size + (n % batch_size > 0 && !drop_remainder ? 1 : 0);
}

// An iterator of dataset D, a Transformation. Its saved state consists of save_own() and, with the
// prefix "input/", the state of its input.
template <typename D>
class TransformationIterator : public DatasetIterator {
 public:
  TransformationIterator(std::shared_ptr<const D> dataset, IteratorContext& context)
      : dataset_(std::move(dataset)), input_(dataset_->input().iterator(context)) {}
  void rewind() override {
    input_->rewind();
    rewind_own();
  }
  NamedTensors save() const override {
    NamedTensors state = save_own();
    add_subtree(state, "input/", input_->save());
    return state;
  }
  void restore(const NamedTensors& state) override {
    restore_own(state);
    input_->restore(subtree(state, "input/"));
    check_restored();
  }
  int64_t rows_seen() const override { return input_->rows_seen(); }
  int64_t epoch() const override { return input_->epoch(); }
  const PackedRowCache* row_cache() const override { return input_->row_cache(); }

 protected:
  virtual void rewind_own() {}
  virtual NamedTensors save_own() const { return {}; }
  virtual void restore_own(const NamedTensors& /*state*/) {}
  // Called after the input is restored. Throws if the state of this iterator contradicts the
  // position of its input.
  virtual void check_restored() const {}
  // Reads until an element satisfies `passes`, and emits it. Ctrl-C can interrupt the search.
  template <typename Passes>
  bool next_where(ElementSink& sink, const Passes& passes) {
    ComponentsSink element;
    InterruptPoll poll;
    while (input_->next(element)) {
      poll();
      Components components = element.take();
      if (!passes(components)) continue;
      sink.emit(std::move(components));
      return true;
    }
    return false;
  }

  std::shared_ptr<const D> dataset_;
  std::unique_ptr<DatasetIterator> input_;
};

// Returns the shape of `size` stacked elements of shape `element`. The size may be unknown.
inline Shape batched_shape(const Shape& element, std::optional<int64_t> size) {
  if (!element.has_rank()) return element;
  Shape batch = {size.value_or(Shape::kUnknownDim)};
  for (int d = 0; d < element.rank(); ++d) batch.append(element.dim(d));
  return batch;
}
inline std::vector<Shape> batched_shapes(const std::vector<Shape>& elements,
                                         std::optional<int64_t> size) {
  std::vector<Shape> batches;
  for (const Shape& element : elements) batches.push_back(batched_shape(element, size));
  return batches;
}

// Returns the shape of an element of a batch: `batch` without its first dimension.
inline Shape element_shape(const Shape& batch) {
  Shape element;
  for (int d = 1; d < batch.rank(); ++d) element.append(batch.dim(d));
  return element;
}

// Upper limit of counters in a saved state, so that increments and sums of them cannot overflow.
constexpr int64_t kMaxCount = int64_t{1} << 53;

inline void check_state_count(int64_t count,
                              const std::string& name,
                              int64_t max_count = kMaxCount) {
  if (count >= 0 && count <= max_count) return;
  fail(Code::kDataLoss, "'", name, "' cannot be ", count,
       max_count < kMaxCount && count > 0 ? str_cat(", which is above ", max_count) : "", ".");
}

// Reads a counter of a state, which must not exceed `max_count`.
inline int64_t state_count(const NamedTensors& state,
                           const std::string& name,
                           int64_t max_count = kMaxCount) {
  const int64_t count = state_integer(state, name);
  check_state_count(count, name, max_count);
  return count;
}

inline std::vector<int64_t> state_integers(const NamedTensors& state, const std::string& name) {
  const auto found = state.find(name);
  const bool is_valid = found != state.end() && found->second.dtype() == DType::kInt64;
  if (!is_valid) fail(Code::kDataLoss, "The state has no integers '", name, "'.");
  return found->second.integers();
}

// Reads a vector of counters from a saved state. Throws if one of them is invalid.
inline std::vector<int64_t> state_counts(const NamedTensors& state, const std::string& name) {
  std::vector<int64_t> counts = state_integers(state, name);
  for (const int64_t count : counts) check_state_count(count, name);
  return counts;
}

}  // namespace runhooks
