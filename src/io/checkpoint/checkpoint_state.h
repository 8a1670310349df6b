// The `checkpoint` file of a folder, which names its checkpoints, the newest last.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace runhooks {

struct CheckpointState {
  std::string model_checkpoint_path;  // the newest
  std::vector<std::string> all_model_checkpoint_paths;
  std::vector<double> all_model_checkpoint_timestamps;
  double last_preserved_timestamp = 0;
};

constexpr const char* kCheckpointStateName = "checkpoint";

// The text of the file, as TensorFlow writes it.
std::string checkpoint_state_text(const CheckpointState& state);
// FALSE where the text is not one; *problem says why.
bool parse_checkpoint_state(const std::string& text, CheckpointState* state, std::string* problem);

// A state for DIR/checkpoint with the newest checkpoint at its end. With `relative` paths within
// `dir` are written relative to it, as Estimator does; they are in any case where `dir` itself is a
// relative path.
CheckpointState make_checkpoint_state(const std::string& dir,
                                      const std::string& newest,
                                      std::vector<std::string> all,
                                      bool relative);
// Atomically.
void write_checkpoint_state(const std::string& dir,
                            const CheckpointState& state,
                            const std::string& name = kCheckpointStateName);

// The state with paths that do not depend on the folder. Nothing where there is no file; nothing
// and a line or two in *warnings, which the caller logs, where it cannot be read or is no state.
// One that names no checkpoint is an error.
std::optional<CheckpointState> read_checkpoint_state(
    const std::string& dir,
    std::vector<std::string>* warnings,
    const std::string& name = kCheckpointStateName);

// A checkpoint of this prefix is there: its index, or the one file of version 1.
bool checkpoint_exists(const std::string& prefix);
// How closely a checkpoint is looked at: whether its files are whole, or all that they hold, too.
enum class CheckpointLook { kFiles, kContent };
// Why one that is there cannot be read; "" where it can.
std::string checkpoint_problem(const std::string& prefix, CheckpointLook look);
// What is said where another one, `path`, is restored instead of the newest.
std::string goes_back_to(const std::string& path);

// All that the state names, the newest first.
std::vector<std::string> newest_first(const CheckpointState& state);

// The prefix of the newest checkpoint that the state names and that can be read: whoever passes one
// over says so in *warnings. "" where there is none.
std::string latest_checkpoint(const std::string& dir,
                              std::vector<std::string>* warnings,
                              const std::string& name = kCheckpointStateName,
                              CheckpointLook look = CheckpointLook::kFiles);

}  // namespace runhooks
