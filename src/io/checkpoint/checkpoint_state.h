// Reads and writes the `checkpoint` file of a directory, which lists its checkpoints, newest last.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace runhooks {

struct CheckpointState {
  std::string model_checkpoint_path;
  std::vector<std::string> all_model_checkpoint_paths;
  std::vector<double> all_model_checkpoint_timestamps;
  double last_preserved_timestamp = 0;
};

constexpr const char* kCheckpointStateName = "checkpoint";

std::string checkpoint_state_text(const CheckpointState& state);
// Parses the text of a state file. If that fails, returns FALSE and sets `*problem` to the reason.
bool parse_checkpoint_state(const std::string& text, CheckpointState* state, std::string* problem);

// Makes the content of DIR/checkpoint, with `newest` as the last checkpoint. Paths are stored
// relative to `dir` if `relative`, as Estimator does, or if `dir` itself is relative.
CheckpointState make_checkpoint_state(const std::string& dir,
                                      const std::string& newest,
                                      std::vector<std::string> all,
                                      bool relative);
void write_checkpoint_state(const std::string& dir,
                            const CheckpointState& state,
                            const std::string& name = kCheckpointStateName);

// Reads DIR/checkpoint; the paths of the result are joined to `dir`. Returns nothing if the file is
// missing or, with a line in `*warnings`, unreadable. Throws if the file names no checkpoint.
std::optional<CheckpointState> read_checkpoint_state(
    const std::string& dir,
    std::vector<std::string>* warnings,
    const std::string& name = kCheckpointStateName);

// Whether the index of a checkpoint exists, or the single file of a checkpoint of version 1.
bool checkpoint_exists(const std::string& prefix);
// How to check a checkpoint: kFiles checks that its files are complete; kContent also reads all
// tensors.
enum class CheckpointCheck { kFiles, kContent };
// Returns the reason why an existing checkpoint cannot be read; "" if it can be read.
std::string checkpoint_problem(const std::string& prefix, CheckpointCheck check);
// Returns the end of a warning about a checkpoint that cannot be read. It names `path`, the older
// checkpoint that is used instead.
std::string fallback_notice(const std::string& path);

// Returns all checkpoints that the state lists, without duplicates, newest first.
std::vector<std::string> newest_first(const CheckpointState& state);

// Returns the prefix of the newest checkpoint that can be read, or "". Checkpoints that cannot be
// read are skipped and reported in `*warnings`.
std::string latest_checkpoint(const std::string& dir,
                              std::vector<std::string>* warnings,
                              const std::string& name = kCheckpointStateName,
                              CheckpointCheck check = CheckpointCheck::kFiles);

}  // namespace runhooks
