// One element: the tensors that were given.
#include "data/one_input_dataset.h"

namespace runhooks {

namespace {

class TensorsDataset : public Dataset {
 public:
  explicit TensorsDataset(const Args& args) {
    for (const Value& value : args.list("components")) {
      const auto* tensor = value.get_if<Tensor>();
      const auto* unknown = value.get_if<Output>();
      if (!tensor && !unknown) {
        invalid_argument("`components` of ", args.owner(), " must be tensors.");
      }
      dtypes_.push_back(tensor ? tensor->dtype() : unknown->dtype());
      shapes_.push_back(tensor ? tensor->shape() : unknown->shape());
      components_.push_back(tensor ? *tensor : Tensor());
    }
    if (components_.empty()) invalid_argument("A dataset needs at least one tensor.");
  }
  std::vector<DType> dtypes() const override { return dtypes_; }
  std::vector<Shape> shapes() const override { return shapes_; }
  std::unique_ptr<DatasetIterator> iterator(IteratorContext& context) const override;
  const Components& components() const { return components_; }

 private:
  Components components_;
  std::vector<DType> dtypes_;
  std::vector<Shape> shapes_;
};

class TensorsIterator : public DatasetIterator {
 public:
  explicit TensorsIterator(std::shared_ptr<const TensorsDataset> dataset)
      : dataset_(std::move(dataset)) {}
  bool next(ElementSink& sink) override {
    if (is_over_) return false;
    is_over_ = true;
    ++rows_seen_;
    sink.put_all(dataset_->components());
    return true;
  }
  void rewind() override { is_over_ = false; }
  NamedTensors save() const override {
    return {{"is_over", Tensor::scalar(is_over_)}, {"rows_seen", Tensor::scalar(rows_seen_)}};
  }
  void restore(const NamedTensors& state) override {
    is_over_ = state_flag(state, "is_over");
    rows_seen_ = state_count(state, "rows_seen");
  }
  int64_t rows_seen() const override { return rows_seen_; }

 private:
  std::shared_ptr<const TensorsDataset> dataset_;
  bool is_over_ = false;
  int64_t rows_seen_ = 0;
};

std::unique_ptr<DatasetIterator> TensorsDataset::iterator(IteratorContext&) const {
  return std::make_unique<TensorsIterator>(self(this));
}

// R's function takes nested lists of tensors apart before.
RUNHOOKS_REGISTER_DATASET(
    "TensorDataset",
    [](const Args& args) -> std::shared_ptr<Dataset> {
      return std::make_shared<TensorsDataset>(args);
    },
    "",
    {"components: any. The tensors."},
    "One element.");

}  // namespace

}  // namespace runhooks
