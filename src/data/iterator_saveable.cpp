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
  IteratorSaveable(std::shared_ptr<const Dataset> dataset, const std::string& op_name)
      : StateSaveable(str_cat("runhooks/iterator/", path_part(op_name), "/")),
        dataset_(std::move(dataset)),
        op_name_(op_name),
        description_(dataset_->description()) {}

 protected:
  NamedTensors save_state(ResourceManager& resources) override {
    NamedTensors state = {
        {"version", Tensor::scalar(kVersion)},
        {"fingerprint", Tensor::scalar(static_cast<int64_t>(fingerprint64(description_)))},
        {"pipeline", Tensor::string_scalar(description_)}};
    add_subtree(state, kState, iterator_resource(resources, op_name_, *dataset_).iterator->save());
    return state;
  }
  // A new iterator takes the state over; where that fails the session keeps the one it has.
  Assign read_state(const NamedTensors& state, const std::string& where) override {
    check_pipeline(state, where);
    std::shared_ptr<DatasetIterator> iterator = dataset_->make_iterator();
    try {
      iterator->restore(subtree(state, kState));
    } catch (const Error& error) {
      fail(Code::kDataLoss, "The position of iterator '", op_name_, "' in checkpoint ", where,
           " is damaged: ", error.message());
    }
    return [this, iterator](ResourceManager& resources) {
      iterator_resource(resources, op_name_, *dataset_).iterator = iterator;
    };
  }

 private:
  void check_pipeline(const NamedTensors& state, const std::string& where) const {
    const int64_t version = state_integer(state, "version");
    if (version != kVersion) {
      fail(Code::kDataLoss, "The position of iterator '", op_name_, "' in checkpoint ", where,
           " is of version ", version, "; this runhooks reads version ", kVersion, ".");
    }
    const auto saved = static_cast<uint64_t>(state_integer(state, "fingerprint"));
    if (saved == fingerprint64(description_)) return;
    const auto text = state.find("pipeline");
    const bool is_text = text != state.end() && text->second.dtype() == DType::kString &&
                         text->second.num_elements() == 1;
    throw Error(Code::kFailedPrecondition,
                str_cat("The position of iterator '", op_name_, "' in checkpoint ", where,
                        " is that of another input pipeline."),
                {str_cat("Saved: ", is_text ? text->second.string_at(0) : "unknown", "."),
                 str_cat("Now: ", description_, ".")});
  }

  std::shared_ptr<const Dataset> dataset_;
  std::string op_name_, description_;
};

}  // namespace

// lint: allow caller (tests save an iterator by it)
SaveablePtr make_saveable_from_iterator(const Output& handle) {
  const std::vector<CollectionItem> iterators = handle.graph().collection("iterators");
  const bool is_iterator =
      std::any_of(iterators.begin(), iterators.end(), [&handle](const CollectionItem& item) {
        const auto* output = std::get_if<Output>(&item);
        return output && *output == handle;
      });
  if (!is_iterator || !handle.op->payload) {
    invalid_argument("'", handle.name(), "' is not an iterator of a dataset.");
  }
  return std::make_shared<IteratorSaveable>(
      std::static_pointer_cast<const Dataset>(handle.op->payload), handle.op->name());
}

}  // namespace runhooks
