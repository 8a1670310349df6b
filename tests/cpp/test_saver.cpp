// Saving and restoring checkpoints. An incompatible checkpoint is an error, and changes nothing.
#include "child_test.h"
#include "io/checkpoint/tensor_bundle.h"
#include "io/files/atomic_file.h"
#include "tensor/variable_arena.h"
#include "test.h"
#include "training/saver.h"

using namespace runhooks;
using runhooks_test::ChildProcess;

namespace {

struct Model {
  std::shared_ptr<Graph> graph = std::make_shared<Graph>();
  VariablePtr w, b;
  Saver saver;
  std::unique_ptr<Session> session;
  Model(const Shape& shape, double value, const char* second = "b") {
    VariableOptions options;
    options.use_resource = true;
    options.initializer = constant_initializer(value);
    w = graph->variables().get("w", shape, options);
    b = graph->variables().get(second, {}, options);
    saver.build(*graph);
    session = std::make_unique<Session>(graph);
    session->run(w->initializer);
    session->run(b->initializer);
  }
  double first() { return session->value(*w).number_at(0); }
};

std::string folder(const char* name) {
  return runhooks_test::temporary_folder() + "/saver-" + name;
}

}  // namespace

TEST(saver_writes_and_restores) {
  Model one({2, 3}, 1.5), other({2, 3}, 0);
  create_directories(folder("a"));
  const std::string path = one.saver.save(*one.session, folder("a") + "/model.ckpt", 7);
  CHECK_EQ(path, folder("a") + "/model.ckpt-7");
  other.saver.restore(*other.session, path);
  CHECK_EQ(other.first(), 1.5);
  CHECK_EQ(str_join(other.saver.last_checkpoints(), " "), "");
  other.saver.recover_last_checkpoints(folder("a"), {path, folder("a") + "/gone"});
  CHECK_EQ(str_join(other.saver.last_checkpoints(), " "), path);
}

namespace {

// A checkpoint with the same tensor under each name. If `shares_memory` is true, read() returns the
// tensor itself, else a copy.
class OneTensor : public TensorSource {
 public:
  OneTensor(const Tensor& value, bool shares_memory)
      : value_(value), shares_memory_(shares_memory) {}
  const std::string& path() const override { return path_; }
  std::optional<Info> find(const std::string&) const override {
    return Info{value_.dtype(), value_.shape()};
  }
  std::vector<std::string> names_with(const std::string&) const override { return {}; }
  Tensor read(const std::string&) const override {
    if (shares_memory_) return value_;
    Tensor last_read = value_.copy();
    last_read_ = last_read.raw();
    return last_read;
  }
  Tensor read_part(const std::string& name, const SaveSliceInfo&) const override {
    return read(name);
  }
  const void* last_read() const { return last_read_; }

 private:
  std::string path_ = "here";
  Tensor value_;
  bool shares_memory_;
  mutable const void* last_read_ = nullptr;
};

}  // namespace

TEST(saver_restores_unshared_tensors_without_a_copy) {
  // The tensor is too large for the variable arena, which stores smaller tensors.
  const auto n = static_cast<int64_t>(kMaxArenaBytes / sizeof(float)) + 1;
  const auto all = [n](float x) {
    return Tensor::of<float>({n}, std::vector<float>(static_cast<size_t>(n), x));
  };
  Model model({n}, 0);
  const Tensor seven = all(7), eight = all(8);
  const std::vector<SaveablePtr> w = {variable_saveable(model.w, "w", false)};
  const OneTensor unshared(seven, false), shared(eight, true);
  restore_saveables(w, unshared, model.session->resources());
  CHECK(model.session->value(*model.w).raw() == unshared.last_read());
  restore_saveables(w, shared, model.session->resources());
  CHECK_EQ(model.first(), 8.0);
  model.session->assign(*model.w, seven);
  CHECK_EQ(model.first(), 7.0);
  CHECK_EQ(eight.number_at(0), 8.0);  // the source still owns its tensor
  // Readers of the variable see the value at its new address.
  restore_saveables(w, OneTensor(eight, false), model.session->resources());
  CHECK_EQ(model.session->run(model.w->snapshot).number_at(0), 8.0);
}

TEST(saver_rejects_other_shapes_and_missing_variables) {
  Model one({2, 3}, 1.5), wider({2, 4}, 0), renamed({2, 3}, 0, "c");
  create_directories(folder("b"));
  const std::string path = one.saver.save(*one.session, folder("b") + "/model.ckpt", 1);
  CHECK_THROWS(wider.saver.restore(*wider.session, path), Code::kInvalidArgument,
               "Variable 'w' is float32 of shape (2, 4) in the model, but float32 of shape (2, 3)");
  CHECK_THROWS(renamed.saver.restore(*renamed.session, path), Code::kNotFound,
               "Key c not found in checkpoint");
  CHECK_EQ(renamed.first(), 0.0);  // the checkpoint's "w" would have been compatible
  CHECK_THROWS(one.saver.restore(*one.session, folder("b") + "/model.ckpt-2"),
               Code::kInvalidArgument, "not a valid checkpoint");
}

