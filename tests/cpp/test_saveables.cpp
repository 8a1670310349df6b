// A custom stateful resource behaves like a variable: it is trained, saved, restored, exported,
// evaluated in memory, warm-started and frozen.
#include "estimators/export/export.h"
#include "estimators/export/loaded_model.h"
#include "estimators/run/in_memory_evaluator_hook.h"
#include "graph/func_graph.h"
#include "graph/lowering.h"
#include "graph/snapshot.h"
#include "hooks/best_weights.h"
#include "io/checkpoint/checkpoint_state.h"
#include "io/checkpoint/tensor_bundle.h"
#include "io/files/atomic_file.h"
#include "io/graphs/graph_def.h"
#include "monitored/monitored_session.h"
#include "test.h"
#include "training/freeze.h"

using namespace runhooks;

namespace {

// --- Tally: a stateful resource that holds a sum and the number of additions

class Tally : public StatefulResource {
 public:
  static std::unique_ptr<StatefulResource> make(const Operation&) {
    return std::make_unique<Tally>();
  }
  const char* kind() const override { return "tally"; }
  NamedTensors save_state() const override {
    return {{"sum", Tensor::scalar<double>(sum)}, {"count", Tensor::scalar<int64_t>(count)}};
  }
  void restore_state(const NamedTensors& state) override {
    const int64_t read_count = state_integer(state, "count");
    const auto found = state.find("sum");
    if (found == state.end() || read_count < 0) fail(Code::kDataLoss, "This is no tally.");
    sum = *found->second.data<double>();
    count = read_count;
    is_initialized = true;
  }
  double sum = 0;
  int64_t count = 0;
  bool is_initialized = false;
};

class TallyKernel : public Kernel {
 public:
  void prepare(KernelContext& c) override {
    c.set_output_resource(0, stateful_resource(c.resources(), c.op()));
  }
  void compute(KernelContext&) override {}
};

class InitializeKernel : public Kernel {
 public:
  void compute(KernelContext& c) override {
    auto& tally = c.input_resource<Tally>(0);
    tally.sum = c.op().attr<float>("sum");
    tally.count = 0;
    tally.is_initialized = true;
  }
};

class AddKernel : public Kernel {
 public:
  void compute(KernelContext& c) override {
    auto& tally = c.input_resource<Tally>(0);
    tally.sum += *c.input(1).data<double>();
    ++tally.count;
  }
};

class ReadKernel : public Kernel {
 public:
  void compute(KernelContext& c) override {
    const auto& tally = c.input_resource<Tally>(0);
    *c.output(0).data<double>() = tally.sum;
    *c.output(1).data<int64_t>() = tally.count;
  }
};

// Returns the name of the variable with a tally's count in an exported graph. Another variable has
// the tally's name and holds its sum.
std::string count_name(const std::string& tally) { return tally + "/count"; }

Output add_variable(Graph& g, DType dtype, const std::string& name) {
  return g.op("VarHandleOp")
      .attr("dtype", dtype)
      .attr("shape", Shape())
      .attr("shared_name", name)
      .named(name + "/");
}

void lower_tally(Graph& g, const Operation& op, const std::vector<Output>&) {
  add_variable(g, DType::kInt64, count_name(op.name()));
  add_variable(g, DType::kFloat64, op.name());
}

Output count_handle(Graph& g, const Output& sum) {
  return g.operation(count_name(sum.op->name()))->output(0);
}

void lower_initialize(Graph& g, const Operation& op, const std::vector<Output>& inputs) {
  Operation* count = g.op("AssignVariableOp",
                          {count_handle(g, inputs[0]), g.constant(Tensor::scalar<int64_t>(0))});
  g.op("AssignVariableOp", {inputs[0], g.constant(Tensor::scalar<double>(op.attr<float>("sum")))})
      .named(op.name() + "/")
      .after({count})
      .build();
}

void lower_add(Graph& g, const Operation& op, const std::vector<Output>& inputs) {
  Operation* count = g.op("AssignAddVariableOp",
                          {count_handle(g, inputs[0]), g.constant(Tensor::scalar<int64_t>(1))});
  g.op("AssignAddVariableOp", {inputs[0], inputs[1]}).named(op.name() + "/").after({count}).build();
}

Output read_variable(Graph& g, const Output& handle, DType dtype) {
  return g.op("ReadVariableOp", {handle}).attr("dtype", dtype);
}

void lower_read(Graph& g, const Operation& op, const std::vector<Output>& inputs) {
  g.op("IdentityN", {read_variable(g, inputs[0], DType::kFloat64),
                     read_variable(g, count_handle(g, inputs[0]), DType::kInt64)})
      .named(op.name() + "/")
      .build();
}

class TallySaveable : public ResourceSaveable {
 public:
  TallySaveable(const Operation& op, Operation* initializer)
      : ResourceSaveable(op), initializer_(initializer) {}
  bool is_trainable() const override { return true; }
  Operation* initializer() const override { return initializer_; }
  bool is_initialized(const ResourceManager& resources) const override {
    const auto* tally = resources.find<Tally>(op()->name());
    return tally && tally->is_initialized;
  }
  SaveableOps lowered() const override {
    SaveableOps ops;
    ops.specs = {{name() + "count", DType::kInt64, ""}, {name() + "sum", DType::kFloat64, ""}};
    const std::string tally = op()->name();
    ops.values = [tally](Graph& g) {
      const Output sum = g.operation(tally)->output(0);
      return std::vector<Output>{read_variable(g, count_handle(g, sum), DType::kInt64),
                                 read_variable(g, sum, DType::kFloat64)};
    };
    ops.restore = [tally](Graph& g, const std::vector<Output>& values) -> Operation* {
      const Output sum = g.operation(tally)->output(0);
      return g.group({g.op("AssignVariableOp", {count_handle(g, sum), values[0]}),
                      g.op("AssignVariableOp", {sum, values[1]})});
    };
    return ops;
  }

