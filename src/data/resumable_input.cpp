#include "data/resumable_input.h"

namespace runhooks {

namespace {

class ResumableInput : public Saveable {
 public:
  ResumableInput(SaveablePtr position, int64_t rows, int64_t num_epochs)
      : position_(std::move(position)), rows_(rows), num_epochs_(num_epochs) {}

  const std::string& name() const override { return position_->name(); }

  std::vector<SaveSpec> save(ResourceManager& resources) override {
    std::vector<SaveSpec> specs = position_->save(resources);
    has_saved_ = true;
    const int64_t epoch = integer_of(specs, "state/epoch");
    const bool is_at_row_end = integer_of(specs, "state/position") == rows_;
    const bool has_ended = num_epochs_ > 0 && epoch + (is_at_row_end ? 1 : 0) >= num_epochs_;
    specs.push_back({name() + "ended", Tensor::scalar(static_cast<int64_t>(has_ended)), nullptr});
    return specs;
  }

  Assign read(const TensorSource& source, const ResourceManager& resources) override {
    const std::string key = name() + "ended";
    if (!source.find(key)) return {};
    const bool has_ended = state_integer({{"ended", source.read(key)}}, "ended") != 0;
    // If this object has saved before, the training has not ended: its session was recreated after
    // a failure. So it resumes even if the position is at the end of the data.
    return has_ended && !has_saved_ ? Assign() : position_->read(source, resources);
  }

 private:
  int64_t integer_of(const std::vector<SaveSpec>& specs, const char* part) const {
    NamedTensors state;
    for (const SaveSpec& spec : specs) state[spec.name] = spec.tensor;
    return state_integer(state, name() + part);
  }

  SaveablePtr position_;
  int64_t rows_, num_epochs_;
  bool has_saved_ = false;
};

}  // namespace

SaveablePtr make_resumable_input(const Output& handle,
                                 int64_t rows,
                                 int64_t num_epochs,
                                 ResumeMismatch on_other_data) {
  return std::make_shared<ResumableInput>(make_saveable_from_iterator(handle, on_other_data), rows,
                                          num_epochs);
}

}  // namespace runhooks
