// What lives here: RunFolder, all that a model's folder is: its checkpoints, what was trained there, who may write.
// Who may use it: estimators, the bindings.
// What it must not know: models, graphs, R.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "io/files/directory_lock.h"
#include "io/files/plain_data.h"

namespace runhooks {

// What was trained in the folder, as plain data.
constexpr const char* kRecordName = "runhooks.data";
// Held by the process that trains there.
constexpr const char* kClaimName = ".runhooks.lock";

// The newest checkpoint of a folder.
struct NewestCheckpoint {
  // TRUE also where the state file is one that cannot be read: whoever reads it says so.
  bool is_there = false;
  std::string path;
  int64_t step = 0;
  // To be compared: "step:fingerprint of its index". Another training of as many steps has other
  // check sums there. "" where there is none that can be read.
  std::string mark;
};
NewestCheckpoint newest_checkpoint_in(const std::string& folder);

// A folder as a call finds it: read once, when it is made.
class RunFolder {
 public:
  explicit RunFolder(std::string path);
  // The same; one that was read before is read no more while its files are as they were.
  static std::shared_ptr<const RunFolder> known(const std::string& path);
  // As NewestCheckpoint has it; the global step of the newest one.
  bool has_checkpoint() const { return newest_.is_there; }
  int64_t step() const { return newest_.step; }
  const std::string& mark() const { return newest_.mark; }
  // What was trained there. Its kind is NULL where the file is none of plain data, too.
  bool has_metadata() const { return has_memory_; }
  const PlainData& memory() const { return memory_; }
  // Whether a training could write there, or make the folder. Nothing is left of the trial.
  bool can_be_written() const;
  // Remembers it, in the place of what was known.
  static void remember(const std::string& path, const PlainData& memory);
  // How many calls of this process asked for one.
  static int64_t reads();

 private:
  std::string path_;
  NewestCheckpoint newest_;
  bool has_memory_ = false;
  PlainData memory_;
};

// While one lives a model is trained in the folder, by no other process. Afterwards, however that
// ended, its event files are in logs/, where TensorBoard, pointed at the folder, finds them (unless
// they are to be left where they are); and where there is no checkpoint yet nothing is left that
// training has made.
class TrainingDirGuard {
 public:
  // Where another process trains there it is an error that names it.
  explicit TrainingDirGuard(std::string folder, bool leaves_events = false);
  ~TrainingDirGuard();
  TrainingDirGuard(const TrainingDirGuard&) = delete;
  TrainingDirGuard& operator=(const TrainingDirGuard&) = delete;

 private:
  void tidy_up() const;
  std::string folder_;
  bool was_there_, had_runs_, leaves_events_;
  // NULL within another training of this process in the folder, which a hook may begin.
  std::unique_ptr<DirectoryLock> claim_;
};

// Names and bytes.
using Files = std::vector<std::pair<std::string, std::string>>;

// What makes the model anew in another folder: its newest checkpoint, the state file, what was
// trained, the record of its runs. None where there is no checkpoint. The values of one that has more
// than `most_bytes` are left out: then what is left says which it is. `checkpoint`: another one than
// the newest, which may be elsewhere.
Files pack_snapshot(const std::string& folder,
                     uint64_t most_bytes,
                     const std::string& checkpoint = "");
// Into a folder that is there. Files that no model carries are refused before any is written. Values
// that were left out are copied from `from`.
void unpack_snapshot(const std::string& folder, const Files& files, const std::string& from);

// How a folder goes with files that were carried away from it.
struct SnapshotStatus {
  std::string checkpoint;   // the name of the one that was carried away, "" where none was
  int64_t newest_step = -1; // of the folder's newest checkpoint, if it has one
  bool is_newest = false;   // which is this one
  bool is_there = false;    // the folder has this one still
  bool has_values = false;  // the files make the model anew without the folder
};
SnapshotStatus compare_snapshot(const std::string& folder, const Files& files);

}  // namespace runhooks
