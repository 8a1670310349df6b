// Datasets with several inputs: zip, concatenate, sample and choose.
#include <algorithm>
#include <cmath>

#include "base/interrupt.h"
#include "data/element_or_error.h"
#include "data/random_stream.h"
#include "tensor/generalize_shapes.h"

namespace runhooks {

namespace {

using Inputs = std::vector<std::shared_ptr<const Dataset>>;

bool any_on_main_thread(const Inputs& inputs) {
  return std::any_of(inputs.begin(), inputs.end(),
                     [](const auto& input) { return input->runs_on_main_thread(); });
}

class ZipDataset : public Dataset {
 public:
  explicit ZipDataset(const Args& args) : inputs_(datasets_argument(args, "datasets")) {}
  std::vector<DType> dtypes() const override {
    std::vector<DType> result;
    for (const auto& input : inputs_) {
      for (const DType dtype : input->dtypes()) result.push_back(dtype);
    }
    return result;
  }
  std::vector<Shape> shapes() const override {
    std::vector<Shape> result;
    for (const auto& input : inputs_) {
      for (const Shape& shape : input->shapes()) result.push_back(shape);
    }
    return result;
  }
  std::shared_ptr<const Dataset> inner(size_t k) const override {
    for (const auto& input : inputs_) {
      const size_t num_components = input->dtypes().size();
      if (k < num_components) return input->inner(k);
      k -= num_components;
    }
    return Dataset::inner(k);
  }
  bool runs_on_main_thread() const override { return any_on_main_thread(inputs_); }
  bool is_endless() const override {
    return std::all_of(inputs_.begin(), inputs_.end(),
                       [](const auto& input) { return input->is_endless(); });
  }
  int64_t cardinality() const override {
    int64_t min_cardinality = kInfiniteCardinality;
    for (const auto& input : inputs_) {
      const int64_t n = input->cardinality();
      if (n == kUnknownCardinality) return n;
      if (n >= 0 && (min_cardinality < 0 || n < min_cardinality)) min_cardinality = n;
    }
    return min_cardinality;
  }
  std::unique_ptr<DatasetIterator> iterator(IteratorContext& context) const override;
  const Inputs& inputs() const { return inputs_; }

 private:
  Inputs inputs_;
};

// The iterators of all inputs. Names of their saved states begin with "input_0/", "input_1/", ...
class InputIterators {
 public:
  InputIterators(const Inputs& inputs, IteratorContext& context) {
    for (const auto& input : inputs) iterators_.push_back(input->iterator(context));
  }
  size_t size() const { return iterators_.size(); }
  DatasetIterator& operator[](size_t i) const { return *iterators_[i]; }
  void rewind() {
    for (const auto& iterator : iterators_) iterator->rewind();
  }
  void save(NamedTensors& state) const {
    for (size_t i = 0; i < size(); ++i) add_subtree(state, path(i), iterators_[i]->save());
  }
  void restore(const NamedTensors& state) {
    for (size_t i = 0; i < size(); ++i) iterators_[i]->restore(subtree(state, path(i)));
  }
  int64_t rows_seen() const {
    int64_t total = 0;
    for (const auto& iterator : iterators_) total += iterator->rows_seen();
    return total;
  }

