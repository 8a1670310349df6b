// A dataset of one element, which holds the given tensors.
#include "data/data_fingerprint.h"
#include "data/in_memory.h"
#include "data/indexed_iterator.h"

namespace runhooks {

namespace {

class TensorDataset : public Dataset {
 public:
  explicit TensorDataset(const Args& args) {
    for (const Value& value : args.list("components")) {
      const auto* tensor = value.get_if<Tensor>();
      const auto* free_tensor = value.get_if<Output>();
      if (!tensor && !free_tensor) {
        invalid_argument("`components` of ", args.owner(), " must be tensors.");
      }
      dtypes_.push_back(tensor ? tensor->dtype() : free_tensor->dtype());
      shapes_.push_back(tensor ? tensor->shape() : free_tensor->shape());
      components_.push_back(tensor ? *tensor : Tensor());
    }
    if (components_.empty()) invalid_argument("A dataset needs at least one tensor.");
  }
  std::vector<DType> dtypes() const override { return dtypes_; }
  std::vector<Shape> shapes() const override { return shapes_; }
  std::unique_ptr<DatasetIterator> iterator(IteratorContext& context) const override;
  int64_t cardinality() const override { return 1; }
  int64_t num_rows() const { return 1; }
  void put(int64_t, ElementSink& sink) const { sink.emit(components_); }
  void add_data_to(DataFingerprint& content) const override {
    const std::vector<InMemoryColumn> columns(components_.begin(), components_.end());
    add_columns(content, columns, fingerprint_);
  }

 private:
  bool identifies_data(const std::string& argument) const override {
    return argument == "components";
  }

  Components components_;
  std::vector<DType> dtypes_;
  std::vector<Shape> shapes_;
  LazyFingerprint fingerprint_;
};

std::unique_ptr<DatasetIterator> TensorDataset::iterator(IteratorContext&) const {
  return std::make_unique<IndexedIterator<TensorDataset>>(self(this));
}

// The R function flattens nested lists of tensors before it calls this class.
RUNHOOKS_REGISTER_DATASET(TensorDataset,
                          "",
                          {"components: any. The tensors."},
                          "A dataset of one element.");

}  // namespace

}  // namespace runhooks