 private:
  Operation* initializer_;
};

RUNHOOKS_REGISTER_OP("_TestTally")
    .output("handle: resource")
    .shape(scalar_shape)
    .kernel(kernel_of<TallyKernel>())
    .owns_resource(Tally::make)
    .lower(lower_tally)
    .stateful()
    .not_differentiable()
    .summary("for tests");

RUNHOOKS_REGISTER_OP("_TestTallyBegin")
    .input("handle: resource, tally")
    .attr("sum: float")
    .shape(no_outputs)
    .kernel(kernel_of<InitializeKernel>())
    .mutates(0)
    .lower(lower_initialize)
    .stateful()
    .not_differentiable()
    .summary("for tests");

RUNHOOKS_REGISTER_OP("_TestTallyAdd")
    .input("handle: resource, tally")
    .input("x: double, scalar")
    .shape(no_outputs)
    .kernel(kernel_of<AddKernel>())
    .mutates(0)
    .lower(lower_add)
    .stateful()
    .not_differentiable()
    .summary("for tests");

RUNHOOKS_REGISTER_OP("_TestTallyRead")
    .input("handle: resource, tally")
    .output("sum: double")
    .output("count: int64")
    .shape(scalar_shape)
    .kernel(kernel_of<ReadKernel>())
    .lower(lower_read)
    .stateful()
    .not_differentiable()
    .summary("for tests");

Output make_tally(Graph& graph, const std::string& name, double initial_sum) {
  const Output handle = graph.op("_TestTally").named(name);
  Operation* first = graph.op("_TestTallyBegin", {handle})
                         .attr("sum", static_cast<float>(initial_sum))
                         .named(name + "/begin/");
  graph.add_to_collection(collection_keys::kSaveableObjects,
                          SaveablePtr(std::make_shared<TallySaveable>(*handle.op, first)));
  return handle;
}

// --- models that use a tally

std::string make_folder(const std::string& name) {
  const std::string path = runhooks_test::temporary_folder() + "/saveables-" + name;
  create_directories(path);
  return path;
}

// The model's tally starts with `initial_sum`, and each step adds 2. Predicts x plus the tally's
// sum.
ModelFn tally_model(const std::string& name = "tally", double initial_sum = 100) {
  return [name, initial_sum](Graph& graph, const ModelInput& input, Mode mode) {
    const Output handle = make_tally(graph, name, initial_sum);
    const Output sum = graph.op("_TestTallyRead", {handle}).named("read");
    const Output x = input.features.at("x").values;
    const Output total = graph.op("AddV2", {x, sum}).named("total");
    EstimatorSpec spec;
    spec.mode = mode;
    spec.predictions = {{"total", total}};
    spec.export_outputs = {{"serving_default", {ExportOutput::Kind::kPredict, {{"total", total}}}}};
    if (mode == Mode::kPredict) return spec;
    spec.loss = graph.op("Cast", {sum}).attr("DstT", DType::kFloat32);
    const Output two = graph.constant(Tensor::scalar<double>(2));
    const VariablePtr step = global_step(graph);
    Operation* add = graph.op("_TestTallyAdd", {handle, two}).named("add");
    Operation* next = graph.op("AssignAdd", {step->handle, graph.scalar(DType::kInt64, 1)});
    spec.train_op = graph.group({add, next}, "train");
    return spec;
  };
}

ModelInput one_row(Graph& graph, Mode) {
  ModelInput input;
  input.features["x"] = graph.constant(Tensor::vector<double>({5}));
  return input;
}

RunConfig config(const std::string& model_dir) {
  RunConfig config;
  config.model_dir = model_dir;
  config.save_checkpoints_steps = 100;
  config.save_checkpoints_secs = 0;
  config.log_step_count_steps = 0;
  return config;
}

Estimator estimator_in(const std::string& name, double initial_sum = 100) {
  return Estimator(tally_model("tally", initial_sum), config(make_folder(name)));
}

TrainOptions steps(int64_t n) {
  TrainOptions options;
  options.steps = n;
  return options;
}

double predict_total(Estimator& estimator) {
  const auto predictions = estimator.predict(one_row, {});
  std::vector<Tensor> batch;
  predictions->next(&batch);
  const double total = batch[0].number_at(0);
  predictions->close();
  return total;
}

double evaluate_loss(Estimator& estimator) {
  EvaluateOptions options;
  options.steps = 1;
  return estimator.evaluate(one_row, options).front().second.number_at(0);
}

std::string newest_checkpoint_in(const std::string& model_dir) {
  std::vector<std::string> warnings;
  return latest_checkpoint(model_dir, &warnings);
}

// A graph with a tally and a variable.
struct TallyGraph {
  std::shared_ptr<Graph> graph = std::make_shared<Graph>();
  Output handle = make_tally(*graph, "tally", 3);
  Operation* reader = graph->op("_TestTallyRead", {handle}).named("read");
  Output sum = reader->output(0), count = reader->output(1);
  Operation* add =
      graph->op("_TestTallyAdd", {handle, graph->constant(Tensor::scalar<double>(2))}).named("add");
  VariablePtr w = graph->variables().get("w", {}, {});
};

}  // namespace