TEST(saver_names_the_damaged_file) {
  Model one({200, 3}, 1.5);
  create_directories(folder("c"));
  const std::string path = one.saver.save(*one.session, folder("c") + "/model.ckpt", 1);
  const std::string data = path + ".data-00000-of-00001";
  const std::string bytes = read_whole_file(data);
  write_file_atomically(data, bytes.substr(0, bytes.size() / 2));
  CHECK_THROWS(one.saver.restore(*one.session, path), Code::kDataLoss, data);
  std::string flipped = bytes;
  flipped[bytes.size() / 2] ^= 1;
  write_file_atomically(data, flipped);
  CHECK_THROWS(one.saver.restore(*one.session, path), Code::kDataLoss, data);
  write_file_atomically(path + ".index", "short");
  CHECK_THROWS(one.saver.restore(*one.session, path), Code::kDataLoss, path + ".index");
}

TEST(saver_assembles_partitioned_variables) {
  auto graph = std::make_shared<Graph>();
  graph->variables().current().partitioner = [](const Shape&, DType) {
    return std::vector<int64_t>{2, 1};
  };
  VariableOptions options;
  options.initializer = constant_initializer(2);
  const auto parts = graph->variables().get_partitioned("w", {5, 2}, options);
  Session session(graph);
  for (const VariablePtr& part : parts) session.run(part->initializer);
  Saver saver;
  saver.build(*graph);
  create_directories(folder("d"));
  const std::string path = saver.save(session, folder("d") + "/model.ckpt", 0);
  CHECK_EQ(BundleReader(path).info("w").shape, (Shape{5, 2}));
  // A model with an unpartitioned variable can read the checkpoint of a partitioned one.
  auto whole_graph = std::make_shared<Graph>();
  const VariablePtr whole = whole_graph->variables().get("w", {5, 2}, {});
  Session whole_session(whole_graph);
  Saver whole_saver;
  whole_saver.build(*whole_graph);
  whole_saver.restore(whole_session, path);
  CHECK_EQ(whole_session.value(*whole).number_at(9), 2.0);
}

TEST(saver_ignores_checkpoints_of_other_folders) {
  Model one({2, 3}, 1.5), other({2, 3}, 2);
  create_directories(folder("mine"));
  create_directories(folder("others"));
  const std::string theirs = other.saver.save(*other.session, folder("others") + "/model.ckpt", 4);
  const std::string mine = one.saver.save(*one.session, folder("mine") + "/model.ckpt", 1);
  SaverOptions options;
  options.max_to_keep = 1;
  Saver saver(options);
  saver.build(*one.graph);
  saver.recover_last_checkpoints(folder("mine"), {folder("mine") + "/../saver-others/model.ckpt-4",
                                                  theirs, folder("mine") + "/./model.ckpt-1"});
  saver.save(*one.session, folder("mine") + "/model.ckpt", 2);
  saver.save(*one.session, folder("mine") + "/model.ckpt", 3);
  CHECK(file_exists(theirs + ".index"));
  CHECK(!file_exists(mine + ".index"));
  CHECK(!file_exists(folder("mine") + "/model.ckpt-2.index"));
  CHECK_EQ(str_join(saver.last_checkpoints(), " "), folder("mine") + "/model.ckpt-3");
}

namespace {

// Saves an integer. Records whether its state was read.
class CountSaveable : public StateSaveable {
 public:
  explicit CountSaveable(int64_t count) : StateSaveable("test/count/"), count(count) {}
  int64_t count;
  bool was_read = false;

 protected:
  NamedTensors save_state(ResourceManager&) override {
    return {{"count", Tensor::scalar(count)}, {"word", Tensor::string_scalar("text")}};
  }
  Assign read_state(const NamedTensors& state,
                    const std::string&,
                    const ResourceManager&) override {
    was_read = true;
    const int64_t restored = state_integer(state, "count");
    CHECK_EQ(state.at("word").string_at(0), "text");
    return [this, restored](ResourceManager&) { count = restored; };
  }
};

}  // namespace

TEST(saver_changes_no_saveable_if_one_is_incompatible) {
  Model one({2, 3}, 1.5), other({2, 3}, 0), wider({2, 4}, 0);
  create_directories(folder("s"));
  const auto saved = std::make_shared<CountSaveable>(5);
  one.saver.attach({saved});
  const std::string path = one.saver.save(*one.session, folder("s") + "/model.ckpt", 1);
  one.saver.detach();
  const std::string without = one.saver.save(*one.session, folder("s") + "/model.ckpt", 2);
  const auto restored = std::make_shared<CountSaveable>(0);
  wider.saver.attach({restored});
  CHECK_THROWS(wider.saver.restore(*wider.session, path), Code::kInvalidArgument, "Variable 'w'");
  CHECK_EQ(restored->count, int64_t{0});
  other.saver.attach({restored});
  other.saver.restore(*other.session, without);  // the state is optional
  CHECK(!restored->was_read);
  CHECK_EQ(other.first(), 1.5);
  other.saver.restore(*other.session, path);
  CHECK_EQ(restored->count, int64_t{5});
  // A saveable that throws while it is read leaves the variables unchanged.
  BundleWriter bad(folder("s") + "/bad");
  for (const char* name : {"b", "w"}) {
    bad.add(name, Tensor::zeros(DType::kFloat32, name[0] == 'w' ? Shape{2, 3} : Shape()));
  }
  bad.add("test/count/other", Tensor::scalar(int64_t{1}));
  bad.finish();
  CHECK_THROWS(other.saver.restore(*other.session, folder("s") + "/bad"), Code::kDataLoss,
               "no integer 'count'");
  CHECK_EQ(other.first(), 1.5);
}

