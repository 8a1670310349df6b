// Tests the file operations of training in a model directory.
#include <filesystem>

#include "base/platform.h"
#include "estimators/run/run_folder.h"
#include "estimators/run/run_record.h"
#include "io/checkpoint/checkpoint_state.h"
#include "io/checkpoint/tensor_bundle.h"
#include "io/files/directory_lock.h"
#include "io/files/plain_fields.h"
#include "io_test.h"

using namespace runhooks;
using namespace runhooks_test;

namespace {

const std::string kEvents = "/events.out.tfevents.";

std::string names_in(const std::string& folder) { return str_join(list_directory(folder), " "); }

}  // namespace

TEST(event_files_of_training_go_to_logs_and_replace_none) {
  const std::string folder = fresh_folder("logs");
  for (const char* text : {"one", "two"}) {
    const TrainingDirGuard training(folder);
    write_bytes(folder + kEvents + "0999999999.host", text);
  }
  CHECK_EQ(read_whole_file(folder + "/logs" + kEvents + "0999999999.host"), "one");
  CHECK_EQ(read_whole_file(folder + "/logs" + kEvents + "1000000000.host"), "two");
  CHECK_EQ(names_in(folder), "logs");
}

TEST(a_training_without_a_checkpoint_leaves_nothing) {
  const std::string folder = fresh_folder("untrained") + "/model";
  {
    const TrainingDirGuard training(folder);
    create_directories(folder);
    write_bytes(folder + "/" + kRecordName, "x");
  }
  CHECK(!file_exists(folder));
  create_directories(folder);
  {
    const TrainingDirGuard training(folder);
    write_bytes(folder + "/" + kRecordName, "x");
  }
  CHECK_EQ(names_in(folder), "");  // the folder remains, because it existed before
  write_bytes(folder + "/model.ckpt-1.index", "x");
  write_bytes(folder + "/" + kRecordName, "x");
  write_checkpoint_state(folder, make_checkpoint_state(folder, folder + "/model.ckpt-1", {}, true));
  { const TrainingDirGuard training(folder); }
  CHECK(file_exists(folder + "/" + kRecordName));
}

TEST(an_existing_record_of_runs_is_kept) {
  const std::string folder = fresh_folder("runs");
  {
    const TrainingDirGuard training(folder);
    const RunRecord run(folder, 0, PlainFields());
  }
  CHECK_EQ(names_in(folder), "");
  const RunRecord killed(folder, 0, PlainFields());
  {
    const TrainingDirGuard training(folder);
    RunRecord run(folder, 0, PlainFields().add("version", "1"));
    const std::vector<PlainData> rows = run_rows(folder);
    CHECK_EQ(rows.size(), size_t{2});
    CHECK_EQ(text_field(rows[0], "why", ""), "killed");
    CHECK_EQ(text_field(rows[1], "why", ""), "running");
    run.end(7, {10, 2, 1}, {"data", "the input ended"}, {1, 2}, {"step 7", "done"});
  }
  const std::vector<PlainData> rows = run_rows(folder);
  CHECK_EQ(text_field(rows[1], "why", ""), "data");
  CHECK_EQ(text_field(rows[1], "version", ""), "1");
  CHECK_EQ(number_field(rows[1], "to", -1), 7.0);
  CHECK_EQ(number_field(rows[1], "rows", -1), 10.0);
  const PlainData* log = plain_field(rows[1], "log");
  CHECK(log && log->texts.size() == 2 && log->texts[1].bytes == "done");
  CHECK_EQ(number_field(rows[0], "to", -1), -1.0);
}

TEST(evaluations_belong_to_the_previous_run) {
  const std::string folder = fresh_folder("runs");
  record_evaluation(folder, "", 1, {{"loss", 1}});
  CHECK(run_rows(folder).empty());
  RunRecord first(folder, 0, PlainFields());
  record_evaluation(folder, "test", 1, {{"loss", 0.5}});
  const RunRecord second(folder, 1, PlainFields());
  first.end(1, RunInput(), {"data", ""}, {}, {});
  record_evaluation(folder, "", 2, {{"loss", 0.25}, {"auc", 1}});
  const std::vector<PlainData> rows = run_rows(folder);
  for (size_t i = 0; i < 2; ++i) {
    const PlainData& seen = *plain_field(rows[i], "evaluations");
    CHECK_EQ(seen.items.size(), size_t{1});
    CHECK_EQ(plain_field(seen.items[0], "metrics")->length(), i + 1);
  }
  CHECK_EQ(text_field(rows[0], "why", ""), "data");
}

// Simulates a training that a hook starts during another training in this process.
TEST(nested_training_in_a_folder_is_an_error) {
  const std::string folder = fresh_folder("nested");
  const TrainingDirGuard outer(folder);
  CHECK_THROWS(TrainingDirGuard(folder), Code::kFailedPrecondition, "running in this process");
  LockOwner holder;
  CHECK(DirectoryLock::is_held(join_path(folder, kLockName), &holder));
}