TEST(scalars_of_a_state_have_a_name_and_a_type) {
  const NamedTensors state = {{"n", Tensor::scalar<int64_t>(3)},
                              {"x", Tensor::scalar<double>(0.5)},
                              {"yes", Tensor::scalar<bool>(true)},
                              {"text", Tensor::string_scalar("a")},
                              {"two", Tensor::strings({2}, {"a", "b"})}};
  CHECK_EQ(state_integer(state, "n"), 3);
  CHECK_EQ(state_number(state, "x"), 0.5);
  CHECK(state_flag(state, "yes"));
  CHECK_EQ(state_string(state, "text"), "a");
  CHECK(!state_scalar(state, "two", DType::kString));
  CHECK(!state_scalar(state, "none", DType::kString));
  CHECK_THROWS(state_string(state, "n"), Code::kDataLoss, "no string 'n'");
  CHECK_THROWS(state_number(state, "n"), Code::kDataLoss, "no number 'n'");
}

TEST(saveables_are_trained_restored_and_evaluated) {
  Estimator estimator = estimator_in("trained");
  estimator.train(one_row, steps(3));
  CHECK_EQ(predict_total(estimator), 111.0);
  CHECK_EQ(evaluate_loss(estimator), 106.0);
  estimator.train(one_row, steps(2));  // resumes the training
  CHECK_EQ(predict_total(estimator), 115.0);
  const BundleReader reader(newest_checkpoint_in(estimator.config().model_dir));
  CHECK_EQ(reader.read("tally:0/sum").number_at(0), 110.0);
  CHECK_EQ(reader.read("tally:0/count").number_at(0), 5.0);
}