 private:
  static std::string path(size_t i) {
    return str_cat("input_", static_cast<unsigned long>(i), "/");
  }
  std::vector<std::unique_ptr<DatasetIterator>> iterators_;
};

class ZipIterator : public DatasetIterator {
 public:
  ZipIterator(std::shared_ptr<const ZipDataset> dataset, IteratorContext& context)
      : dataset_(std::move(dataset)), inputs_(dataset_->inputs(), context) {}
  // Reads all inputs even if one fails, so that later elements stay aligned. Then raises the first
  // error.
  bool next(ElementSink& sink) override {
    Components components;
    std::exception_ptr error;
    for (size_t i = 0; i < inputs_.size() && !at_end_; ++i) {
      ElementOrError element;
      if (!next_or_error(inputs_[i], element)) {
        at_end_ = true;
      } else if (!error) {
        error = element.error;
      }
      for (Tensor& component : element.components) components.push_back(std::move(component));
    }
    if (error) std::rethrow_exception(error);
    if (!at_end_) sink.emit(std::move(components));
    return !at_end_;
  }
  void rewind() override {
    inputs_.rewind();
    at_end_ = false;
  }
  NamedTensors save() const override {
    NamedTensors state = {{"is_over", Tensor::scalar(at_end_)}};
    inputs_.save(state);
    return state;
  }
  void restore(const NamedTensors& state) override {
    // States of earlier versions lack this entry. After restoring one of them, next() finds the end
    // of an input again.
    const bool at_end = state.count("is_over") && state_flag(state, "is_over");
    inputs_.restore(state);
    at_end_ = at_end;
  }
  int64_t rows_seen() const override { return inputs_[0].rows_seen(); }
  int64_t epoch() const override { return inputs_[0].epoch(); }

 private:
  std::shared_ptr<const ZipDataset> dataset_;
  InputIterators inputs_;
  bool at_end_ = false;  // true if any input has reached its end
};

std::unique_ptr<DatasetIterator> ZipDataset::iterator(IteratorContext& context) const {
  return std::make_unique<ZipIterator>(self(this), context);
}

// The R function flattens nested lists of datasets before it calls this class.
RUNHOOKS_REGISTER_DATASET(ZipDataset,
                          "",
                          {"datasets: any. Datasets to combine."},
                          "Combine the elements of several datasets.");

std::vector<Shape> common_shapes(const Inputs& inputs) {
  std::vector<Shape> result = inputs[0]->shapes();
  for (const auto& input : inputs) {
    const std::vector<Shape> shapes = input->shapes();
    for (size_t i = 0; i < result.size(); ++i) result[i] = generalize_shapes(result[i], shapes[i]);
  }
  return result;
}

void check_same_types(const Inputs& inputs, const Args& args) {
  for (const auto& input : inputs) {
    if (input->dtypes() == inputs[0]->dtypes()) continue;
    std::vector<std::string> one, other;
    for (const DType dtype : inputs[0]->dtypes()) one.push_back(dtype_name(dtype));
    for (const DType dtype : input->dtypes()) other.push_back(dtype_name(dtype));
    invalid_argument("The datasets of ", args.owner(),
                     " must have elements of the same types; got ", str_join(one, ", "), " and ",
                     str_join(other, ", "), ".");
  }
}

// Base class of datasets whose inputs all have elements of the same types.
class SameTypeInputsDataset : public Dataset {
 public:
  SameTypeInputsDataset(Inputs inputs, const Args& args) : inputs_(std::move(inputs)) {
    check_same_types(inputs_, args);
  }
  std::vector<DType> dtypes() const override { return inputs_[0]->dtypes(); }
  std::vector<Shape> shapes() const override { return common_shapes(inputs_); }
  std::shared_ptr<const Dataset> inner(size_t k) const override { return inputs_[0]->inner(k); }
  bool runs_on_main_thread() const override { return any_on_main_thread(inputs_); }
  bool is_endless() const override {
    return std::any_of(inputs_.begin(), inputs_.end(),
                       [](const auto& input) { return input->is_endless(); });
  }
  const Inputs& inputs() const { return inputs_; }

