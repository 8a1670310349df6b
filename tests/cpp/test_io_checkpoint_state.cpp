#include "io/checkpoint/checkpoint_state.h"
#include "io/checkpoint/tensor_bundle.h"
#include "io_test.h"

using namespace runhooks;
using namespace runhooks_test;

namespace {

using Paths = std::vector<std::string>;

std::string state_text(const std::string& dir,
                       const std::string& newest,
                       const Paths& all_paths,
                       bool relative) {
  return checkpoint_state_text(make_checkpoint_state(dir, newest, all_paths, relative));
}

std::string text_of(const Paths& all_paths) {
  std::string text = "model_checkpoint_path: \"" + all_paths.back() + "\"\n";
  for (const std::string& path : all_paths)
    text += "all_model_checkpoint_paths: \"" + path + "\"\n";
  return text;
}

}  // namespace

TEST(io_checkpoint_state_reads_tensorflows_files) {
  const std::string folder = golden_file("checkpoint_state/");
  Paths warnings;
  const auto relative = read_checkpoint_state(folder + "relative", &warnings);
  CHECK_EQ(relative->model_checkpoint_path, folder + "relative/model.ckpt-20");
  CHECK(relative->all_model_checkpoint_paths ==
        (Paths{folder + "relative/model.ckpt-0", folder + "relative/model.ckpt-10",
               folder + "relative/model.ckpt-20"}));
  const auto absolute = read_checkpoint_state(folder + "absolute", &warnings);
  CHECK_EQ(absolute->all_model_checkpoint_paths[0], "/models/run1/model.ckpt-10");
  const auto timestamps = read_checkpoint_state(folder + "timestamps", &warnings);
  CHECK(timestamps->all_model_checkpoint_timestamps ==
        (std::vector<double>{1700000000.25, 1700000060.5}));
  CHECK_EQ(timestamps->last_preserved_timestamp, 1699999999.0);
  const auto written = read_checkpoint_state(folder, &warnings, "hand_written");
  CHECK_EQ(written->model_checkpoint_path, folder + "caf\xc3\xa9-2");
  CHECK_EQ(written->all_model_checkpoint_paths[0], folder + "a\\b-1");
  CHECK(warnings.empty());
}

TEST(io_checkpoint_state_rewrites_tensorflows_text) {
  for (const char* name : {"relative", "absolute", "timestamps"}) {
    const std::string golden =
        read_whole_file(golden_file(str_cat("checkpoint_state/", name, "/checkpoint")));
    CheckpointState state;
    std::string problem;
    CHECK(parse_checkpoint_state(golden, &state, &problem));
    CHECK_EQ(checkpoint_state_text(state), golden);
    const std::string folder = fresh_folder("state");
    write_checkpoint_state(folder, state);
    CHECK_EQ(read_whole_file(folder + "/checkpoint"), golden);
  }
}

// Expected results are those of TensorFlow 2.15.1 and 1.15.5.
TEST(io_checkpoint_state_paths_are_relative_as_in_tensorflow) {
  CHECK_EQ(state_text("/d", "/d/m-1", {"/d/m-0", "/d/m-1"}, true), text_of({"m-0", "m-1"}));
  CHECK_EQ(state_text("/d/", "/d/sub/m-1", {"/d/m-0"}, true), text_of({"m-0", "sub/m-1"}));
  CHECK_EQ(state_text("/d", "/e/m-1", {"/d/m-0"}, true), text_of({"m-0", "../e/m-1"}));
  CHECK_EQ(state_text("/d", "m-1", {"m-0"}, true), text_of({"m-0", "m-1"}));
  CHECK_EQ(state_text("/d", "/d/m-1", {"/d/m-0"}, false), text_of({"/d/m-0", "/d/m-1"}));
  CHECK_EQ(state_text("/d", "m-1", {"m-0", "/x/y"}, false), text_of({"m-0", "/x/y", "m-1"}));
  CHECK_EQ(state_text("/d", "m-1", {"m-1", "m-0"}, false), text_of({"m-1", "m-0", "m-1"}));
  CHECK_EQ(state_text("rel", "rel/m-1", {"rel/m-0"}, false), text_of({"m-0", "m-1"}));
  CHECK_EQ(state_text("./rel", "./rel/m-1", {"./rel/m-0"}, false), text_of({"m-0", "m-1"}));
  CHECK_EQ(state_text("rel", "rel/m-1", {"rel/m-0"}, true), text_of({"m-0", "m-1"}));
  CHECK_EQ(state_text("rel", "/abs/m-1", {"rel/m-0"}, false), text_of({"m-0", "/abs/m-1"}));
  CHECK_EQ(state_text("d", "m-1", {"m-0"}, false), text_of({"../m-0", "../m-1"}));
}

