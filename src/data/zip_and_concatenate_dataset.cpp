// Combines several inputs: zip, concatenate, choose and sample.
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
    std::vector<DType> all;
    for (const auto& input : inputs_) {
      for (const DType dtype : input->dtypes()) all.push_back(dtype);
    }
    return all;
  }
  std::vector<Shape> shapes() const override {
    std::vector<Shape> all;
    for (const auto& input : inputs_) {
      for (const Shape& shape : input->shapes()) all.push_back(shape);
    }
    return all;
  }
  std::shared_ptr<const Dataset> inner(size_t k) const override {
    for (const auto& input : inputs_) {
      const size_t own = input->dtypes().size();
      if (k < own) return input->inner(k);
      k -= own;
    }
    return Dataset::inner(k);
  }
  bool runs_on_main_thread() const override { return any_on_main_thread(inputs_); }
  bool is_endless() const override {
    return std::all_of(inputs_.begin(), inputs_.end(),
                       [](const auto& input) { return input->is_endless(); });
  }
  int64_t cardinality() const override {
    int64_t least = kInfiniteCardinality;
    for (const auto& input : inputs_) {
      const int64_t n = input->cardinality();
      if (n == kUnknownCardinality) return n;
      if (n >= 0 && (least < 0 || n < least)) least = n;
    }
    return least;
  }
  std::unique_ptr<DatasetIterator> iterator(IteratorContext& context) const override;
  const Inputs& inputs() const { return inputs_; }

 private:
  Inputs inputs_;
};

// The iterators of all inputs; their states are under "input_0/", "input_1/", ...
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
    int64_t all = 0;
    for (const auto& iterator : iterators_) all += iterator->rows_seen();
    return all;
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
  // Reads all inputs before raising the first error, so that later elements stay aligned.
  bool next(ElementSink& sink) override {
    Components all;
    std::exception_ptr error;
    for (size_t i = 0; i < inputs_.size() && !is_over_; ++i) {
      ElementOrError element;
      if (!next_or_error(inputs_[i], element)) {
        is_over_ = true;
      } else if (!error) {
        error = element.error;
      }
      for (Tensor& component : element.components) all.push_back(std::move(component));
    }
    if (error) std::rethrow_exception(error);
    if (!is_over_) sink.emit_all_rows(std::move(all));
    return !is_over_;
  }
  void rewind() override {
    inputs_.rewind();
    is_over_ = false;
  }
  NamedTensors save() const override {
    NamedTensors state = {{"is_over", Tensor::scalar(is_over_)}};
    inputs_.save(state);
    return state;
  }
  void restore(const NamedTensors& state) override {
    // states of earlier versions omit it, and reach the end again
    const bool is_over = state.count("is_over") && state_flag(state, "is_over");
    inputs_.restore(state);
    is_over_ = is_over;
  }
  int64_t rows_seen() const override { return inputs_[0].rows_seen(); }
  int64_t epoch() const override { return inputs_[0].epoch(); }

 private:
  std::shared_ptr<const ZipDataset> dataset_;
  InputIterators inputs_;
  bool is_over_ = false;  // of any input
};

std::unique_ptr<DatasetIterator> ZipDataset::iterator(IteratorContext& context) const {
  return std::make_unique<ZipIterator>(self(this), context);
}

// The R function flattens nested lists of datasets first.
RUNHOOKS_REGISTER_DATASET(
    "ZipDataset",
    [](const Args& args) -> std::shared_ptr<Dataset> { return std::make_shared<ZipDataset>(args); },
    "",
    {"datasets: any. Datasets to combine."},
    "Combine the elements of several datasets.");

