#include "estimators/run/run_folder.h"

#include <algorithm>
#include <cstring>

#include "base/clock.h"
#include "base/fingerprint.h"
#include "base/machine.h"
#include "estimators/run/run_record.h"
#include "io/checkpoint/cached_checkpoint.h"
#include "io/checkpoint/checkpoint_state.h"
#include "io/files/atomic_file.h"
#include "training/saved_step.h"

namespace runhooks {

namespace {

constexpr const char* kEventFile = "events.out.tfevents.";

constexpr const char* kIndexEnding = ".index";
constexpr const char* kDataPart = ".data-";

bool has_ending(const std::string& name, const std::string& ending) {
  return name.size() > ending.size() &&
         name.compare(name.size() - ending.size(), ending.size(), ending) == 0;
}

// Returns `path` of an event file, or the same path with a later time if the file exists. Names
// contain the time in seconds, and a short run may end within a second.
std::string unused_path(std::string path) {
  const size_t begin = path.rfind(kEventFile) + std::string(kEventFile).size();
  while (file_exists(path)) {
    const size_t end = path.find_first_not_of("0123456789", begin);
    const std::string digits = path.substr(begin, end == std::string::npos ? end : end - begin);
    if (digits.empty() || digits.size() > 15) return path + "-more";
    const std::string later = std::to_string(std::stoll(digits) + 1);
    const size_t zeros = digits.size() > later.size() ? digits.size() - later.size() : 0;
    path.replace(begin, digits.size(), std::string(zeros, '0') + later);
  }
  return path;
}

void collect_event_files(const std::string& folder) {
  const std::string logs = join_path(folder, "logs");
  for (const std::string& name : list_directory(folder)) {
    const std::string path = join_path(folder, name);
    if (name.rfind(kEventFile, 0) != 0 || is_directory(path)) continue;
    create_directories(logs);
    rename_file(path, unused_path(join_path(logs, name)));
  }
}

bool is_snapshot_file(const std::string& name) {
  if (name == kCheckpointStateName || name == kRecordName || name == kRunsName) return true;
  const bool is_plain_name = base_name(name) == name && name.find('\\') == std::string::npos &&
                             name.find(':') == std::string::npos && name[0] != '.';
  const size_t dot = name.rfind('.');
  if (!is_plain_name || dot == std::string::npos) return false;
  const std::string ending = name.substr(dot);
  return ending == kIndexEnding || ending.rfind(kDataPart, 0) == 0;
}

Files::const_iterator index_of(const Files& files) {
  return std::find_if(files.begin(), files.end(),
                      [](const auto& file) { return has_ending(file.first, kIndexEnding); });
}

std::string snapshot_checkpoint(const Files& files) {
  const auto index = index_of(files);
  if (index == files.end()) return "";
  return index->first.substr(0, index->first.size() - std::strlen(kIndexEnding));
}

bool has_values(const Files& files) {
  return std::any_of(files.begin(), files.end(), [](const auto& file) {
    return file.first.find(kDataPart) != std::string::npos;
  });
}

std::vector<std::string> values_of(const std::string& folder, const std::string& checkpoint) {
  return list_names_with_prefix(folder, checkpoint + kDataPart);
}

void copy_values(const std::string& from, const std::string& to) {
  InputFile input(from);
  AtomicFile output(to);
  std::vector<char> bytes(1 << 20);
  while (const size_t size = input.read(bytes.data(), bytes.size())) {
    output.write(bytes.data(), size);
  }
  output.commit();
}

std::string checkpoint_id_of(const std::string& checkpoint, int64_t step) {
  const std::string index = checkpoint + kIndexEnding;
  if (!file_exists(index)) return "";
  return str_cat(step, ":", fingerprint64(read_whole_file(index)));
}

// A recently read directory. `folder` is set once the same checkpoint has been requested twice.
struct CachedFolder {
  std::string path, newest;
  CachedCheckpoint checkpoint;
  std::shared_ptr<const RunFolder> folder;
};

constexpr size_t kMaxCachedFolders = 8;
// The limit for metadata in the cache. Many class names or factor levels can make them large.
constexpr uint64_t kMaxCachedBytes = 1 << 20;
// Records the current file versions unless the metadata are too large to cache. Errors are ignored
// here, because reading the files reports them.
bool record_file_versions(CachedFolder& folder) {
  try {
    const std::string record = join_path(folder.path, kRecordName);
    const bool is_small = !file_exists(record) || file_size(record) <= kMaxCachedBytes;
    return is_small && folder.checkpoint.note(folder.path, folder.newest, {kRecordName});
  } catch (const Error&) {
    return false;
  }
}

CachedFolder& cached_folder(const std::string& path) {
  static auto* folders = new std::vector<CachedFolder>;
  auto found = std::find_if(folders->begin(), folders->end(),
                            [&path](const CachedFolder& folder) { return folder.path == path; });
  if (found == folders->end()) {
    if (folders->size() == kMaxCachedFolders) folders->pop_back();
    found = folders->emplace(folders->end());
    found->path = path;
  }
  std::rotate(folders->begin(), found, found + 1);
  return folders->front();
}

int64_t num_directory_reads = 0;

// Also true if the state file cannot be read, because later reads report the error.
bool has_checkpoint(const std::string& folder) {
  try {
    std::vector<std::string> warnings;
    return !latest_checkpoint(folder, &warnings).empty();
  } catch (const Error&) {
    return true;
  }
}

std::string describe_owner(const LockOwner& owner) {
  if (owner.process == 0) return "Another process";
  return str_cat("Process ", owner.process, " on ", owner.host, ", since ",
                 local_time_text(owner.since, "%Y-%m-%d %H:%M:%S"), ",");
}

std::unique_ptr<DirectoryLock> acquire_lock(const std::string& folder) {
  const std::string path = join_path(folder, kLockName);
  if (DirectoryLock::holds(path)) {
    // The last checkpoint of the outer training would replace the weights of the inner training.
    throw Error(Code::kFailedPrecondition,
                str_cat("A training in '", folder, "' is running in this process."),
                {"A hook cannot train its own model. Use another `model_dir`."});
  }
  create_directories(folder);
  LockOwner owner;
  std::unique_ptr<DirectoryLock> lock = DirectoryLock::take(path, &owner);
  if (lock) return lock;
  std::vector<std::string> hints = {
      "Two trainings in one directory would overwrite each other's checkpoints. Wait until the "
      "other one ends, or use another `model_dir`."};
  // A file system without locks keeps the lock file of a process that was killed.
  if (owner.host != host_name()) {
    hints.push_back(str_cat("If that process no longer runs, remove the file ", path, "."));
  }
  throw Error(Code::kFailedPrecondition,
              str_cat("Another training runs in directory ", folder, ". ", describe_owner(owner),
                      " trains a model there."),
              hints);
}

}  // namespace

NewestCheckpoint newest_checkpoint_in(const std::string& folder) {
  NewestCheckpoint newest;
  newest.exists = true;
  try {
    std::vector<std::string> warnings;  // reported when the checkpoint is restored
    newest.path = latest_checkpoint(folder, &warnings);
    newest.exists = !newest.path.empty();
    if (!newest.exists) return newest;
    newest.step = step_in(newest.path);
    newest.checkpoint_id = checkpoint_id_of(newest.path, newest.step);
  } catch (const Error&) {  // reported when the checkpoint is restored
  }
  return newest;
}

RunFolder::RunFolder(std::string path) : path_(std::move(path)) {
  ++num_directory_reads;
  const std::string file = join_path(path_, kRecordName);
  has_metadata_ = file_exists(file);
  try {
    if (has_metadata_) metadata_ = read_plain_file(file);
  } catch (const Error&) {
    metadata_ = PlainData();  // damage is reported when the metadata are used
  }
  newest_ = newest_checkpoint_in(path_);
}

std::shared_ptr<const RunFolder> RunFolder::cached(const std::string& path) {
  CachedFolder& last = cached_folder(path);
  if (last.folder && !last.checkpoint.in(path).empty()) {
    ++num_directory_reads;
    return last.folder;
  }
  last.folder.reset();
  // Caches a directory only at the second request for the same checkpoint, because training
  // requests each checkpoint once.
  const bool is_set = record_file_versions(last);
  auto current = std::make_shared<const RunFolder>(path);
  if (is_set && current->newest_.path == last.newest) last.folder = current;
  last.newest = current->newest_.path;
  return current;
}

bool RunFolder::can_be_written() const {
  std::string existing = path_;
  while (!file_exists(existing) && !parent_folder(existing).empty() &&
         parent_folder(existing) != existing) {
    existing = parent_folder(existing);
  }
  return is_directory(existing) && is_writable_folder(existing);
}

void RunFolder::write_metadata(const std::string& path, const PlainData& metadata) {
  create_directories(path);
  write_plain_file(join_path(path, kRecordName), metadata);
}

int64_t RunFolder::reads() { return num_directory_reads; }

TrainingDirGuard::TrainingDirGuard(std::string folder, bool keeps_events)
    : folder_(std::move(folder)),
      existed_before_(file_exists(folder_)),
      had_runs_(file_exists(join_path(folder_, kRunsName))),
      keeps_events_(keeps_events),
      lock_(acquire_lock(folder_)) {
  remove_stale_files(folder_, {kRecordName, kRunsName});
}

void TrainingDirGuard::clean_up() const {
  if (!is_directory(folder_)) return;
  if (!keeps_events_) collect_event_files(folder_);
  if (has_checkpoint(folder_)) return;
  remove_file(join_path(folder_, kRecordName));
  if (!had_runs_) remove_file(join_path(folder_, kRunsName));
}

TrainingDirGuard::~TrainingDirGuard() {
  // Failures are ignored, because an exception may already be propagating. The files then remain.
  try {
    clean_up();
    lock_.reset();
    if (!existed_before_ && is_directory(folder_) && list_directory(folder_).empty()) {
      remove_file(folder_);
    }
  } catch (const Error&) {
  }
}

Files pack_snapshot(const std::string& folder, uint64_t max_bytes, const std::string& checkpoint) {
  Files files;
  const std::string path =
      checkpoint.empty() ? newest_weights(folder, CheckpointCheck::kFiles) : checkpoint;
  if (path.empty()) return files;
  const std::string name = base_name(path), directory = parent_folder(path);
  const auto add = [&files](const std::string& from, const std::string& file) {
    const std::string full = join_path(from, file);
    if (file_exists(full)) files.emplace_back(file, read_whole_file(full));
  };
  add(folder, kRecordName);
  add(directory, name + kIndexEnding);
  const std::vector<std::string> parts = values_of(directory, name);
  uint64_t bytes = 0;
  for (const std::string& part : parts) bytes += file_size(join_path(directory, part));
  for (const std::string& part : parts) {
    if (bytes <= max_bytes) add(directory, part);
  }
  files.emplace_back(kCheckpointStateName,
                     checkpoint_state_text(make_checkpoint_state("", name, {}, true)));
  return files;
}

void unpack_snapshot(const std::string& folder, const Files& files, const std::string& from) {
  for (const auto& file : files) {
    if (is_snapshot_file(file.first)) continue;
    invalid_argument("The saved model contains file '", file.first,
                     "', which is not part of a checkpoint. No files were written.");
  }
  for (const auto& file : files) write_file_atomically(join_path(folder, file.first), file.second);
  const std::string checkpoint = snapshot_checkpoint(files);
  if (checkpoint.empty() || has_values(files)) return;
  for (const std::string& name : values_of(from, checkpoint)) {
    copy_values(join_path(from, name), join_path(folder, name));
  }
}

SnapshotStatus compare_snapshot(const std::string& folder, const Files& files) {
  SnapshotStatus status;
  const auto index = index_of(files);
  std::vector<std::string> warnings;
  std::string newest;
  try {
    if (is_directory(folder)) newest = latest_checkpoint(folder, &warnings);
    if (!newest.empty()) status.newest_step = step_in(newest);
  } catch (const Error&) {  // reported when the checkpoint is read
  }
  if (index == files.end()) return status;
  status.checkpoint = snapshot_checkpoint(files);
  status.has_values = has_values(files);
  const std::string path = join_path(folder, index->first);
  status.exists = file_exists(path) && read_whole_file(path) == index->second;
  status.is_newest = status.exists && base_name(newest) == status.checkpoint;
  return status;
}

}  // namespace runhooks
