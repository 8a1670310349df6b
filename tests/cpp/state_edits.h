// Edits of saved states. Each entry is changed in all ways that could crash the code that reads it.
#pragma once

#include <random>
#include <string>
#include <vector>

#include "graph/saveable.h"

namespace runhooks_test {

struct EditedState {
  std::string description;  // the edit, for messages
  runhooks::NamedTensors state;
};

// Returns the state as text, for comparisons.
std::string text_of(const runhooks::NamedTensors& state);

// Returns edits of single entries. An entry is removed, gets another type, an empty, doubled or
// huge shape, or values that are often invalid, such as -1.
std::vector<EditedState> single_edits(const runhooks::NamedTensors& state, std::mt19937_64& random);
// Makes several random edits of one state.
EditedState random_edits(const runhooks::NamedTensors& state, std::mt19937_64& random);

// A checkpoint that contains these tensors.
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

// Returns the state that `saveable` saves now.
runhooks::NamedTensors saved_by(runhooks::Saveable& saveable, runhooks::ResourceManager& resources);
// Returns the states of all saveables, with their names as prefixes.
runhooks::NamedTensors saved_by(const std::vector<runhooks::SaveablePtr>& saveables,
                                runhooks::ResourceManager& resources);

}  // namespace runhooks_test