 private:
  Inputs inputs_;
};

class ConcatenateDataset : public SameTypeInputsDataset {
 public:
  explicit ConcatenateDataset(const Args& args)
      : SameTypeInputsDataset({dataset_argument(args), dataset_argument(args, "other")}, args) {}
  int64_t cardinality() const override {
    const int64_t first = inputs()[0]->cardinality(), second = inputs()[1]->cardinality();
    const bool is_infinite = first == kInfiniteCardinality || second == kInfiniteCardinality;
    if (is_infinite) return kInfiniteCardinality;
    return first < 0 || second < 0 ? kUnknownCardinality : first + second;
  }
  std::unique_ptr<DatasetIterator> iterator(IteratorContext& context) const override;
};

class ConcatenateIterator : public DatasetIterator {
 public:
  ConcatenateIterator(std::shared_ptr<const ConcatenateDataset> dataset, IteratorContext& context)
      : dataset_(std::move(dataset)), inputs_(dataset_->inputs(), context) {}
  bool next(ElementSink& sink) override {
    while (current_ < static_cast<int64_t>(inputs_.size())) {
      if (inputs_[static_cast<size_t>(current_)].next(sink)) return true;
      ++current_;
      begin_current();
    }
    return false;
  }
  void rewind() override {
    current_ = 0;
    begin_current();
  }
  NamedTensors save() const override {
    NamedTensors state = {{"current", Tensor::scalar(current_)},
                          {"begun", Tensor::scalar(num_begun_)}};
    inputs_.save(state);
    return state;
  }
  void restore(const NamedTensors& state) override {
    const auto num_inputs = static_cast<int64_t>(inputs_.size());
    const int64_t current = state_count(state, "current", num_inputs),
                  num_begun = state_count(state, "begun", num_inputs);
    if (num_begun < std::min(current + 1, num_inputs)) {
      fail(Code::kDataLoss, "Invalid saved state: dataset ", current, " is current, but only ",
           num_begun, " have begun.");
    }
    inputs_.restore(state);
    current_ = current;
    num_begun_ = num_begun;
  }
  int64_t rows_seen() const override { return inputs_.rows_seen(); }

 private:
  std::shared_ptr<const ConcatenateDataset> dataset_;
  // Rewinds the current input if a previous pass has read it. Inputs are not rewound earlier,
  // because rewinding draws seeds.
  void begin_current() {
    if (current_ < num_begun_) inputs_[static_cast<size_t>(current_)].rewind();
    num_begun_ = std::max(num_begun_, std::min(current_ + 1, static_cast<int64_t>(inputs_.size())));
  }

  InputIterators inputs_;
  int64_t current_ = 0;
  int64_t num_begun_ = 1;  // number of inputs that were read so far, in any pass
};

std::unique_ptr<DatasetIterator> ConcatenateDataset::iterator(IteratorContext& context) const {
  return std::make_unique<ConcatenateIterator>(self(this), context);
}

RUNHOOKS_REGISTER_DATASET(ConcatenateDataset,
                          "dataset_concatenate",
                          {"dataset: dataset.",
                           "other: dataset. A dataset with elements of the same types."},
                          "Concatenate two datasets.");

// Takes each element from one of several inputs, which the derived class selects. Remembers which
// inputs are exhausted.
class SelectingIterator : public DatasetIterator {
 public:
  // `inputs` may have more members after the `num_selectable` ones.
  SelectingIterator(const Inputs& inputs, size_t num_selectable, IteratorContext& context)
      : inputs_(inputs, context), at_end_(num_selectable, 0) {}
  void rewind() override {
    inputs_.rewind();
    at_end_.assign(at_end_.size(), 0);
  }
  NamedTensors save() const override {
    NamedTensors state = {{"is_over", Tensor::vector(at_end_)}};
    inputs_.save(state);
    return state;
  }
  void restore(const NamedTensors& state) override {
    const std::vector<int64_t> at_end = state_counts(state, "is_over");
    if (at_end.size() != at_end_.size()) {
      fail(Code::kDataLoss, "The saved state has ", static_cast<int64_t>(at_end.size()),
           " datasets, not ", static_cast<int64_t>(at_end_.size()), ".");
    }
    inputs_.restore(state);
    at_end_ = at_end;
  }
  int64_t rows_seen() const override { return inputs_.rows_seen(); }

 protected:
  size_t num_selectable() const { return at_end_.size(); }
  bool is_at_end(size_t i) const { return at_end_[i] != 0; }
  // Returns false if input i is exhausted.
  bool next_of(size_t i, ElementSink& sink) {
    if (!at_end_[i] && inputs_[i].next(sink)) return true;
    at_end_[i] = 1;
    return false;
  }
  InputIterators inputs_;

