// Saves the positions of iterators in checkpoints.
#include <algorithm>

#include "base/deferred_errors.h"
#include "base/fingerprint.h"
#include "base/log.h"
#include "data/data_fingerprint.h"
#include "data/iterator_resource.h"
#include "graph/arg_spec.h"

namespace runhooks {

namespace {

// Version of the saved state. Version 1 had the types and shapes of the data, but no fingerprint.
constexpr int64_t kVersion = 2;
const std::string kState = "state/";

// Identifies the pipeline and the data that a saved position belongs to.
struct PipelineIdentity {
  uint64_t signature_hash = 0, data_hash = 0;
  std::string pipeline_description, data_description;
};

PipelineIdentity identity_of(const Dataset& dataset) {
  PipelineIdentity identity;
  identity.pipeline_description = dataset.pipeline_signature();
  identity.signature_hash = fingerprint64(std::string_view(identity.pipeline_description));
  const DataFingerprint data = dataset.data_fingerprint();
  identity.data_hash = data.fingerprint();
  identity.data_description = data.description();
  return identity;
}

std::string saved_text(const NamedTensors& state, const std::string& name) {
  const Tensor* text = state_scalar(state, name, DType::kString);
  return text ? text->string_at(0) : "unknown";
}

class IteratorSaveable : public StateSaveable {
 public:
  IteratorSaveable(const Operation& op, ResumeMismatch on_other_data)
      : StateSaveable(str_cat("runhooks/iterator/", escape_path_component(op.name()), "/")),
        op_(op),
        policy_(on_other_data) {}

 protected:
  NamedTensors save_state(ResourceManager& resources) override {
    const IteratorResource& resource = iterator_resource(resources, op_);
    if (!resource.iterator) {
      fail(Code::kFailedPrecondition, "Iterator '", op_.name(),
           "' cannot be saved: it has not been initialized.");
    }
    resource.check_idle();
    const PipelineIdentity identity = identity_of(*resource.dataset);
    NamedTensors state = {
        {"version", Tensor::scalar(kVersion)},
        {"fingerprint", Tensor::scalar(static_cast<int64_t>(identity.signature_hash))},
        {"pipeline", Tensor::string_scalar(identity.pipeline_description)},
        {"content", Tensor::scalar(static_cast<int64_t>(identity.data_hash))},
        {"data", Tensor::string_scalar(identity.data_description)}};
    add_subtree(state, kState, resource.iterator->save());
    return state;
  }
  // Restores into a new iterator; if that fails, the session keeps its current one.
  Assign read_state(const NamedTensors& state,
                    const std::string& where,
                    const ResourceManager& resources) override {
    std::shared_ptr<const Dataset> dataset = dataset_of(op_);
    const auto* resource = resources.find<IteratorResource>(op_.name());
    if (resource) resource->check_idle();
    if (!dataset && resource) dataset = resource->dataset;
    if (!dataset) return restore_on_initialization(state, where);
    std::shared_ptr<DatasetIterator> iterator = restore_iterator(dataset, state, where);
    if (!iterator) return {};
    return [this, dataset, iterator](ResourceManager& resources) {
      IteratorResource& resource = iterator_resource(resources, op_);
      resource.dataset = dataset;
      resource.iterator = iterator;
    };
  }

 private:
  // The dataset may depend on tensors, so only the initializer can check the position against it.
  Assign restore_on_initialization(const NamedTensors& state, const std::string& where) const {
    const auto saveable = std::make_shared<const IteratorSaveable>(op_, policy_);
    return [this, saveable, state, where](ResourceManager& resources) {
      iterator_resource(resources, op_).restore_on_start =
          [saveable, state, where](const std::shared_ptr<const Dataset>& dataset) {
            return saveable->restore_iterator(dataset, state, where);
          };
    };
  }
  std::string describe_position(const std::string& where) const {
    return str_cat("The position of iterator '", op_.name(), "' in checkpoint ", where);
  }

