// RunFolder: the contents of a model directory: checkpoints, metadata, and the training lock.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "io/files/directory_lock.h"
#include "io/files/plain_data.h"

namespace runhooks {

constexpr const char* kRecordName = "runhooks.data";
constexpr const char* kLockName = ".runhooks.lock";

struct NewestCheckpoint {
  // Also true if the state file cannot be read: a later read of the checkpoint reports the error.
  bool exists = false;
  std::string path;
  int64_t step = 0;
  // "<step>:<fingerprint of the index file>". The fingerprint distinguishes trainings with the same
  // number of steps. "" if no checkpoint can be read.
  std::string checkpoint_id;
};
NewestCheckpoint newest_checkpoint_in(const std::string& folder);

// A snapshot of a model directory, read once on construction.
class RunFolder {
 public:
  explicit RunFolder(std::string path);
  // Rereads the directory only if its files have changed.
  static std::shared_ptr<const RunFolder> cached(const std::string& path);
  bool has_checkpoint() const { return newest_.exists; }
  int64_t step() const { return newest_.step; }
  const std::string& checkpoint_id() const { return newest_.checkpoint_id; }
  // The metadata of the trained model. metadata() is NULL if the file is damaged.
  bool has_metadata() const { return has_metadata_; }
  const PlainData& metadata() const { return metadata_; }
  // Whether training could write to the directory or create it. Leaves no files.
  bool can_be_written() const;
  static void write_metadata(const std::string& path, const PlainData& metadata);
  // Returns the number of constructions and cache hits in this process.
  static int64_t reads();

 private:
  std::string path_;
  NewestCheckpoint newest_;
  bool has_metadata_ = false;
  PlainData metadata_;
};

// Holds the training lock of a model directory. On destruction, moves event files to logs/ below
// it, where TensorBoard finds them (unless `keeps_events`). If no checkpoint was written, removes
// the files that training created.
//
//   .runhooks.lock   exists while a process trains here
//   runhooks.data    metadata of the model
//   runhooks.runs    log of the runs
//   checkpoint       state file; names the newest checkpoint
//   logs/            event files of finished runs
class TrainingDirGuard {
 public:
  explicit TrainingDirGuard(std::string folder, bool keeps_events = false);
  ~TrainingDirGuard();
  TrainingDirGuard(const TrainingDirGuard&) = delete;
  TrainingDirGuard& operator=(const TrainingDirGuard&) = delete;

 private:
  void clean_up() const;
  std::string folder_;
  bool existed_before_, had_runs_, keeps_events_;
  std::unique_ptr<DirectoryLock> lock_;
};

using Files = std::vector<std::pair<std::string, std::string>>;

// Packs the files that recreate the model in another directory: newest checkpoint, state file,
// metadata and run log; empty without a checkpoint. Omits the variable values if they exceed
// `max_bytes`; the other files still identify the checkpoint. `checkpoint` selects a checkpoint
// other than the newest, possibly from another directory.
Files pack_snapshot(const std::string& folder,
                    uint64_t max_bytes,
                    const std::string& checkpoint = "");
// Writes the files to an existing directory. Throws before writing if a file name is not allowed.
// Omitted values are copied from the directory `from`.
void unpack_snapshot(const std::string& folder, const Files& files, const std::string& from);

struct SnapshotStatus {
  std::string checkpoint;    // name of the packed checkpoint, or ""
  int64_t newest_step = -1;  // step of the directory's newest checkpoint; -1: none
  bool is_newest = false;    // the packed checkpoint is still the newest
  bool exists = false;       // the directory still has the packed checkpoint
  bool has_values = false;   // the snapshot contains the variable values
};
SnapshotStatus compare_snapshot(const std::string& folder, const Files& files);

}  // namespace runhooks