std::vector<Shape> common_shapes(const Inputs& inputs) {
  std::vector<Shape> all = inputs[0]->shapes();
  for (const auto& input : inputs) {
    const std::vector<Shape> own = input->shapes();
    for (size_t i = 0; i < all.size(); ++i) all[i] = generalize_shapes(all[i], own[i]);
  }
  return all;
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

// Reads from several datasets whose elements have the same types.
class InputsOfOneType : public Dataset {
 public:
  InputsOfOneType(Inputs inputs, const Args& args) : inputs_(std::move(inputs)) {
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

class ConcatenateDataset : public InputsOfOneType {
 public:
  explicit ConcatenateDataset(const Args& args)
      : InputsOfOneType({dataset_argument(args), dataset_argument(args, "other")}, args) {}
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
      begin();
    }
    return false;
  }
  void rewind() override {
    current_ = 0;
    begin();
  }
  NamedTensors save() const override {
    NamedTensors state = {{"current", Tensor::scalar(current_)}, {"begun", Tensor::scalar(begun_)}};
    inputs_.save(state);
    return state;
  }
  void restore(const NamedTensors& state) override {
    const auto all = static_cast<int64_t>(inputs_.size());
    const int64_t current = state_count(state, "current", all),
                  begun = state_count(state, "begun", all);
    if (begun < std::min(current + 1, all)) {
      fail(Code::kDataLoss, "Invalid saved state: dataset ", current, " is current, but only ",
           begun, " have begun.");
    }
    inputs_.restore(state);
    current_ = current;
    begun_ = begun;
  }
  int64_t rows_seen() const override { return inputs_.rows_seen(); }

 private:
  std::shared_ptr<const ConcatenateDataset> dataset_;
  // Rewinds an input only on its turn, because rewinding draws seeds.
  void begin() {
    if (current_ < begun_) inputs_[static_cast<size_t>(current_)].rewind();
    begun_ = std::max(begun_, std::min(current_ + 1, static_cast<int64_t>(inputs_.size())));
  }

  InputIterators inputs_;
  int64_t current_ = 0;
  int64_t begun_ = 1;  // number of inputs read so far
};

std::unique_ptr<DatasetIterator> ConcatenateDataset::iterator(IteratorContext& context) const {
  return std::make_unique<ConcatenateIterator>(self(this), context);
}

RUNHOOKS_REGISTER_DATASET(
    "ConcatenateDataset",
    [](const Args& args) -> std::shared_ptr<Dataset> {
      return std::make_shared<ConcatenateDataset>(args);
    },
    "dataset_concatenate",
    {"dataset: dataset.", "other: dataset. A dataset with elements of the same types."},
    "Concatenate two datasets.");

// Draws at random which dataset is read next.
class SampleDataset : public InputsOfOneType {
 public:
  explicit SampleDataset(const Args& args)
      : InputsOfOneType(datasets_argument(args, "datasets"), args) {
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
      bounds_.push_back(sum += weight);
    }
    if (!(sum > 0)) invalid_argument("`weights` of ", args.owner(), " must not all be 0.");
    if (!std::isfinite(sum)) {
      invalid_argument("The sum of `weights` of ", args.owner(), " must be finite.");
    }
    if (args.has("seed")) seed_ = args.integer("seed");
  }
  std::unique_ptr<DatasetIterator> iterator(IteratorContext& context) const override;
  const std::vector<double>& bounds() const { return bounds_; }
  const std::optional<int64_t>& seed() const { return seed_; }

 private:
  std::vector<double> bounds_;
  std::optional<int64_t> seed_;
};

class SampleIterator : public DatasetIterator {
 public:
  SampleIterator(std::shared_ptr<const SampleDataset> dataset, IteratorContext& context)
      : dataset_(std::move(dataset)),
        seeds_(context.seeds(dataset_->seed())),
        random_(seeds_),
        inputs_(dataset_->inputs(), context),
        is_over_(inputs_.size(), 0) {}
  // Skips exhausted datasets and continues with the others.
  bool next(ElementSink& sink) override {
    InterruptPoll poll;
    while (has_open()) {
      poll();
      const size_t i = draw();
      if (is_over_[i]) continue;
      if (inputs_[i].next(sink)) return true;
      is_over_[i] = 1;
    }
    return false;
  }
  // With a seed, each pass has the same order, as in TensorFlow.
  void rewind() override {
    inputs_.rewind();
    is_over_.assign(is_over_.size(), 0);
    if (dataset_->seed()) random_ = RandomStream(seeds_);
  }
  NamedTensors save() const override {
    NamedTensors state = {{"is_over", Tensor::vector(is_over_)}};
    add_subtree(state, "random/", random_.save());
    inputs_.save(state);
    return state;
  }
  void restore(const NamedTensors& state) override {
    const std::vector<int64_t> is_over = state_counts(state, "is_over");
    if (is_over.size() != inputs_.size()) {
      fail(Code::kDataLoss, "The saved state has a different number of datasets.");
    }
    const RandomStream random = RandomStream::restored(subtree(state, "random/"));
    inputs_.restore(state);
    random_ = random;
    seeds_ = random.seeds();
    is_over_ = is_over;
  }
  int64_t rows_seen() const override { return inputs_.rows_seen(); }

 private:
  // True if a dataset with a positive weight is left.
  bool has_open() const {
    double before = 0;
    for (size_t i = 0; i < is_over_.size(); ++i) {
      if (!is_over_[i] && dataset_->bounds()[i] > before) return true;
      before = dataset_->bounds()[i];
    }
    return false;
  }
  size_t draw() {
    const std::vector<double>& bounds = dataset_->bounds();
    const double drawn = uniform() * bounds.back();
    return static_cast<size_t>(std::upper_bound(bounds.begin(), bounds.end(), drawn) -
                               bounds.begin());
  }

