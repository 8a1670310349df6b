// Saves the positions of iterators in checkpoints.
#include <algorithm>

#include "base/fingerprint.h"
#include "base/deferred_errors.h"
#include "base/log.h"
#include "data/data_fingerprint.h"
#include "data/iterator_resource.h"
#include "graph/arg_spec.h"

namespace runhooks {

namespace {

// Version 1 stored the types and shapes of the data, but no fingerprint.
constexpr int64_t kVersion = 2;
const std::string kState = "state/";

// Signatures of the pipeline and the data that a position belongs to.
struct Owner {
  uint64_t pipeline_signature = 0, data = 0;
  std::string pipeline_description, data_description;
};

Owner owner_of(const Dataset& dataset) {
  Owner owner;
  owner.pipeline_description = dataset.pipeline_signature();
  owner.pipeline_signature = fingerprint64(std::string_view(owner.pipeline_description));
  const DataFingerprint content = dataset.data_fingerprint();
  owner.data = content.fingerprint();
  owner.data_description = content.description();
  return owner;
}

std::string text_in(const NamedTensors& state, const std::string& name) {
  const Tensor* text = state_scalar(state, name, DType::kString);
  return text ? text->string_at(0) : "unknown";
}

class IteratorSaveable : public StateSaveable {
 public:
  IteratorSaveable(const Operation& op, ResumeMismatch on_other_data)
      : StateSaveable(str_cat("runhooks/iterator/", path_part(op.name()), "/")),
        op_(op),
        on_other_data_(on_other_data) {}

 protected:
  NamedTensors save_state(ResourceManager& resources) override {
    const IteratorResource& own = iterator_resource(resources, op_);
    if (!own.iterator) {
      fail(Code::kFailedPrecondition, "Iterator '", op_.name(),
           "' cannot be saved: it has not been initialized.");
    }
    own.check_idle();
    const Owner owner = owner_of(*own.dataset);
    NamedTensors state = {{"version", Tensor::scalar(kVersion)},
                          {"fingerprint", Tensor::scalar(static_cast<int64_t>(owner.pipeline_signature))},
                          {"pipeline", Tensor::string_scalar(owner.pipeline_description)},
                          {"content", Tensor::scalar(static_cast<int64_t>(owner.data))},
                          {"data", Tensor::string_scalar(owner.data_description)}};
    add_subtree(state, kState, own.iterator->save());
    return state;
  }
  // Restores into a new iterator; if that fails, the session keeps its current one.
  Assign read_state(const NamedTensors& state,
                    const std::string& where,
                    const ResourceManager& resources) override {
    std::shared_ptr<const Dataset> dataset = dataset_of(op_);
    const auto* own = resources.find<IteratorResource>(op_.name());
    if (own) own->check_idle();
    if (!dataset && own) dataset = own->dataset;
    if (!dataset) return when_initialized(state, where);
    std::shared_ptr<DatasetIterator> iterator = restored(dataset, state, where);
    if (!iterator) return {};
    return [this, dataset, iterator](ResourceManager& resources) {
      IteratorResource& own = iterator_resource(resources, op_);
      own.dataset = dataset;
      own.iterator = iterator;
    };
  }

 private:
  // The dataset may depend on tensors, so only the initializer can check the position against it.
  Assign when_initialized(const NamedTensors& state, const std::string& where) const {
    const auto kept = std::make_shared<const IteratorSaveable>(op_, on_other_data_);
    return [this, kept, state, where](ResourceManager& resources) {
      iterator_resource(resources, op_).restore_on_start =
          [kept, state, where](const std::shared_ptr<const Dataset>& dataset) {
            return kept->restored(dataset, state, where);
          };
    };
  }
  std::string position_in(const std::string& where) const {
    return str_cat("The position of iterator '", op_.name(), "' in checkpoint ", where);
  }

