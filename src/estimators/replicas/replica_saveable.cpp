#include "estimators/replicas/replica_saveable.h"

#include <cstdlib>
#include <cstring>
#include <set>

#include "base/log.h"
#include "cluster/communicator.h"
#include "cluster/step_barrier.h"
#include "io/proto/tensor_proto.h"

namespace runhooks {

namespace {

constexpr const char* kPrefix = "runhooks/replicas/";

std::string prefix_of(int size) { return str_cat(kPrefix, size, "/"); }
std::string prefix_of(int size, int rank) { return str_cat(prefix_of(size), rank, "/"); }

std::string serialize_specs(const std::vector<SaveSpec>& specs) {
  WireWriter message;
  for (const SaveSpec& spec : specs) {
    WireWriter entry;
    entry.put_bytes(1, spec.name);
    entry.put_message(2, write_tensor(spec.tensor));
    message.put_message(1, entry);
  }
  return message.bytes();
}

// Presents the entries of a checkpoint below a prefix as a checkpoint.
class SubtreeSource : public TensorSource {
 public:
  SubtreeSource(const TensorSource& checkpoint, std::string prefix)
      : checkpoint_(checkpoint), prefix_(std::move(prefix)) {}
  const std::string& path() const override { return checkpoint_.path(); }
  std::optional<Info> find(const std::string& name) const override {
    return checkpoint_.find(prefix_ + name);
  }
  std::vector<std::string> names_with(const std::string& prefix) const override {
    std::vector<std::string> names = checkpoint_.names_with(prefix_ + prefix);
    for (std::string& name : names) name.erase(0, prefix_.size());
    return names;
  }
  Tensor read(const std::string& name) const override { return checkpoint_.read(prefix_ + name); }
  Tensor read_part(const std::string& name, const SaveSliceInfo& slice) const override {
    return checkpoint_.read_part(prefix_ + name, slice);
  }

 private:
  const TensorSource& checkpoint_;
  std::string prefix_;
};

std::string process_count(int size) {
  return size == 1 ? "one process" : str_cat(size, " processes");
}

class ReplicaSaveable : public Saveable {
 public:
  ReplicaSaveable(SaveablePtr local, int size, std::string restart_message)
      : local_(std::move(local)), size_(size), restart_message_(std::move(restart_message)) {}
  const std::string& name() const override { return local_->name(); }
  bool is_in(const TensorSource& source) const override {
    return sizes_in(source).count(size_) > 0;
  }

  std::vector<SaveSpec> save(ResourceManager& resources) override {
    std::vector<SaveSpec> local_specs = local_->save(resources);
    if (size_ == 1) return local_specs;
    if (!CollectiveSaveScope::is_collective_save()) return {};
    const std::vector<std::string> messages =
        gather_texts(communicator(), serialize_specs(local_specs));
    std::vector<SaveSpec> specs;
    for (int rank = 0; rank < size_; ++rank) {
      add_specs(messages[static_cast<size_t>(rank)], prefix_of(size_, rank), &specs);
    }
    return specs;
  }

  Assign read(const TensorSource& source, const ResourceManager& resources) override {
    const std::set<int> sizes = sizes_in(source);
    const bool is_saved = sizes.count(size_) > 0;
    if (!is_saved && !sizes.empty()) {
      if (!has_ended(source, *sizes.begin())) log_restart(source, *sizes.begin());
      return {};
    }
    if (size_ == 1) return local_->read(source, resources);
    if (is_saved && has_ended(source, size_)) return {};
    const Communicator& all = communicator();
    // If nothing was saved, only the chief tries to read, so that one process reports the error.
    if (!is_saved && !all.is_chief()) return {};
    return local_->read(SubtreeSource(source, prefix_of(size_, all.rank())), resources);
  }

 private:
  static void add_specs(const std::string& text,
                        const std::string& prefix,
                        std::vector<SaveSpec>* specs) {
    WireReader reader(text, "message from another process");
    while (reader.next()) {
      WireReader entry = reader.message();
      SaveSpec spec;
      while (entry.next()) {
        if (entry.field() == 1) spec.name = prefix + entry.text();
        if (entry.field() == 2) spec.tensor = read_tensor(entry.message());
      }
      specs->push_back(std::move(spec));
    }
  }
  std::set<int> sizes_in(const TensorSource& source) const {
    std::set<int> sizes;
    if (!source.names_with(name()).empty()) sizes.insert(1);
    for (const std::string& key : source.names_with(kPrefix)) {
      const int size = std::atoi(key.c_str() + std::strlen(kPrefix));
      const std::string first = prefix_of(size, 0) + name();
      if (key.compare(0, first.size(), first) == 0) sizes.insert(size);
    }
    return sizes;
  }
  // Whether the data of any process had ended. Training then ended in all processes, and the next
  // run starts a new pass.
  bool has_ended(const TensorSource& source, int size) const {
    for (int rank = 0; rank < size; ++rank) {
      const std::string ended = (size == 1 ? "" : prefix_of(size, rank)) + name() + "ended";
      if (source.find(ended) && source.read(ended).number_at(0) != 0) return true;
    }
    return false;
  }
  void log_restart(const TensorSource& source, int size) const {
    if (size_ > 1 && !communicator().is_chief()) return;
    log_always(LogLevel::kInfo, str_cat("Checkpoint ", source.path(), " was saved by ",
                                        process_count(size), ", but training continues with ",
                                        process_count(size_), ": ", restart_message_));
  }

  SaveablePtr local_;
  int size_;
  std::string restart_message_;
};

}  // namespace

SaveablePtr input_of_replica(SaveablePtr position, int replicas) {
  return std::make_shared<ReplicaSaveable>(std::move(position), replicas,
                                           "the input starts a new pass over the data.");
}

SaveablePtr random_numbers_of_replica(SaveablePtr positions, int replicas) {
  return std::make_shared<ReplicaSaveable>(std::move(positions), replicas,
                                           "the random number generators are not restored.");
}

}  // namespace runhooks
