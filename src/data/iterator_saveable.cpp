// The positions of iterators in checkpoints.
#include <algorithm>

#include "base/fingerprint.h"
#include "data/iterator_resource.h"

namespace runhooks {

namespace {

constexpr int64_t kVersion = 1;
const std::string kState = "state/";

class IteratorSaveable : public StateSaveable {
 public:
  explicit IteratorSaveable(const Operation& op)
      : StateSaveable(str_cat("runhooks/iterator/", path_part(op.name()), "/")), op_(op) {}

 protected:
  NamedTensors save_state(ResourceManager& resources) override {
    const IteratorResource& own = iterator_resource(resources, op_);
    if (!own.iterator) {
      fail(Code::kFailedPrecondition, "Iterator '", op_.name(),
           "' has no position to be saved: it has not been initialized.");
    }
    const std::string description = own.dataset->description();
    NamedTensors state = {
        {"version", Tensor::scalar(kVersion)},
        {"fingerprint", Tensor::scalar(static_cast<int64_t>(fingerprint64(description)))},
        {"pipeline", Tensor::string_scalar(description)}};
    add_subtree(state, kState, own.iterator->save());
    return state;
  }
  // A new iterator takes the state over; where that fails the session keeps the one it has.
  Assign read_state(const NamedTensors& state,
                    const std::string& where,
                    const ResourceManager& resources) override {
    std::shared_ptr<const Dataset> dataset = dataset_of(op_);
    if (!dataset) {
      const auto* own = resources.find<IteratorResource>(op_.name());
      if (own) dataset = own->dataset;
    }
    if (!dataset) {
      fail(Code::kFailedPrecondition, "Iterator '", op_.name(),
           "' must be initialized before its position is restored from checkpoint ", where, ".");
    }
    std::shared_ptr<DatasetIterator> iterator = restored(dataset, state, where);
    return [this, dataset, iterator](ResourceManager& resources) {
      IteratorResource& own = iterator_resource(resources, op_);
      own.dataset = dataset;
      own.iterator = iterator;
    };
  }

 private:
  std::shared_ptr<DatasetIterator> restored(const std::shared_ptr<const Dataset>& dataset,
                                            const NamedTensors& state,
                                            const std::string& where) const {
    check_pipeline(dataset->description(), state, where);
    IteratorContext context(op_.graph());
    std::shared_ptr<DatasetIterator> iterator = dataset->iterator(context);
    try {
      iterator->restore(subtree(state, kState));
    } catch (const Error& error) {
      const bool is_damaged = error.code() == Code::kDataLoss;
      fail(error.code(), "The position of iterator '", op_.name(), "' in checkpoint ", where,
           is_damaged ? " is damaged: " : " cannot be taken up: ", error.message());
    }
    return iterator;
  }
  void check_pipeline(const std::string& description,
                      const NamedTensors& state,
                      const std::string& where) const {
    const int64_t version = state_integer(state, "version");
    if (version != kVersion) {
      fail(Code::kDataLoss, "The position of iterator '", op_.name(), "' in checkpoint ", where,
           " is of version ", version, "; this runhooks reads version ", kVersion, ".");
    }
    const auto saved = static_cast<uint64_t>(state_integer(state, "fingerprint"));
    if (saved == fingerprint64(description)) return;
    const auto text = state.find("pipeline");
    const bool is_text = text != state.end() && text->second.dtype() == DType::kString &&
                         text->second.num_elements() == 1;
    throw Error(Code::kFailedPrecondition,
                str_cat("The position of iterator '", op_.name(), "' in checkpoint ", where,
                        " is that of another input pipeline."),
                {str_cat("Saved: ", is_text ? text->second.string_at(0) : "unknown", "."),
                 str_cat("Now: ", description, ".")});
  }

  const Operation& op_;
};

}  // namespace

SaveablePtr make_saveable_from_iterator(const Output& handle) {
  const std::vector<CollectionItem> iterators = handle.graph().collection("iterators");
  const bool is_iterator =
      std::any_of(iterators.begin(), iterators.end(), [&handle](const CollectionItem& item) {
        const auto* output = std::get_if<Output>(&item);
        return output && *output == handle;
      });
  if (!is_iterator) invalid_argument("'", handle.name(), "' is not an iterator of a dataset.");
  return std::make_shared<IteratorSaveable>(*handle.op);
}

}  // namespace runhooks