  // Returns NULL if the data or the pipeline differ and the policy is to restart.
  std::shared_ptr<DatasetIterator> restore_iterator(const std::shared_ptr<const Dataset>& dataset,
                                                    const NamedTensors& state,
                                                    const std::string& where) const {
    if (!is_valid_for(*dataset, state, where)) return nullptr;
    IteratorContext context(op_.graph());
    std::shared_ptr<DatasetIterator> iterator = dataset->iterator(context);
    try {
      const DeferErrorsScope deferred;
      iterator->restore(subtree(state, kState));
    } catch (const Error& error) {
      const bool is_damaged = error.code() == Code::kDataLoss;
      if (error.code() == Code::kFailedPrecondition) {
        apply_mismatch_policy(str_cat(" cannot be restored: ", error.message()), error.hints(),
                              where);
        return nullptr;
      }
      fail(error.code(), describe_position(where),
           is_damaged ? " is damaged: " : " cannot be restored: ", error.message());
    }
    return iterator;
  }
  bool is_valid_for(const Dataset& dataset,
                    const NamedTensors& state,
                    const std::string& where) const {
    const int64_t version = state_integer(state, "version");
    if (version < 1 || version > kVersion) {
      fail(Code::kDataLoss, describe_position(where), " has version ", version,
           "; this version of runhooks reads version ", kVersion, ".");
    }
    if (version < kVersion) {
      apply_mismatch_policy(
          " was saved by an earlier version of runhooks that did not describe the data.", {},
          where);
      return false;
    }
    const PipelineIdentity current = identity_of(dataset);
    const auto saved = [&state](const char* name) {
      return static_cast<uint64_t>(state_integer(state, name));
    };
    if (saved("content") != current.data_hash) {
      apply_mismatch_policy(" belongs to other data.",
                            mismatch_hints(saved_text(state, "data"), current.data_description),
                            where);
      return false;
    }
    if (saved("fingerprint") != current.signature_hash) {
      apply_mismatch_policy(
          " belongs to another input pipeline.",
          mismatch_hints(saved_text(state, "pipeline"), current.pipeline_description), where);
      return false;
    }
    return true;
  }
  // A log line contains only the parts that differ, such as the batch size. An error contains both
  // descriptions.
  std::vector<std::string> mismatch_hints(const std::string& saved,
                                          const std::string& current) const {
    if (policy_ != ResumeMismatch::kBegin) {
      return {str_cat("Saved: ", saved, "."), str_cat("Now: ", current, ".")};
    }
    std::string saved_part = difference(saved, current);
    std::string current_part = difference(current, saved);
    if (saved_part.empty() && current_part.empty()) {
      saved_part = saved;
      current_part = current;
    }
    constexpr size_t kMaxHintLength = 100;
    if (saved_part.size() > kMaxHintLength || current_part.size() > kMaxHintLength) return {};
    return {str_cat("Saved: ", saved_part, "."), str_cat("Now: ", current_part, ".")};
  }
  // Returns the parts of `description` that `other` lacks.
  static std::string difference(const std::string& description, const std::string& other) {
    const std::vector<std::string> other_parts = split_at_commas(other);
    std::vector<std::string> missing;
    for (const std::string& part : split_at_commas(description)) {
      if (std::find(other_parts.begin(), other_parts.end(), part) == other_parts.end())
        missing.push_back(part);
    }
    return str_join(missing, ", ");
  }
  // Throws, or logs that the input restarts, as the ResumeMismatch policy says.
  void apply_mismatch_policy(const std::string& reason,
                             std::vector<std::string> hints,
                             const std::string& where) const {
    const std::string description = describe_position(where) + reason;
    if (policy_ == ResumeMismatch::kBegin) {
      hints.insert(hints.begin(), "The input starts at the first element.");
      log_always(LogLevel::kInfo, str_cat(description, " ", str_join(hints, " ")));
      return;
    }
    hints.push_back("Set `on_other_data = \"begin\"` to start at the first element.");
    throw Error(Code::kFailedPrecondition, description, hints);
  }

  const Operation& op_;
  ResumeMismatch policy_;
};

}  // namespace

ResumeMismatch resume_mismatch_from_name(const std::string& name) {
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