TEST(saver_removes_leftovers_of_a_killed_saver) {
  const std::string dir = folder("killed");
  create_directories(dir);
  Model one({2, 3}, 1.5);
  SaverOptions options;
  options.max_to_keep = 2;
  one.saver = Saver(options);
  one.saver.build(*one.graph);
  for (int64_t step : {1, 2, 3}) one.saver.save(*one.session, dir + "/model.ckpt", step);
  const std::string before = str_join(list_directory(dir), " ");
  const std::string state = read_whole_file(dir + "/checkpoint");
  // Simulates the next save, which is killed before its end.
  ChildProcess child([&] {
    one.saver.save(*one.session, dir + "/model.ckpt", 4);
    write_file_atomically(dir + "/checkpoint", state);  // as if killed before this write
    // The file name contains a process id that no process has.
    write_file_atomically(dir + "/checkpoint.saving.tmp999999999-0123456789abcdef",
                          "model_checkpoint_path: \"model.ckpt-4\"\n"
                          "all_model_checkpoint_paths: \"model.ckpt-2\"\n"
                          "all_model_checkpoint_paths: \"model.ckpt-4\"\n");
    write_file_atomically(dir + "/model.ckpt-5.index.tmp999999999-0123456789abcdef", "half");
    return 0;
  });
  CHECK_EQ(child.wait(), 0);
  write_file_atomically(dir + "/model.ckpt-9.index", "somebody's");
  CHECK(str_join(list_directory(dir), " ") != before);
  Saver next(options);
  next.build(*one.graph);
  next.recover_last_checkpoints(dir, {dir + "/model.ckpt-2", dir + "/model.ckpt-3"});
  next.save(*one.session, dir + "/model.ckpt", 3);
  remove_file(dir + "/model.ckpt-9.index");
  // The state file lists checkpoint 2, but the killed process had removed its files.
  CHECK_EQ(str_join(list_directory(dir), " "),
           "checkpoint model.ckpt-3.data-00000-of-00001 model.ckpt-3.index model.ckpt-3.meta");
}

TEST(saver_removes_the_checkpoint_of_an_unfinished_state) {
  for (bool relative : {true, false}) {
    const std::string dir = folder(relative ? "half_state" : "half_state_absolute");
    create_directories(dir);
    Model one({2, 3}, 1.5);
    SaverOptions options;
    options.save_relative_paths = relative;
    one.saver = Saver(options);
    one.saver.build(*one.graph);
    one.saver.save(*one.session, dir + "/model.ckpt", 1);
    const std::string before = str_join(list_directory(dir), " ");
    const std::string state = read_whole_file(dir + "/checkpoint");
    ChildProcess child([&] {
      one.saver.save(*one.session, dir + "/model.ckpt", 2);
      // The new file name contains a process id that no process has.
      rename_file(dir + "/checkpoint",
                  dir + "/checkpoint.saving.next.tmp999999999-0123456789abcdef");
      write_file_atomically(dir + "/checkpoint", state);
      return 0;
    });
    CHECK_EQ(child.wait(), 0);
    CHECK(str_join(list_directory(dir), " ") != before);
    // Checkpoints of the previous state are kept, even if that state file has disappeared.
    if (!relative) remove_file(dir + "/checkpoint");
    remove_leftovers(dir, "model.ckpt", "checkpoint");
    if (!relative) write_file_atomically(dir + "/checkpoint", state);
    CHECK_EQ(str_join(list_directory(dir), " "), before);
  }
}

TEST(saver_that_cannot_write_keeps_the_state_and_leaves_nothing) {
  const std::string dir = folder("named_before");
  Model one({2, 3}, 1.5);
  one.saver.save(*one.session, dir + "/model.ckpt", 1);
  const std::string state = read_whole_file(dir + "/checkpoint");
  // If the new checkpoint cannot be written, the state does not change and no temporary file
  // remains.
  create_directories(dir + "/model.ckpt-2.index");
  CHECK_THROWS(one.saver.save(*one.session, dir + "/model.ckpt", 2), Code::kFailedPrecondition,
               "model.ckpt-2.index");
  CHECK_EQ(read_whole_file(dir + "/checkpoint"), state);
  for (const std::string& name : list_directory(dir)) {
    CHECK(name.find(".saving") == std::string::npos);
  }
}
