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
    const bool is_supported =
        types.size() == 1 &&
        (types[0] == DType::kInt32 || types[0] == DType::kInt64 || types[0] == DType::kString);
    if (!is_supported) {
      std::vector<std::string> names;
      for (DType type : types) names.push_back(dtype_name(type));
      invalid_argument("`dataset` of ", args.owner(),
                       " must have one component, of type int32, int64 or string, not ",
                       names.empty() ? "none" : str_join(names, ", "), ".");
    }
  }
  std::unique_ptr<DatasetIterator> iterator(IteratorContext& context) const override;
};

// Returns a string that identifies the value of a tensor: its shape, then its elements.
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
      return seen_keys_.insert(key_of(components[0])).second;
    });
  }

 protected:
  void rewind_own() override { seen_keys_.clear(); }
  NamedTensors save_own() const override {
    const std::vector<std::string> keys(seen_keys_.begin(), seen_keys_.end());
    return {{"seen", Tensor::strings(Shape{static_cast<int64_t>(keys.size())}, keys)}};
  }
  void restore_own(const NamedTensors& state) override {
    const auto saved = state.find("seen");
    if (saved == state.end() || saved->second.dtype() != DType::kString) {
      fail(Code::kDataLoss, "The saved state lacks the strings 'seen'.");
    }
    std::unordered_set<std::string> seen_keys;
    for (int64_t i = 0; i < saved->second.num_elements(); ++i) {
      seen_keys.insert(saved->second.string_at(i));
    }
    seen_keys_ = std::move(seen_keys);
  }

 private:
  std::unordered_set<std::string> seen_keys_;
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
