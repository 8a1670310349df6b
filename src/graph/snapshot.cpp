#include "graph/snapshot.h"

namespace runhooks {

Snapshot::Snapshot(const std::vector<SaveablePtr>& saveables,
                   ResourceManager& resources,
                   bool copies_values) {
  for (const SaveablePtr& saveable : saveables) {
    for (SaveSpec& spec : saveable->save(resources)) {
      if (copies_values) spec.tensor = spec.tensor.copy();
      tensors_[spec.name].push_back(std::move(spec));
    }
  }
}

std::optional<TensorSource::Info> Snapshot::find(const std::string& name) const {
  const auto found = tensors_.find(name);
  if (found == tensors_.end()) return std::nullopt;
  const SaveSpec& first = found->second.front();
  return Info{first.tensor.dtype(), first.slice ? first.slice->full_shape : first.tensor.shape()};
}

std::vector<std::string> Snapshot::names_with(const std::string& prefix) const {
  std::vector<std::string> names;
  for (auto item = tensors_.lower_bound(prefix); item != tensors_.end(); ++item) {
    if (item->first.compare(0, prefix.size(), prefix) != 0) break;
    names.push_back(item->first);
  }
  return names;
}

const std::vector<SaveSpec>& Snapshot::parts_of(const std::string& name) const {
  const auto found = tensors_.find(name);
  if (found == tensors_.end()) throw_missing(*this, name);
  return found->second;
}

Tensor Snapshot::read(const std::string& name) const {
  const std::vector<SaveSpec>& parts = parts_of(name);
  if (!parts.front().slice) return parts.front().tensor;
  fail(Code::kUnimplemented, "'", name, "' is partitioned into ", parts.size(),
       " parts in the source session, but not in the target session.");
}

Tensor Snapshot::read_part(const std::string& name, const SaveSliceInfo& slice) const {
  for (const SaveSpec& part : parts_of(name)) {
    const bool is_same_slice =
        part.slice && part.slice->offset == slice.offset && part.slice->shape == slice.shape;
    if (is_same_slice) return part.tensor;
  }
  fail(Code::kUnimplemented, "'", name,
       "' is partitioned differently in the source and the target session.");
}

}  // namespace runhooks
