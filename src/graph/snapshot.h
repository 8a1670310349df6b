// Snapshot, an in-memory checkpoint.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "graph/saveable.h"

namespace runhooks {

// The current values of Saveables of a session, to restore later or in another session.
class Snapshot : public TensorSource {
 public:
  // Without `copies_values`, the snapshot shares the buffers of the session and is valid only until
  // the next run.
  Snapshot(const std::vector<SaveablePtr>& saveables,
           ResourceManager& resources,
           bool copies_values);

  const std::string& path() const override { return path_; }
  std::optional<Info> find(const std::string& name) const override;
  std::vector<std::string> names_with(const std::string& prefix) const override;
  Tensor read(const std::string& name) const override;
  // Throws unless the session had a variable with exactly this slice.
  Tensor read_part(const std::string& name, const SaveSliceInfo& slice) const override;

 private:
  const std::vector<SaveSpec>& parts_of(const std::string& name) const;

  std::string path_ = "of a session";
  std::map<std::string, std::vector<SaveSpec>> tensors_;
};

}  // namespace runhooks
