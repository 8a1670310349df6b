#include "io/checkpoint/cached_checkpoint.h"

#include "io/checkpoint/checkpoint_state.h"
#include "io/files/atomic_file.h"

namespace runhooks {

namespace {

void add_files_of(const std::string& checkpoint, FileVersions& versions) {
  const std::string folder = parent_folder(checkpoint), name = base_name(checkpoint);
  for (const std::string& file : {name, name + ".index"}) {
    if (file_exists(join_path(folder, file))) versions.add(join_path(folder, file));
  }
  for (const std::string& file : list_names_with_prefix(folder, name + ".data-")) {
    versions.add(join_path(folder, file));
  }
}

bool is_newest(const std::string& folder, const std::string& checkpoint) {
  std::vector<std::string> warnings;
  const auto state = read_checkpoint_state(folder, &warnings);
  return state && warnings.empty() && state->model_checkpoint_path == checkpoint;
}

}  // namespace

bool CachedCheckpoint::note(const std::string& folder,
                            const std::string& checkpoint,
                            const std::vector<std::string>& other_files) {
  checkpoint_.clear();
  if (checkpoint.empty()) return false;
  // Records the versions of the files before they are read, so that a concurrent write invalidates
  // the cache.
  FileVersions versions;
  versions.add(join_path(folder, kCheckpointStateName));
  for (const std::string& name : other_files) versions.add(join_path(folder, name));
  add_files_of(checkpoint, versions);
  if (!is_newest(folder, checkpoint) || !versions.unchanged()) return false;
  folder_ = folder;
  checkpoint_ = checkpoint;
  versions_ = std::move(versions);
  return true;
}

const std::string& CachedCheckpoint::in(const std::string& folder) const {
  static const auto* no_checkpoint = new std::string;
  return is_set() && folder == folder_ && versions_.unchanged() ? checkpoint_ : *no_checkpoint;
}

}  // namespace runhooks