TEST(saveables_are_exported_in_tensorflows_ops) {
  Estimator estimator = estimator_in("exported");
  estimator.train(one_row, steps(4));
  const ReceiverFn receiver = [](Graph& graph) {
    ServingReceiver serving_receiver;
    const Output x =
        graph.op("Placeholder").attr("dtype", DType::kFloat64).attr("shape", Shape{-1}).named("x");
    serving_receiver.input.features["x"] = x;
    serving_receiver.receivers = {{"x", x}};
    return serving_receiver;
  };
  const std::string path = make_folder("exported") + "/model";
  estimator.export_saved_model(receiver, {}, path);
  LoadedModel loaded(path, {"serve"});
  for (const auto& op : loaded.graph().operations()) CHECK(op->type().rfind("_Test", 0) != 0);
  const auto total = loaded.run("serving_default", {Tensor::vector<double>({1, 2})});
  CHECK_EQ(total[0].number_at(0), 109.0);
  CHECK_EQ(total[0].number_at(1), 110.0);
  // A graph that was loaded from an export saves the same keys.
  const BundleReader exported(path + "/variables/variables");
  CHECK_EQ(exported.read("tally:0/count").number_at(0), 4.0);
}

TEST(saveables_are_evaluated_in_memory) {
  Estimator estimator = estimator_in("in-memory");
  EvaluateOptions options;
  options.steps = 1;
  const auto hook = std::make_shared<InMemoryEvaluatorHook>(estimator, one_row, options, 2);
  const auto history = std::make_shared<History>();
  hook->set_history(history);
  TrainOptions training = steps(5);
  training.hooks = {hook};
  estimator.train(one_row, training);
  CHECK(history->steps == (std::vector<double>{0, 2, 4, 5}));
  for (const History::Column& column : history->tensors) {
    if (column.name != "loss") continue;
    CHECK(column.values == (std::vector<double>{100, 104, 108, 110}));
  }
}

TEST(saveables_are_restored_to_the_best) {
  TallyGraph model;
  get_or_create_global_step(*model.graph);
  Scaffold scaffold;
  scaffold.finalize(*model.graph);
  Session session(model.graph);
  session.run(scaffold.init_op);
  BestWeights best(make_folder("best"));
  best.begin(*model.graph, {global_step(*model.graph)});
  session.run(model.add);
  best.save(session, 1, 1);
  session.run(model.add);
  CHECK_EQ(session.run(model.sum).number_at(0), 7.0);
  CHECK(best.restore(session, 1));
  CHECK_EQ(session.run(model.sum).number_at(0), 5.0);
  CHECK_EQ(session.run(model.count).number_at(0), 1.0);
}

TEST(saveables_are_warm_started) {
  Estimator source_estimator = estimator_in("before");
  source_estimator.train(one_row, steps(3));
  const auto warm_start_args = [&source_estimator](const char* pattern) {
    Args args("warm_start_settings");
    args.set("ckpt_to_initialize_from", Value::of(source_estimator.config().model_dir));
    args.set("vars_to_warm_start", Value::of(std::string(pattern)));
    return args;
  };
  TrainOptions one = steps(1);
  one.warm_start = std::make_shared<WarmStart>(warm_start_args(".*"));
  Estimator warm_started = estimator_in("after", 0);
  warm_started.train(one_row, one);
  CHECK_EQ(predict_total(warm_started), 113.0);
  // The warm start finds the tally under its old name.
  Args renamed = warm_start_args("other");
  const auto names = std::make_shared<Args>("names");
  names->set("other", Value::of(std::string("tally")));
  renamed.set("var_name_to_prev_var_name", Value::of(names));
  one.warm_start = std::make_shared<WarmStart>(renamed);
  Estimator other(tally_model("other", 0), config(make_folder("other")));
  other.train(one_row, one);
  CHECK_EQ(predict_total(other), 113.0);
  // The warm start throws if the checkpoint lacks a saveable.
  one.warm_start = std::make_shared<WarmStart>(warm_start_args(".*"));
  Estimator missing(tally_model("missing", 0), config(make_folder("missing")));
  CHECK_THROWS(missing.train(one_row, one), Code::kNotFound, "Key missing not found");
}