TEST(io_checkpoint_state_handles_damage_like_tensorflow) {
  const std::string folder = fresh_folder("state"), path = folder + "/checkpoint";
  Paths warnings;
  CHECK(!read_checkpoint_state(folder, &warnings));
  CHECK(warnings.empty());
  CHECK_EQ(latest_checkpoint(folder, &warnings), "");
  for (const char* text : {"", "all_model_checkpoint_paths: \"a\"\n"}) {
    write_bytes(path, text);
    CHECK_THROWS(read_checkpoint_state(folder, &warnings), Code::kInvalidArgument,
                 "Invalid checkpoint state loaded from " + folder);
  }
  write_bytes(path, "this is garbage");
  CHECK(!read_checkpoint_state(folder, &warnings));
  CHECK(warnings == (Paths{"ParseError: 1:1 : Message type \"tensorflow.CheckpointState\" has no "
                           "field named \"this\".",
                           path + ": Checkpoint ignored"}));
  CHECK(!read_checkpoint_state(folder, nullptr));
  remove_file(path);
  create_directories(path);
  warnings.clear();
  CHECK(!read_checkpoint_state(folder, &warnings));
  CHECK(warnings.size() == 2 && warnings[0].find("Is a directory") != std::string::npos);
}

TEST(io_latest_checkpoint_must_exist) {
  const std::string folder = fresh_folder("latest");
  write_checkpoint_state(folder,
                         make_checkpoint_state(folder, folder + "/m-2", {folder + "/m-1"}, true));
  Paths warnings;
  CHECK_EQ(latest_checkpoint(folder, &warnings), "");
  CHECK(warnings == Paths{"Couldn't match files for checkpoint " + folder + "/m-2"});
  CHECK_EQ(read_checkpoint_state(folder, nullptr)->model_checkpoint_path, folder + "/m-2");
  // A damaged checkpoint counts as newest if no other can be read.
  write_bytes(folder + "/m-2.index", "");
  warnings.clear();
  CHECK_EQ(latest_checkpoint(folder, &warnings), folder + "/m-2");
  BundleWriter older(folder + "/m-1");
  older.add("w", Tensor::scalar<float>(1));
  older.finish();
  CHECK_EQ(latest_checkpoint(folder, &warnings), folder + "/m-1");
  CHECK(warnings.size() == 1 &&
        warnings[0].find("Checkpoint " + folder + "/m-2 cannot be read: ") == 0);
  CHECK(warnings[0].find("The checkpoint before it, " + folder + "/m-1, is used.") !=
        std::string::npos);
  // Flips one bit of the tensors of checkpoint m-1.
  std::string data = read_whole_file(folder + "/m-1.data-00000-of-00001");
  data[0] ^= 1;
  write_file_atomically(folder + "/m-1.data-00000-of-00001", data);
  CHECK_EQ(checkpoint_problem(folder + "/m-1", CheckpointCheck::kFiles), "");
  CHECK(checkpoint_problem(folder + "/m-1", CheckpointCheck::kContent).find("checksum") !=
        std::string::npos);
  CHECK_EQ(latest_checkpoint(golden_file("bundle"), nullptr), golden_file("bundle/mixed.ckpt-7"));
}
