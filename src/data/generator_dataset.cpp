// Elements produced by R code.
#include "data/data_fingerprint.h"
#include "data/element_source.h"
#include "data/one_input_dataset.h"
#include "tensor/scalar_advice.h"

namespace runhooks {

namespace {

class GeneratorDataset : public Dataset {
 public:
  explicit GeneratorDataset(const Args& args)
      : source_(args.object<ElementSource>("source", "a source of elements")) {}
  std::vector<DType> dtypes() const override { return source_->dtypes(); }
  std::vector<Shape> shapes() const override { return source_->shapes(); }
  bool runs_on_main_thread() const override { return true; }
  std::unique_ptr<DatasetIterator> iterator(IteratorContext& context) const override;
  std::unique_ptr<ElementStream> open() const { return source_->open(); }
  void add_data_to(DataFingerprint& fingerprint) const override {
    std::vector<std::string> components;
    for (size_t k = 0; k < dtypes().size(); ++k) {
      components.push_back(str_cat(dtype_name(dtypes()[k]), shapes()[k]));
    }
    const std::string text =
        str_cat(source_->declared_schema(), " (", str_join(components, ", "), ")");
    fingerprint.add(std::string_view(text));
    fingerprint.describe(text);
  }

 private:
  bool identifies_data(const std::string& argument) const override { return argument == "source"; }

  std::shared_ptr<ElementSource> source_;
};

class GeneratorIterator : public DatasetIterator {
 public:
  explicit GeneratorIterator(std::shared_ptr<const GeneratorDataset> dataset)
      : dataset_(std::move(dataset)) {}
  bool next(ElementSink& sink) override {
    if (at_end_) return false;
    begin();
    Components element;
    if (!stream_->next(position_, element)) {
      at_end_ = true;
      return false;
    }
    check(element);
    ++position_;
    ++rows_seen_;
    sink.emit(std::move(element));
    return true;
  }
  void rewind() override {
    position_ = 0;
    at_end_ = has_begun_ = false;
  }
  NamedTensors save() const override {
    NamedTensors state = {{"position", Tensor::scalar(position_)},
                          {"rows_seen", Tensor::scalar(rows_seen_)},
                          {"is_over", Tensor::scalar(at_end_)},
                          {"has_begun", Tensor::scalar(has_begun_)}};
    if (has_begun_) add_subtree(state, "source/", stream_->save());
    return state;
  }
  void restore(const NamedTensors& state) override {
    const int64_t position = state_count(state, "position"),
                  rows_seen = state_count(state, "rows_seen");
    const bool at_end = state_flag(state, "is_over"), has_begun = state_flag(state, "has_begun");
    if (has_begun) {
      if (!stream_) stream_ = dataset_->open();
      stream_->restore(subtree(state, "source/"));
    }
    position_ = position;
    rows_seen_ = rows_seen;
    at_end_ = at_end;
    has_begun_ = has_begun;
  }
  int64_t rows_seen() const override { return rows_seen_; }

 private:
  // Opens the source for the first element, not earlier. An iterator that is restored must not
  // restart the source, and an unused iterator must not open a source that can be read only once.
  void begin() {
    if (has_begun_) return;
    if (stream_) {
      stream_->rewind();
    } else {
      stream_ = dataset_->open();
    }
    has_begun_ = true;
  }
  void check(const Components& element) const {
    const std::vector<DType> dtypes = dataset_->dtypes();
    const std::vector<Shape> shapes = dataset_->shapes();
    for (size_t k = 0; k < dtypes.size(); ++k) {
      const bool is_valid =
          element[k].dtype() == dtypes[k] && shapes[k].is_compatible_with(element[k].shape());
      if (is_valid) continue;
      throw Error(
          Code::kInvalidArgument,
          str_cat("Element ", position_ + 1, " of a generator has component ", k + 1, " of type ",
                  dtype_name(element[k].dtype()), " and shape ", element[k].shape(), "; expected ",
                  dtype_name(dtypes[k]), " and ", shapes[k], "."),
          advice_for_scalar(element[k].shape(), shapes[k]));
    }
  }

  std::shared_ptr<const GeneratorDataset> dataset_;
  std::unique_ptr<ElementStream> stream_;  // NULL until the first element is read
  int64_t position_ = 0, rows_seen_ = 0;
  bool at_end_ = false, has_begun_ = false;  // both refer to the current pass
};

std::unique_ptr<DatasetIterator> GeneratorDataset::iterator(IteratorContext&) const {
  return std::make_unique<GeneratorIterator>(self(this));
}

// R functions create the source from their closures.
RUNHOOKS_REGISTER_DATASET(GeneratorDataset,
                          "",
                          {"source: source of elements."},
                          "Elements produced by a function.");

}  // namespace

}  // namespace runhooks
