#include "estimators/replica_saveable.h"

#include <algorithm>

#include "base/log.h"
#include "cluster/communicator.h"
#include "cluster/step_gate.h"
#include "io/proto/tensor_proto.h"

namespace runhooks {

namespace {

constexpr const char* kPrefix = "runhooks/replicas/";

std::string prefix_of(int size) { return str_cat(kPrefix, size, "/"); }
std::string prefix_of(int size, int rank) { return str_cat(prefix_of(size), rank, "/"); }

// Names and tensors, as one message.
std::string packed(const std::vector<SaveSpec>& specs) {
  WireWriter all;
  for (const SaveSpec& spec : specs) {
    WireWriter one;
    one.put_bytes(1, spec.name);
    one.put_message(2, write_tensor(spec.tensor));
    all.put_message(1, one);
  }
  return all.bytes();
}

// The part of a checkpoint below a prefix, as a checkpoint.
class PartOf : public TensorSource {
 public:
  PartOf(const TensorSource& whole, std::string prefix)
      : whole_(whole), prefix_(std::move(prefix)) {}
  const std::string& path() const override { return whole_.path(); }
  std::optional<Info> find(const std::string& name) const override {
    return whole_.find(prefix_ + name);
  }
  std::vector<std::string> names_with(const std::string& prefix) const override {
    std::vector<std::string> names = whole_.names_with(prefix_ + prefix);
    for (std::string& name : names) name.erase(0, prefix_.size());
    return names;
  }
  Tensor read(const std::string& name) const override { return whole_.read(prefix_ + name); }
  Tensor read_part(const std::string& name, const SaveSliceInfo& slice) const override {
    return whole_.read_part(prefix_ + name, slice);
  }

 private:
  const TensorSource& whole_;
  std::string prefix_;
};

class ReplicaSaveable : public Saveable {
 public:
  explicit ReplicaSaveable(SaveablePtr own) : own_(std::move(own)) {}
  const std::string& name() const override { return own_->name(); }
  bool is_in(const TensorSource& source) const override {
    return !source.names_with(prefix_of(communicator().size())).empty();
  }

  std::vector<SaveSpec> save(ResourceManager& resources) override {
    const std::vector<SaveSpec> here = own_->save(resources);
    if (!SavedTogether::is_now()) return {};
    const std::vector<std::string> said = gather_texts(communicator(), packed(here));
    std::vector<SaveSpec> specs;
    for (size_t rank = 0; rank < said.size(); ++rank) {
      add_specs(said[rank], prefix_of(communicator().size(), static_cast<int>(rank)), &specs);
    }
    return specs;
  }

  Assign read(const TensorSource& source, const ResourceManager& resources) override {
    const Communicator& all = communicator();
    const PartOf here(source, prefix_of(all.size(), all.rank()));
    if (here.names_with(name()).empty()) {
      if (is_of_others(source)) {
        log_always(LogLevel::kInfo,
                   str_cat("Checkpoint ", source.path(), " was saved by another number of processes "
                           "than ", all.size(), ": a new pass over the data begins."));
      }
      return {};
    }
    return is_over(source) ? Assign() : own_->read(here, resources);
  }

 private:
  static void add_specs(const std::string& text,
                        const std::string& prefix,
                        std::vector<SaveSpec>* specs) {
    WireReader all(text, "what a process said");
    while (all.next()) {
      WireReader one = all.message();
      SaveSpec spec;
      while (one.next()) {
        if (one.field() == 1) spec.name = prefix + one.text();
        if (one.field() == 2) spec.tensor = read_tensor(one.message());
      }
      specs->push_back(std::move(spec));
    }
  }
  bool is_of_others(const TensorSource& source) const {
    if (!source.names_with(name()).empty()) return true;
    const std::vector<std::string> all = source.names_with(kPrefix);
    return std::any_of(all.begin(), all.end(), [this](const std::string& one) {
      return one.find("/" + name()) != std::string::npos;
    });
  }
  // The data of one have ended, and with them those of all.
  bool is_over(const TensorSource& source) const {
    const int size = communicator().size();
    for (int rank = 0; rank < size; ++rank) {
      const std::string ended = prefix_of(size, rank) + name() + "ended";
      if (source.find(ended) && source.read(ended).number_at(0) != 0) return true;
    }
    return false;
  }

  SaveablePtr own_;
};

}  // namespace

SaveablePtr replica_saveable(SaveablePtr own) {
  return std::make_shared<ReplicaSaveable>(std::move(own));
}

}  // namespace runhooks