  // Uniform over [0, 1). Like TensorFlow's stateless ops, scrambles two seeds from our stream with
  // one generator to seed another, and uses its first number.
  double uniform() {
    const uint64_t seed = random_.next(), seed2 = random_.next();
    uint32_t words[4];
    Philox(uint64_t{0x02461e293ec8f720}, seed2).block(seed, words);
    const uint64_t key = words[0] | static_cast<uint64_t>(words[1]) << 32,
                   stream = words[2] | static_cast<uint64_t>(words[3]) << 32;
    Philox(key, stream).block(0, words);
    // 52 bits
    const uint64_t bits = static_cast<uint64_t>(words[0] & 0xfffff) << 32 | words[1];
    return static_cast<double>(bits) / static_cast<double>(uint64_t{1} << 52);
  }

  std::shared_ptr<const SampleDataset> dataset_;
  Seeds seeds_;
  RandomStream random_;
  InputIterators inputs_;
  std::vector<int64_t> is_over_;
};

std::unique_ptr<DatasetIterator> SampleDataset::iterator(IteratorContext& context) const {
  return std::make_unique<SampleIterator>(self(this), context);
}

RUNHOOKS_REGISTER_DATASET(
    "SampleFromDatasets",
    [](const Args& args) -> std::shared_ptr<Dataset> {
      return std::make_shared<SampleDataset>(args);
    },
    "",
    {"datasets: any. Datasets to sample from.", "weights = NULL: any. Sampling weights.",
     "seed = NULL: number. Fixes the order."},
    "Sample elements from several datasets.");

// Reads from the dataset whose number the next element of `choices` is.
class ChooseDataset : public InputsOfOneType {
 public:
  explicit ChooseDataset(const Args& args)
      : InputsOfOneType(datasets_argument(args, "datasets"), args),
        choices_(dataset_argument(args, "choice_dataset")) {
    if (choices_->dtypes() != std::vector<DType>{DType::kInt64} ||
        !choices_->shapes()[0].is_compatible_with(Shape())) {
      invalid_argument("`choice_dataset` of ", args.owner(), " must have single int64 numbers.");
    }
  }
  std::unique_ptr<DatasetIterator> iterator(IteratorContext& context) const override;
  bool runs_on_main_thread() const override {
    return InputsOfOneType::runs_on_main_thread() || choices_->runs_on_main_thread();
  }
  bool is_endless() const override { return false; }
  Inputs all() const {
    Inputs all = inputs();
    all.push_back(choices_);
    return all;
  }

 private:
  std::shared_ptr<const Dataset> choices_;
};

class ChooseIterator : public DatasetIterator {
 public:
  ChooseIterator(std::shared_ptr<const ChooseDataset> dataset, IteratorContext& context)
      : dataset_(std::move(dataset)),
        inputs_(dataset_->all(), context),
        is_over_(inputs_.size() - 1, 0) {}
  // Like TensorFlow, skips the numbers of exhausted datasets.
  bool next(ElementSink& sink) override {
    InterruptPoll poll;
    while (std::count(is_over_.begin(), is_over_.end(), 0) > 0) {
      poll();
      ComponentsSink choice;
      if (!inputs_[is_over_.size()].next(choice)) return false;
      const int64_t number = *choice.take()[0].data<int64_t>();
      if (number < 0 || number >= static_cast<int64_t>(is_over_.size())) {
        invalid_argument("`choice_dataset` gives ", number, ", but there are ",
                         static_cast<int64_t>(is_over_.size()), " datasets, numbered from 0.");
      }
      const auto i = static_cast<size_t>(number);
      if (is_over_[i]) continue;
      if (inputs_[i].next(sink)) return true;
      is_over_[i] = 1;
    }
    return false;
  }
  void rewind() override {
    inputs_.rewind();
    is_over_.assign(is_over_.size(), 0);
  }
  NamedTensors save() const override {
    NamedTensors state = {{"is_over", Tensor::vector(is_over_)}};
    inputs_.save(state);
    return state;
  }
  void restore(const NamedTensors& state) override {
    const std::vector<int64_t> is_over = state_counts(state, "is_over");
    if (is_over.size() != is_over_.size()) {
      fail(Code::kDataLoss, "The saved state has a different number of datasets.");
    }
    inputs_.restore(state);
    is_over_ = is_over;
  }
  int64_t rows_seen() const override { return inputs_.rows_seen(); }

 private:
  std::shared_ptr<const ChooseDataset> dataset_;
  InputIterators inputs_;  // the last one reads the choices
  std::vector<int64_t> is_over_;
};

std::unique_ptr<DatasetIterator> ChooseDataset::iterator(IteratorContext& context) const {
  return std::make_unique<ChooseIterator>(self(this), context);
}

RUNHOOKS_REGISTER_DATASET(
    "ChooseFromDatasets",
    [](const Args& args) -> std::shared_ptr<Dataset> {
      return std::make_shared<ChooseDataset>(args);
    },
    "",
    {"datasets: any. Datasets to read from.",
     "choice_dataset: dataset. Numbers of the datasets, in the order of reading."},
    "Read from several datasets in a given order.");

}  // namespace

}  // namespace runhooks
