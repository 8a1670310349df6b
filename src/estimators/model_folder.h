// What lives here: the files of a model's folder beside its checkpoints: what training puts in order, what a model takes
// along.
// Who may use it: estimators, the bindings.
// What it must not know: models, graphs, R.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace runhooks {

// What a model knows of its data, which the embedding language writes there.
constexpr const char* kRecordName = "runhooks.data";

// TRUE also where the state file is one that cannot be read: whoever reads it says so.
bool has_checkpoint(const std::string& folder);

// While one lives a model is trained in the folder. Afterwards, however that ended, its event files
// are in logs/, where TensorBoard, pointed at the folder, finds them (unless they are to be left
// where they are); and where there is no checkpoint yet nothing is left that training has made.
class FolderInTraining {
 public:
  explicit FolderInTraining(std::string folder, bool leaves_events = false);
  ~FolderInTraining();
  FolderInTraining(const FolderInTraining&) = delete;
  FolderInTraining& operator=(const FolderInTraining&) = delete;

 private:
  std::string folder_;
  bool was_there_, leaves_events_;
};

// Names and bytes.
using Files = std::vector<std::pair<std::string, std::string>>;

// What makes the model anew in another folder: its newest checkpoint, the state file, the record.
// None where there is no checkpoint.
Files files_to_carry(const std::string& folder);
// Into a folder that is there. Files that no model carries are refused before any is written.
void write_carried_files(const std::string& folder, const Files& files);

}  // namespace runhooks
