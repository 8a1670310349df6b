#include "io/checkpoint/checkpoint_state.h"

#include <algorithm>
#include <filesystem>

#include "io/checkpoint/tensor_bundle.h"
#include "io/files/atomic_file.h"
#include "io/proto/text_format.h"
#include "io/proto/wire.h"

namespace runhooks {

namespace fs = std::filesystem;

namespace {

constexpr const char* kMessage = "CheckpointState";

std::string to_bytes(const CheckpointState& state) {
  WireWriter out;
  out.add_bytes(1, state.model_checkpoint_path);
  for (const std::string& path : state.all_model_checkpoint_paths) out.put_bytes(2, path);
  out.add_packed_doubles(3, state.all_model_checkpoint_timestamps.data(),
                         state.all_model_checkpoint_timestamps.size());
  return out.add_double(4, state.last_preserved_timestamp).take();
}

CheckpointState from_bytes(const std::string& bytes) {
  CheckpointState state;
  for (WireReader r(bytes, kCheckpointStateName); r.next();) {
    if (r.field() == 1) state.model_checkpoint_path = r.text();
    if (r.field() == 2) state.all_model_checkpoint_paths.push_back(r.text());
    if (r.field() == 3) r.append_doubles(state.all_model_checkpoint_timestamps);
    if (r.field() == 4) state.last_preserved_timestamp = r.float64();
  }
  return state;
}

std::string relative_to(const std::string& path, const std::string& dir) {
  const fs::path to = fs::absolute(fs_path(path)).lexically_normal();
  const fs::path folder = fs::absolute(fs_path(dir.empty() ? "." : dir));
  // Appending "/" and taking the parent makes "a/" and "a/." equal to "a".
  const fs::path from = (folder / "").lexically_normal().parent_path();
  const fs::path result = to.lexically_relative(from);
  return path_text(result.empty() ? to : result);  // there is no relative path to another drive
}

void warn(std::vector<std::string>* warnings, const std::string& text) {
  if (warnings) warnings->push_back(text);
}

}  // namespace

std::string checkpoint_state_text(const CheckpointState& state) {
  return proto_to_text(to_bytes(state), kMessage, kCheckpointStateName);
}

bool parse_checkpoint_state(const std::string& text, CheckpointState* state, std::string* problem) {
  std::string bytes;
  if (!text_to_proto(text, kMessage, &bytes, problem)) return false;
  *state = from_bytes(bytes);
  return true;
}

CheckpointState make_checkpoint_state(const std::string& dir,
                                      const std::string& newest,
                                      std::vector<std::string> paths,
                                      bool relative) {
  CheckpointState state;
  if (paths.empty() || paths.back() != newest) paths.push_back(newest);
  const bool dir_is_absolute = is_absolute_path(dir);
  for (std::string& path : paths) {
    // A relative `path` refers to `dir` if that is absolute, otherwise to the working directory.
    const bool converts = relative ? is_absolute_path(path) || !dir_is_absolute
                                   : !is_absolute_path(path) && !dir_is_absolute;
    if (converts) path = relative_to(path, dir);
  }
  state.model_checkpoint_path = paths.back();
  state.all_model_checkpoint_paths = std::move(paths);
  return state;
}

void write_checkpoint_state(const std::string& dir,
                            const CheckpointState& state,
                            const std::string& name) {
  write_file_atomically(join_path(dir, name), checkpoint_state_text(state));
}

std::optional<CheckpointState> read_checkpoint_state(const std::string& dir,
                                                     std::vector<std::string>* warnings,
                                                     const std::string& name) {
  const std::string path = join_path(dir, name);
  if (!file_exists(path)) return std::nullopt;
  CheckpointState state;
  std::string problem;
  try {
    if (!parse_checkpoint_state(read_whole_file(path), &state, &problem)) {
      problem = "ParseError: " + problem;
    }
  } catch (const Error& error) {
    problem = error.message();
  }
  if (!problem.empty()) {
    warn(warnings, problem);
    warn(warnings, path + ": Checkpoint ignored");
    return std::nullopt;
  }
  if (state.model_checkpoint_path.empty()) {
    throw Error(Code::kInvalidArgument,
                str_cat("Invalid checkpoint state loaded from ", dir, ": '", path,
                        "' names no model_checkpoint_path."),
                {"Remove the file to start again, or name the checkpoint to start from in it."});
  }
  state.model_checkpoint_path = join_path(dir, state.model_checkpoint_path);
  for (std::string& p : state.all_model_checkpoint_paths) p = join_path(dir, p);
  return state;
}

std::string fallback_notice(const std::string& path) {
  return str_cat(" The checkpoint before it, ", path, ", is used.");
}

std::string checkpoint_problem(const std::string& prefix, CheckpointCheck check) {
  const bool is_bundle = file_exists(prefix + ".index");
  // Version 1 has a single file without an index, which is not checked.
  return is_bundle ? bundle_problem(prefix, check == CheckpointCheck::kContent) : "";
}

bool checkpoint_exists(const std::string& prefix) {
  return file_exists(prefix + ".index") || (file_exists(prefix) && !is_directory(prefix));
}

std::vector<std::string> newest_first(const CheckpointState& state) {
  std::vector<std::string> paths = {state.model_checkpoint_path};
  const auto& listed = state.all_model_checkpoint_paths;
  for (auto path = listed.rbegin(); path != listed.rend(); ++path) {
    if (std::find(paths.begin(), paths.end(), *path) == paths.end()) paths.push_back(*path);
  }
  return paths;
}

std::string latest_checkpoint(const std::string& dir,
                              std::vector<std::string>* warnings,
                              const std::string& name,
                              CheckpointCheck check) {
  const auto state = read_checkpoint_state(dir, warnings, name);
  if (!state) return "";
  std::vector<std::string> skipped_messages;
  for (const std::string& path : newest_first(*state)) {
    if (!checkpoint_exists(path)) {
      skipped_messages.push_back("Couldn't match files for checkpoint " +
                                 path);  // TensorFlow's message
      continue;
    }
    const std::string problem = checkpoint_problem(path, check);
    if (problem.empty()) {
      for (const std::string& message : skipped_messages) {
        warn(warnings, message + (message.back() == '.' ? "" : ".") + fallback_notice(path));
      }
      return path;
    }
    skipped_messages.push_back(str_cat("Checkpoint ", path, " cannot be read: ", problem));
  }
  // The newest checkpoint exists but is damaged. Returns it, so that reading it reports the
  // problem.
  if (checkpoint_exists(state->model_checkpoint_path)) return state->model_checkpoint_path;
  warn(warnings, skipped_messages.front());
  return "";
}

}  // namespace runhooks
