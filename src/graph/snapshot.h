// Snapshot, the values of Saveables in memory, to be restored as from a checkpoint.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "graph/saveable.h"

namespace runhooks {

// What Saveables of a session have at this moment, for another session or for later.
class Snapshot : public TensorSource {
 public:
  // With `keeps` the values are copied. Without they are shared, and good until the next run.
  Snapshot(const std::vector<SaveablePtr>& saveables, ResourceManager& resources, bool keeps);

  const std::string& path() const override { return path_; }
  std::optional<Info> find(const std::string& name) const override;
  std::vector<std::string> names_with(const std::string& prefix) const override;
  Tensor read(const std::string& name) const override;
  // Only as a part that was one in the session.
  Tensor read_part(const std::string& name, const SaveSliceInfo& slice) const override;

 private:
  const std::vector<SaveSpec>& parts_of(const std::string& name) const;

  std::string path_ = "of a session";
  std::map<std::string, std::vector<SaveSpec>> tensors_;
};

}  // namespace runhooks
