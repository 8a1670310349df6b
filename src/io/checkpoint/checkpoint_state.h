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
// FALSE and a reason in `*problem` if the text cannot be parsed.
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

// Whether the index, or the single file of version 1, exists.
bool checkpoint_exists(const std::string& prefix);
// kFiles checks that the files are complete; kContent also reads all tensors.
enum class CheckpointCheck { kFiles, kContent };
// The reason why an existing checkpoint cannot be read; "" if it can.
std::string checkpoint_problem(const std::string& prefix, CheckpointCheck check);
// The end of a warning: names the older checkpoint that is used instead.
std::string fallback_notice(const std::string& path);

// All checkpoints of the state without duplicates, newest first.
std::vector<std::string> newest_first(const CheckpointState& state);

// The prefix of the newest readable checkpoint, or "". Skipped checkpoints are reported in
// `*warnings`.
std::string latest_checkpoint(const std::string& dir,
                              std::vector<std::string>* warnings,
                              const std::string& name = kCheckpointStateName,
                              CheckpointCheck check = CheckpointCheck::kFiles);

}  // namespace runhooks