// On a file system without locks, the lock file of a killed process remains, and only its own host
// can detect that it has ended.
TEST(a_lock_of_another_host_is_an_error_that_names_its_file) {
  const DisabledFeatures without("file_locks");
  const std::string folder = fresh_folder("claimed"), path = join_path(folder, kLockName);
  PlainFields words;
  words.add("process", 5.0).add("host", "elsewhere").add("since", 1.0);
  write_bytes(path, write_plain_data(words.take()));
  try {
    const TrainingDirGuard training(folder);
    CHECK(false);
  } catch (const Error& error) {
    CHECK(error.message().find("Process 5 on elsewhere") != std::string::npos);
    CHECK(error.hints().back().find(path) != std::string::npos);
  }
  CHECK(file_exists(path));
  remove_file(path);
  { const TrainingDirGuard training(folder); }
  CHECK(!file_exists(path));
}

TEST(snapshots_contain_only_the_newest_checkpoint) {
  const std::string folder = fresh_folder("carried"), other = fresh_folder("elsewhere");
  CHECK(pack_snapshot(folder, UINT64_MAX).empty());
  for (const char* name : {"model.ckpt-1.index", "model.ckpt-2.meta", "secret", kRecordName}) {
    write_bytes(folder + "/" + name, name);
  }
  BundleWriter writer(folder + "/model.ckpt-2");
  writer.add("global_step", Tensor::scalar<int64_t>(2));
  writer.finish();
  write_checkpoint_state(folder, make_checkpoint_state(folder, folder + "/model.ckpt-2", {}, true));
  unpack_snapshot(other, pack_snapshot(folder, UINT64_MAX), folder);
  CHECK_EQ(names_in(other),
           "checkpoint model.ckpt-2.data-00000-of-00001 model.ckpt-2.index runhooks.data");
  CHECK_EQ(latest_checkpoint(other, nullptr), other + "/model.ckpt-2");
  // Large values are not part of the packed files; they stay in the folder until they are needed.
  const Files light = pack_snapshot(folder, 3);
  for (const auto& file : light) CHECK(file.first != "model.ckpt-2.data-00000-of-00001");
  const std::string later = fresh_folder("later");
  unpack_snapshot(later, light, folder);
  CHECK_EQ(names_in(later), names_in(other));
  for (const char* name : {"../x.index", "/x.index", "a/b.index", "..\\x.index", "c:x.index",
                           ".index", "", "x", "..", ".Rprofile", "runhooks.rds"}) {
    const std::string fresh = fresh_folder("refused");
    CHECK_THROWS(unpack_snapshot(fresh, {{"model.ckpt-1.index", "x"}, {name, "x"}}, ""),
                 Code::kInvalidArgument, name);
    CHECK_EQ(names_in(fresh), "");
  }
}

// Any change of the folder's files by any process is detected on the next use.
TEST(a_cached_folder_is_read_again_after_a_change) {
  const std::string folder = fresh_folder("known");
  const auto save = [&folder](int64_t step) {
    const std::string prefix = folder + "/model.ckpt-" + std::to_string(step);
    BundleWriter writer(prefix);
    writer.add("global_step", Tensor::scalar<int64_t>(step));
    writer.finish();
    write_checkpoint_state(folder, make_checkpoint_state(folder, prefix, {}, true));
  };
  CHECK(!RunFolder::cached(folder)->has_checkpoint());
  for (const int64_t step : {5, 7}) {
    save(step);
    const auto first = RunFolder::cached(folder), second = RunFolder::cached(folder);
    CHECK_EQ(first->step(), step);
    CHECK_EQ(second->checkpoint_id(), first->checkpoint_id());
    CHECK(RunFolder::cached(folder) == second);
    CHECK_EQ(RunFolder(folder).checkpoint_id(), second->checkpoint_id());
    CHECK_EQ(newest_checkpoint_in(folder).checkpoint_id, second->checkpoint_id());
  }
  const auto known = RunFolder::cached(folder);
  RunFolder::write_metadata(folder, PlainData());
  CHECK(!known->has_metadata());
  CHECK(RunFolder::cached(folder)->has_metadata());
  CHECK(RunFolder::cached(folder)->has_metadata());
  // Alternates between this folder and others.
  for (int i = 0; i < 20; ++i) {
    CHECK(!RunFolder::cached(fresh_folder("other" + std::to_string(i)))->has_checkpoint());
    CHECK_EQ(RunFolder::cached(folder)->step(), 7);
  }
  remove_file(folder + "/model.ckpt-7.data-00000-of-00001");
  CHECK(RunFolder::cached(folder)->has_checkpoint());  // a reader reports the missing file
  CHECK_EQ(RunFolder::cached(folder)->checkpoint_id(), RunFolder(folder).checkpoint_id());
  remove_file(folder + "/model.ckpt-7.index");
  CHECK(!RunFolder::cached(folder)->has_checkpoint());
  CHECK(!RunFolder::cached(folder)->has_checkpoint());
  // If the state file is invalid or missing, only the reader of the checkpoint reports this.
  for (const char* state : {"", "model_checkpoint_path: \"\"\n", "nonsense"}) {
    save(9);
    CHECK_EQ(RunFolder::cached(folder)->step(), 9);
    write_bytes(folder + "/checkpoint", state);
    CHECK_EQ(RunFolder::cached(folder)->has_checkpoint(), RunFolder(folder).has_checkpoint());
  }
  save(9);
  CHECK_EQ(RunFolder::cached(folder)->step(), 9);
  std::filesystem::remove_all(folder);
  CHECK(!RunFolder::cached(folder)->has_checkpoint());
  CHECK(!RunFolder::cached(folder)->has_metadata());
}
