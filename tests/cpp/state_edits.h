// What somebody may have done to a state in a checkpoint: each of its parts changed in each way.
#pragma once

#include <random>
#include <string>
#include <vector>

#include "graph/saveable.h"

namespace runhooks_test {

struct EditedState {
  std::string what;  // was done, for messages
  runhooks::NamedTensors state;
};

// Everything as text, so that states can be compared.
std::string text_of(const runhooks::NamedTensors& state);

// Each part by itself: gone, of another type, with none, twice as many or no end of elements, and
// with each value that might lead somewhere.
std::vector<EditedState> each_edit(const runhooks::NamedTensors& state, std::mt19937_64& random);
// Several of these at once.
EditedState random_edits(const runhooks::NamedTensors& state, std::mt19937_64& random);

// A checkpoint of these tensors.
class StateSource : public runhooks::TensorSource {
 public:
  explicit StateSource(runhooks::NamedTensors state) : state_(std::move(state)) {}
  const std::string& path() const override { return path_; }
  std::optional<Info> find(const std::string& name) const override;
  std::vector<std::string> names_with(const std::string& prefix) const override;
  runhooks::Tensor read(const std::string& name) const override;
  runhooks::Tensor read_part(const std::string& name,
                             const runhooks::SaveSliceInfo& slice) const override;

 private:
  std::string path_ = "edited";
  runhooks::NamedTensors state_;
};

// What this one saves now.
runhooks::NamedTensors saved_by(runhooks::Saveable& saveable,
                                runhooks::ResourceManager& resources);
// What all of them save, each below its name.
runhooks::NamedTensors saved_by(const std::vector<runhooks::SaveablePtr>& saveables,
                                runhooks::ResourceManager& resources);

}  // namespace runhooks_test