 private:
  std::vector<int64_t> at_end_;
};

// Draws each element from a random input.
class SampleFromDatasets : public SameTypeInputsDataset {
 public:
  explicit SampleFromDatasets(const Args& args)
      : SameTypeInputsDataset(datasets_argument(args, "datasets"), args) {
    std::vector<double> weights(inputs().size(), 1);
    if (args.has("weights")) weights = args.numbers("weights");
    if (weights.size() != inputs().size()) {
      invalid_argument("`weights` of ", args.owner(), " must have a number for each dataset.");
    }
    double sum = 0;
    for (const double weight : weights) {
      if (!(weight >= 0) || !std::isfinite(weight)) {
        invalid_argument("`weights` of ", args.owner(), " must be finite and 0 or more, not ",
                         weight, ".");
      }
      cumulative_weights_.push_back(sum += weight);
    }
    if (!(sum > 0)) invalid_argument("`weights` of ", args.owner(), " must not all be 0.");
    if (!std::isfinite(sum)) {
      invalid_argument("The sum of `weights` of ", args.owner(), " must be finite.");
    }
    if (args.has("seed")) seed_ = args.integer("seed");
  }
  std::unique_ptr<DatasetIterator> iterator(IteratorContext& context) const override;
  const std::vector<double>& cumulative_weights() const { return cumulative_weights_; }
  const std::optional<int64_t>& seed() const { return seed_; }

 private:
  std::vector<double> cumulative_weights_;
  std::optional<int64_t> seed_;
};

class SampleIterator : public SelectingIterator {
 public:
  SampleIterator(std::shared_ptr<const SampleFromDatasets> dataset, IteratorContext& context)
      : SelectingIterator(dataset->inputs(), dataset->inputs().size(), context),
        dataset_(std::move(dataset)),
        seeds_(context.seeds(dataset_->seed())),
        random_(seeds_) {}
  // Draws again if the drawn input is exhausted.
  bool next(ElementSink& sink) override {
    InterruptPoll poll;
    while (has_drawable_input()) {
      poll();
      if (next_of(draw(), sink)) return true;
    }
    return false;
  }
  // With a seed, each pass has the same order, as in TensorFlow.
  void rewind() override {
    SelectingIterator::rewind();
    if (dataset_->seed()) random_ = RandomStream(seeds_);
  }
  NamedTensors save() const override {
    NamedTensors state = SelectingIterator::save();
    add_subtree(state, "random/", random_.save());
    return state;
  }
  void restore(const NamedTensors& state) override {
    const RandomStream random = RandomStream::restored(subtree(state, "random/"));
    SelectingIterator::restore(state);
    random_ = random;
    seeds_ = random.seeds();
  }

 private:
  // True if an input with a positive weight is not exhausted.
  bool has_drawable_input() const {
    double previous = 0;
    for (size_t i = 0; i < num_selectable(); ++i) {
      if (!is_at_end(i) && dataset_->cumulative_weights()[i] > previous) return true;
      previous = dataset_->cumulative_weights()[i];
    }
    return false;
  }
  size_t draw() {
    const std::vector<double>& cumulative_weights = dataset_->cumulative_weights();
    const double drawn_weight = uniform() * cumulative_weights.back();
    return static_cast<size_t>(
        std::upper_bound(cumulative_weights.begin(), cumulative_weights.end(), drawn_weight) -
        cumulative_weights.begin());
  }

  // A uniform number in [0, 1), computed like TensorFlow's stateless ops: two numbers of the stream
  // seed a generator, whose output seeds a second one. The result is the first number of that one.
  double uniform() {
    const uint64_t seed = random_.next(), seed2 = random_.next();
    uint32_t words[4];
    Philox(uint64_t{0x02461e293ec8f720}, seed2).block(seed, words);
    const uint64_t key = words[0] | static_cast<uint64_t>(words[1]) << 32,
                   stream = words[2] | static_cast<uint64_t>(words[3]) << 32;
    Philox(key, stream).block(0, words);
    const uint64_t bits = static_cast<uint64_t>(words[0] & 0xfffff) << 32 | words[1];
    return static_cast<double>(bits) / static_cast<double>(uint64_t{1} << 52);
  }

