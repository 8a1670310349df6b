// Checkpoints of sessions: what is written comes back, what does not fit is refused before anything
// is changed.
#include "io/atomic_file.h"
#include "io/tensor_bundle.h"
#include "test.h"
#include "training/saver.h"

using namespace runhooks;

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
  other.saver.recover_last_checkpoints({path, folder("a") + "/gone"});
  CHECK_EQ(str_join(other.saver.last_checkpoints(), " "), path);
}

TEST(saver_refuses_other_shapes_and_missing_variables) {
  Model one({2, 3}, 1.5), wider({2, 4}, 0), renamed({2, 3}, 0, "c");
  create_directories(folder("b"));
  const std::string path = one.saver.save(*one.session, folder("b") + "/model.ckpt", 1);
  CHECK_THROWS(wider.saver.restore(*wider.session, path), Code::kInvalidArgument,
               "Variable 'w' is float32 of shape (2, 4) in the model, but float32 of shape (2, 3)");
  CHECK_THROWS(renamed.saver.restore(*renamed.session, path), Code::kNotFound,
               "Key c not found in checkpoint");
  CHECK_EQ(renamed.first(), 0.0);  // "w" would have fitted
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

TEST(saver_puts_partitioned_variables_together) {
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
  // A model that holds it in one piece reads it.
  auto whole_graph = std::make_shared<Graph>();
  const VariablePtr whole = whole_graph->variables().get("w", {5, 2}, {});
  Session whole_session(whole_graph);
  Saver whole_saver;
  whole_saver.build(*whole_graph);
  whole_saver.restore(whole_session, path);
  CHECK_EQ(whole_session.value(*whole).number_at(9), 2.0);
}
