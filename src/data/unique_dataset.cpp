// Removes duplicate elements of the input (tf.data.experimental.unique).
#include <unordered_set>

#include "data/one_input_dataset.h"

namespace runhooks {

namespace {

// As in TensorFlow, supports one component, of a type with exact equality.
class UniqueDataset : public Transformation {
 public:
  explicit UniqueDataset(const Args& args) : Transformation(dataset_argument(args)) {
    const std::vector<DType> types = dtypes();
    const bool is_good =
        types.size() == 1 &&
        (types[0] == DType::kInt32 || types[0] == DType::kInt64 || types[0] == DType::kString);
    if (!is_good) {
      std::vector<std::string> names;
      for (DType type : types) names.push_back(dtype_name(type));
      invalid_argument("`dataset` of ", args.owner(),
                       " must have one component, of type int32, int64 or string, not ",
                       names.empty() ? "none" : str_join(names, ", "), ".");
    }
  }
  std::unique_ptr<DatasetIterator> iterator(IteratorContext& context) const override;
};

// Equal for equal tensors: the shape, then the elements.
std::string key_of(const Tensor& x) {
  std::string key = str_cat(x.shape(), ":");
  if (x.dtype() != DType::kString) {
    return key.append(static_cast<const char*>(x.raw()), x.num_bytes());
  }
  for (int64_t i = 0; i < x.num_elements(); ++i) {
    const std::string& text = x.string_at(i);
    key += str_cat(text.size(), ":", text);
  }
  return key;
}

class UniqueIterator : public TransformationIterator<UniqueDataset> {
 public:
  using TransformationIterator::TransformationIterator;
  bool next(ElementSink& sink) override {
    return next_where(sink, [this](const Components& components) {
      return seen_.insert(key_of(components[0])).second;
    });
  }

 protected:
  void rewind_own() override { seen_.clear(); }
  NamedTensors save_own() const override {
    const std::vector<std::string> keys(seen_.begin(), seen_.end());
    return {{"seen", Tensor::strings(Shape{static_cast<int64_t>(keys.size())}, keys)}};
  }
  void restore_own(const NamedTensors& state) override {
    const auto found = state.find("seen");
    if (found == state.end() || found->second.dtype() != DType::kString) {
      fail(Code::kDataLoss, "The saved state lacks the strings 'seen'.");
    }
    std::unordered_set<std::string> seen;
    for (int64_t i = 0; i < found->second.num_elements(); ++i) {
      seen.insert(found->second.string_at(i));
    }
    seen_ = std::move(seen);
  }

 private:
  std::unordered_set<std::string> seen_;
};

std::unique_ptr<DatasetIterator> UniqueDataset::iterator(IteratorContext& context) const {
  return std::make_unique<UniqueIterator>(self(this), context);
}

RUNHOOKS_REGISTER_DATASET(
    UniqueDataset,
    "dataset_unique",
    {"dataset: dataset."},
    "Remove duplicates of elements with one component of whole numbers or strings.");

}  // namespace

}  // namespace runhooks