  std::shared_ptr<const SampleFromDatasets> dataset_;
  Seeds seeds_;
  RandomStream random_;
};

std::unique_ptr<DatasetIterator> SampleFromDatasets::iterator(IteratorContext& context) const {
  return std::make_unique<SampleIterator>(self(this), context);
}

RUNHOOKS_REGISTER_DATASET(SampleFromDatasets,
                          "",
                          {"datasets: any. Datasets to sample from.",
                           "weights = NULL: any. Sampling weights.",
                           "seed = NULL: number. Fixes the order."},
                          "Sample elements from several datasets.");

// Reads from the dataset whose number the next element of `choice_dataset` is.
class ChooseFromDatasets : public SameTypeInputsDataset {
 public:
  explicit ChooseFromDatasets(const Args& args)
      : SameTypeInputsDataset(datasets_argument(args, "datasets"), args),
        choices_(dataset_argument(args, "choice_dataset")) {
    if (choices_->dtypes() != std::vector<DType>{DType::kInt64} ||
        !choices_->shapes()[0].is_compatible_with(Shape())) {
      invalid_argument("`choice_dataset` of ", args.owner(), " must have single int64 numbers.");
    }
  }
  std::unique_ptr<DatasetIterator> iterator(IteratorContext& context) const override;
  bool runs_on_main_thread() const override {
    return SameTypeInputsDataset::runs_on_main_thread() || choices_->runs_on_main_thread();
  }
  bool is_endless() const override { return false; }
  // The inputs, and last the dataset of choices.
  Inputs inputs_and_choices() const {
    Inputs result = inputs();
    result.push_back(choices_);
    return result;
  }

 private:
  std::shared_ptr<const Dataset> choices_;
};

class ChooseIterator : public SelectingIterator {
 public:
  ChooseIterator(std::shared_ptr<const ChooseFromDatasets> dataset, IteratorContext& context)
      : SelectingIterator(dataset->inputs_and_choices(), dataset->inputs().size(), context) {}
  // Like TensorFlow, skips the numbers of exhausted datasets.
  bool next(ElementSink& sink) override {
    InterruptPoll poll;
    while (has_unfinished_input()) {
      poll();
      ComponentsSink choice;
      if (!inputs_[num_selectable()].next(choice)) return false;
      const Tensor choice_number = choice.take()[0];
      if (choice_number.num_elements() != 1) {
        invalid_argument("`choice_dataset` must have single int64 numbers, not a tensor of shape ",
                         choice_number.shape(), ".");
      }
      const int64_t number = *choice_number.data<int64_t>();
      if (number < 0 || number >= static_cast<int64_t>(num_selectable())) {
        invalid_argument("`choice_dataset` gives ", number, ", but there are ",
                         static_cast<int64_t>(num_selectable()), " datasets, numbered from 0.");
      }
      if (next_of(static_cast<size_t>(number), sink)) return true;
    }
    return false;
  }

 private:
  bool has_unfinished_input() const {
    for (size_t i = 0; i < num_selectable(); ++i) {
      if (!is_at_end(i)) return true;
    }
    return false;
  }
};

std::unique_ptr<DatasetIterator> ChooseFromDatasets::iterator(IteratorContext& context) const {
  return std::make_unique<ChooseIterator>(self(this), context);
}

RUNHOOKS_REGISTER_DATASET(
    ChooseFromDatasets,
    "",
    {"datasets: any. Datasets to read from.",
     "choice_dataset: dataset. Numbers of the datasets, in the order of reading."},
    "Read from several datasets in a given order.");

}  // namespace

}  // namespace runhooks