TEST(uninitialized_saveables_are_errors_that_name_them) {
  TallyGraph model;
  auto scaffold = std::make_shared<Scaffold>();
  scaffold->init_op = model.w->initializer;
  ChiefSessionCreator creator(model.graph, scaffold);
  CHECK_THROWS(creator.create_session(), Code::kFailedPrecondition,
               "Variables not initialized: tally");
}

TEST(incompatible_saveables_change_nothing) {
  TallyGraph model;
  BundleWriter bad(make_folder("bad") + "/model.ckpt");
  bad.add("tally:0/count", Tensor::scalar<int64_t>(-1));
  bad.add("tally:0/sum", Tensor::scalar<double>(9));
  bad.add("w", Tensor::scalar<float>(9));
  bad.finish();
  Scaffold scaffold;
  scaffold.finalize(*model.graph);
  Session session(model.graph);
  session.run(scaffold.init_op);
  session.assign(*model.w, Tensor::scalar<float>(1));
  CHECK_THROWS(scaffold.saver->restore(session, make_folder("bad") + "/model.ckpt"),
               Code::kDataLoss, "The state of 'tally' (_TestTally) in checkpoint");
  CHECK_EQ(session.value(*model.w).number_at(0), 1.0);
  CHECK_EQ(session.run(model.sum).number_at(0), 3.0);
}

TEST(saveables_are_restored_from_a_snapshot) {
  TallyGraph model;
  Scaffold scaffold;
  scaffold.finalize(*model.graph);
  Session session(model.graph);
  session.run(scaffold.init_op);
  session.run(model.add);
  const auto all = model_saveables_in(*model.graph);
  const Snapshot snapshot(all, session.resources(), /*copies_values=*/true);
  session.run(model.add);
  session.assign(*model.w, Tensor::scalar<float>(7));
  const float w = snapshot.read("w").data<float>()[0];
  restore_saveables(all, snapshot, session.resources());
  CHECK_EQ(session.run(model.sum).number_at(0), 5.0);
  CHECK_EQ(session.value(*model.w).data<float>()[0], w);
}

TEST(saveables_without_a_constant_form_cannot_be_frozen) {
  TallyGraph model;
  Scaffold scaffold;
  scaffold.finalize(*model.graph);
  Session session(model.graph);
  session.run(scaffold.init_op);
  const GraphDef def = make_graph_def(*lowered_graph(*model.graph));
  CHECK_THROWS(freeze(session, def, {"read"}), Code::kUnimplemented,
               "Cannot freeze node 'tally': a constant cannot hold the state");
}

TEST(workers_restore_the_chiefs_saveables) {
  TallyGraph model;
  const std::string model_dir = make_folder("chief");
  const auto scaffold = std::make_shared<Scaffold>();
  // Without a checkpoint folder, no chief can start, so the error comes at once.
  WorkerSessionCreator creator_without_folder(model.graph, scaffold, "", 1000);
  CHECK_THROWS(creator_without_folder.create_session(), Code::kDeadlineExceeded,
               "was not ready after waiting 1000");
  // The chief is in this process.
  auto chief = std::make_unique<MonitoredSession>(
      model.graph, std::make_unique<ChiefSessionCreator>(model.graph, scaffold), HookList());
  chief->session().run(model.add);
  const auto worker_session = creator_without_folder.create_session();
  CHECK_EQ(worker_session->run(model.sum).number_at(0), 5.0);
  worker_session->run(model.add);  // does not change the chief's state
  CHECK_EQ(chief->session().run(model.sum).number_at(0), 5.0);
  // The worker restores the chief's checkpoint.
  WorkerSessionCreator waiting_creator(model.graph, scaffold, model_dir, 0.3);
  scaffold->saver->save(chief->session(), model_dir + "/model.ckpt", 1);
  chief->session().run(model.add);
  chief->close();
  CHECK_EQ(waiting_creator.create_session()->run(model.sum).number_at(0), 5.0);
  WorkerSessionCreator creator_without_chief(model.graph, scaffold, make_folder("no-chief"), 0.3);
  CHECK_THROWS(creator_without_chief.create_session(), Code::kDeadlineExceeded, "was not ready");
}