  // NULL if the data differ and the policy is to restart.
  std::shared_ptr<DatasetIterator> restored(const std::shared_ptr<const Dataset>& dataset,
                                            const NamedTensors& state,
                                            const std::string& where) const {
    if (!is_valid_for(*dataset, state, where)) return nullptr;
    IteratorContext context(op_.graph());
    std::shared_ptr<DatasetIterator> iterator = dataset->iterator(context);
    try {
      const DeferErrorsScope judged;
      iterator->restore(subtree(state, kState));
    } catch (const Error& error) {
      const bool is_damaged = error.code() == Code::kDataLoss;
      if (error.code() == Code::kFailedPrecondition) {
        handle_mismatch(str_cat(" cannot be restored: ", error.message()), error.hints(), where);
        return nullptr;
      }
      fail(error.code(), position_in(where),
           is_damaged ? " is damaged: " : " cannot be restored: ", error.message());
    }
    return iterator;
  }
  bool is_valid_for(const Dataset& dataset,
                    const NamedTensors& state,
                    const std::string& where) const {
    const int64_t version = state_integer(state, "version");
    if (version < 1 || version > kVersion) {
      fail(Code::kDataLoss, position_in(where), " has version ", version,
           "; this version of runhooks reads version ", kVersion, ".");
    }
    if (version < kVersion) {
      handle_mismatch(
          " was saved by an earlier version of runhooks that did not describe the data.", {},
          where);
      return false;
    }
    const Owner now = owner_of(dataset);
    const auto saved = [&state](const char* name) {
      return static_cast<uint64_t>(state_integer(state, name));
    };
    if (saved("content") != now.data) {
      handle_mismatch(" belongs to other data.",
                      saved_and_now(text_in(state, "data"), now.data_description), where);
      return false;
    }
    if (saved("fingerprint") != now.pipeline_signature) {
      handle_mismatch(" belongs to another input pipeline.",
                      saved_and_now(text_in(state, "pipeline"), now.pipeline_description), where);
      return false;
    }
    return true;
  }
  // A log line shows only the differences, for example a changed batch size; an error shows both
  // descriptions.
  std::vector<std::string> saved_and_now(const std::string& saved, const std::string& now) const {
    if (on_other_data_ != ResumeMismatch::kBegin) {
      return {str_cat("Saved: ", saved, "."), str_cat("Now: ", now, ".")};
    }
    std::string was = context_of_difference(saved, now), is = context_of_difference(now, saved);
    if (was.empty() && is.empty()) was = saved, is = now;
    constexpr size_t kLine = 100;
    if (was.size() > kLine || is.size() > kLine) return {};
    return {str_cat("Saved: ", was, "."), str_cat("Now: ", is, ".")};
  }
  // The parts of a description that are missing in the other one.
  static std::string context_of_difference(const std::string& words, const std::string& other) {
    const std::vector<std::string> theirs = split_at_commas(other);
    std::vector<std::string> own;
    for (const std::string& part : split_at_commas(words)) {
      if (std::find(theirs.begin(), theirs.end(), part) == theirs.end()) own.push_back(part);
    }
    return str_join(own, ", ");
  }
  // Applies the ResumeMismatch policy.
  void handle_mismatch(const std::string& why,
                       std::vector<std::string> hints,
                       const std::string& where) const {
    const std::string words = position_in(where) + why;
    if (on_other_data_ == ResumeMismatch::kBegin) {
      hints.insert(hints.begin(), "The input starts at the first element.");
      log_always(LogLevel::kInfo, str_cat(words, " ", str_join(hints, " ")));
      return;
    }
    hints.push_back("Set `on_other_data = \"begin\"` to start at the first element.");
    throw Error(Code::kFailedPrecondition, words, hints);
  }

  const Operation& op_;
  ResumeMismatch on_other_data_;
};

}  // namespace

ResumeMismatch on_other_data_from_name(const std::string& name) {
  if (name == "begin") return ResumeMismatch::kBegin;
  if (name != "stop") {
    invalid_argument("`on_other_data` must be \"stop\" or \"begin\", not \"", name, "\".");
  }
  return ResumeMismatch::kStop;
}

SaveablePtr make_saveable_from_iterator(const Output& handle, ResumeMismatch on_other_data) {
  const std::vector<CollectionItem> iterators = handle.graph().collection("iterators");
  const bool is_iterator =
      std::any_of(iterators.begin(), iterators.end(), [&handle](const CollectionItem& item) {
        const auto* output = std::get_if<Output>(&item);
        return output && *output == handle;
      });
  if (!is_iterator) invalid_argument("'", handle.name(), "' is not an iterator of a dataset.");
  return std::make_shared<IteratorSaveable>(*handle.op, on_other_data);
}

}  // namespace runhooks
