// Triggers and built-in hooks, compared with TensorFlow's tables (golden/hooks: timer,
// stop_at_step, checkpoint_saver).
#include "hooks/checkpoint_saver_hook.h"
#include "hooks/history_saver_hook.h"
#include "hooks/value_format.h"
#include "hooks_test.h"
#include "io/checkpoint/checkpoint_state.h"
#include "io/files/atomic_file.h"
#include "test.h"

using namespace runhooks;
using namespace hooks_test;

TEST(trigger_by_steps_matches_tensorflow) {
  Trigger trigger = Trigger::every_steps(3);
  const int64_t steps[] = {0, 0, 1, 2, 3, 3, 5, 6, 7, 12, 13, 14, 15, 2, 18};
  const bool expected[] = {true,  false, false, false, true, false, false, true,
                           false, true,  false, false, true, false, true};
  for (size_t i = 0; i < 15; ++i) {
    CHECK_EQ(trigger.should_trigger(steps[i]), expected[i]);
    if (expected[i]) trigger.update(steps[i]);
  }
  trigger.reset();
  CHECK(trigger.should_trigger(18));
}

TEST(trigger_by_seconds_matches_tensorflow) {
  const FakeClock clock;
  Trigger trigger = Trigger::every_secs(10);
  const int64_t steps[] = {0, 1, 2, 3, 4, 5, 6, 6, 6, 6, 6, 7, 8, 9, 10};
  const bool expected[] = {true,  false, false, true, false, false, true, false,
                           false, false, false, true, false, false, true};
  for (size_t i = 0; i < 15; ++i, fake_time += 4) {
    CHECK_EQ(trigger.should_trigger(steps[i]), expected[i]);
    if (expected[i]) trigger.update(steps[i]);
  }
  CHECK(!Trigger().should_trigger(0));
}

TEST(stop_at_step_hook_matches_tensorflow) {
  struct Row {
    const char* argument;
    int64_t value, start, increment;
    int runs;
  };
  const Row table[] = {
      {"num_steps", 3, 0, 1, 3}, {"last_step", 3, 0, 1, 3},  {"num_steps", 3, 4, 1, 3},
      {"last_step", 6, 4, 1, 2}, {"last_step", 3, 4, 1, 1},  {"last_step", 4, 4, 1, 1},
      {"num_steps", 5, 0, 2, 3}, {"num_steps", 1, 0, 1, 1},  {"num_steps", 0, 0, 1, 1},
      {"last_step", 0, 0, 1, 1}, {"num_steps", -2, 0, 1, 1},
  };
  for (const Row& row : table) {
    const HookPtr hook = make_hook("StopAtStepHook", args_of({{row.argument, whole(row.value)}}));
    // Unlike TensorFlow's hook, it starts a new count when it is reused.
    for (int use = 0; use < 2; ++use) {
      Counter counter(row.start, row.increment);
      CHECK_EQ(run_counter(counter, hook), row.runs);
    }
  }
  CHECK_THROWS(make_hook("StopAtStepHook", args_of({})), Code::kInvalidArgument,
               "One of num_steps or last_step");
  CHECK_THROWS(make_hook("SwimAtStepHook", args_of({})), Code::kInvalidArgument,
               "no hook called 'SwimAtStepHook'");
}

namespace {

// Returns the steps of the checkpoints that a checkpoint hook with these arguments writes.
std::vector<std::string> saved_at(const char* argument,
                                  double every,
                                  int runs,
                                  int64_t start,
                                  int64_t increment,
                                  double secs_per_run) {
  const FakeClock clock;
  const std::string folder = fresh_folder("ckpt");
  Counter counter(start, increment);
  SaverOptions options;
  options.max_to_keep = 1000;
  counter.scaffold->saver = std::make_shared<Saver>(options);
  auto hook = std::make_shared<CheckpointSaverHook>(
      args_of({{"checkpoint_dir", Value::of(folder)}, {argument, Value::of(every)}}));
  hook->set_scaffold(counter.scaffold);
  run_counter(counter, hook, runs, secs_per_run);
  std::vector<std::string> steps;
  std::vector<std::string> warnings;
  const auto state = read_checkpoint_state(folder, &warnings);
  for (const std::string& path : state->all_model_checkpoint_paths) {
    steps.push_back(path.substr(path.rfind('-') + 1));
  }
  return steps;
}

}  // namespace

TEST(checkpoint_saver_hook_saves_when_tensorflow_does) {
  struct Row {
    const char* argument;
    double every;
    int runs;
    int64_t start, increment;
    double secs;
    const char* expected;
  };
  const Row table[] = {
      {"save_steps", 5, 12, 0, 1, 0, "0 5 10 12"},  {"save_steps", 5, 10, 0, 1, 0, "0 5 10"},
      {"save_steps", 1, 3, 0, 1, 0, "0 1 2 3"},     {"save_steps", 100, 3, 0, 1, 0, "0 3"},
      {"save_steps", 5, 0, 0, 1, 0, "0"},           {"save_steps", 5, 12, 3, 1, 0, "3 8 13 15"},
      {"save_steps", 5, 6, 0, 3, 0, "0 6 12 18"},   {"save_steps", 5, 3, 0, 7, 0, "0 7 14 21"},
      {"save_secs", 10, 12, 0, 1, 4, "0 3 6 9 12"}, {"save_secs", 10, 4, 0, 1, 11, "0 1 2 3 4"},
      {"save_secs", 10, 5, 0, 1, 1, "0 5"},         {"save_secs", 1, 5, 0, 1, 0, "0 5"},
  };
  for (const Row& row : table) {
    CHECK_EQ(
        str_join(saved_at(row.argument, row.every, row.runs, row.start, row.increment, row.secs),
                 " "),
        std::string(row.expected));
  }
}

TEST(saver_keeps_the_newest_and_one_each_hour) {
  const FakeClock clock;
  const std::string folder = fresh_folder("keep");
  Counter counter(0, 1);
  SaverOptions options;
  options.max_to_keep = 2;
  options.keep_checkpoint_every_n_hours = 1;
  options.save_relative_paths = true;
  counter.scaffold->saver = std::make_shared<Saver>(options);
  auto hook = std::make_shared<CheckpointSaverHook>(
      args_of({{"checkpoint_dir", Value::of(folder)}, {"save_steps", whole(1)}}));
  hook->set_scaffold(counter.scaffold);
  run_counter(counter, hook, 14, 20 * 60);
  std::vector<std::string> remaining;
  for (const std::string& name : list_directory(folder)) {
    if (name.find(".index") != std::string::npos)
      remaining.push_back(name.substr(0, name.find(".index")));
  }
  CHECK_EQ(str_join(remaining, " "),
           "model.ckpt-10 model.ckpt-13 model.ckpt-14 model.ckpt-4 model.ckpt-7");
  CHECK_EQ(
      read_whole_file(folder + "/checkpoint"),
      "model_checkpoint_path: \"model.ckpt-14\"\nall_model_checkpoint_paths: \"model.ckpt-13\"\n"
      "all_model_checkpoint_paths: \"model.ckpt-14\"\n");
}

TEST(history_saver_hook_records_the_first_run_and_multiples) {
  HistorySaverHook* saver = new HistorySaverHook(args_of({{"every_n_step", whole(4)}}));
  const HookPtr hook(saver);
  Counter counter(7, 1);
  run_counter(counter, hook, 9);
  CHECK(saver->history()->steps == (std::vector<double>{8, 11, 15}));
  CHECK(saver->history()->mean_losses == (std::vector<double>{2, 2, 2}));
  CHECK(saver->history()->total_losses == (std::vector<double>{4, 4, 4}));
}

TEST(nan_tensor_hook_fails_or_stops) {
  for (const bool fails : {true, false}) {
    Counter counter(0, 1);
    const Output nan = counter.graph->scalar(DType::kFloat32, NAN, "loss");
    (void)nan;
    const HookPtr hook =
        make_hook("NanTensorHook", args_of({{"loss_tensor", Value::of(std::string("loss:0"))},
                                            {"fail_on_nan_loss", Value::of(fails)}}));
    if (fails) {
      CHECK_THROWS(run_counter(counter, hook), Code::kNanLoss, "NaN loss during training.");
    } else {
      CHECK_EQ(run_counter(counter, hook), 1);
    }
  }
}

TEST(values_are_formatted_like_numpy) {
  auto f32 = [](std::vector<float> x) { return format_value(Tensor::vector<float>(x)); };
  auto scalar = [](float x) { return format_value(Tensor::scalar<float>(x)); };
  CHECK_EQ(scalar(0.1f), "0.1");
  CHECK_EQ(scalar(1.0f / 3), "0.33333334");
  CHECK_EQ(scalar(1e-5f), "1e-05");
  CHECK_EQ(scalar(123456789.0f), "123456790.0");
  CHECK_EQ(scalar(1e16f), "1e+16");
  CHECK_EQ(scalar(100.0f), "100.0");
  CHECK_EQ(scalar(-0.0f), "-0.0");
  CHECK_EQ(scalar(NAN), "nan");
  CHECK_EQ(scalar(-INFINITY), "-inf");
  CHECK_EQ(scalar(3.4028235e38f), "3.4028235e+38");
  CHECK_EQ(format_value(Tensor::scalar<int64_t>(-3)), "-3");
  CHECK_EQ(format_value(Tensor::scalar<bool>(true)), "True");
  CHECK_EQ(format_value(Tensor::string_scalar("h\xc3\xa9")), "b'h\\xc3\\xa9'");
  CHECK_EQ(f32({1, 2.5f, -3}), "[ 1.   2.5 -3. ]");
  CHECK_EQ(f32({1e-5f, 1, 1000}), "[   0.00001    1.      1000.     ]");
  CHECK_EQ(f32({1e-10f, 2e-10f}), "[0. 0.]");
  CHECK_EQ(f32({1e-10f, 1, 1e10f}), "[1.e-10 1.e+00 1.e+10]");
  CHECK_EQ(f32({1, NAN, INFINITY}), "[ 1. nan inf]");
  CHECK_EQ(format_value(Tensor::vector<int64_t>({1, 20, 300})), "[  1  20 300]");
  CHECK_EQ(format_value(Tensor::vector<bool>({true, false})), "[ True False]");
  CHECK_EQ(format_value(Tensor::strings({2}, {"a", "bc"})), "[b'a' b'bc']");
  CHECK_EQ(f32({}), "[]");
  CHECK_EQ(format_value(Tensor::of<float>({2, 2}, {1, 2, 3, 4.5f})), "[[1.  2. ]\n [3.  4.5]]");
  CHECK_EQ(format_value(Tensor::of<float>({2, 2, 2}, {0, 1, 2, 3, 4, 5, 6, 7})),
           "[[[0. 1.]\n  [2. 3.]]\n\n [[4. 5.]\n  [6. 7.]]]");
  std::vector<float> sevenths;
  for (int i = 0; i < 30; ++i) sevenths.push_back(static_cast<float>(i) / 7);
  CHECK_EQ(f32(sevenths).substr(0, 133),
           "[0.         0.14285715 0.2857143  0.42857143 0.5714286  0.71428573\n"
           " 0.85714287 1.         1.1428572  1.2857143  1.4285715  1.5714285\n");
  std::vector<int32_t> many(1001);
  for (int i = 0; i < 1001; ++i) many[static_cast<size_t>(i)] = i;
  CHECK_EQ(format_value(Tensor::vector<int32_t>(many)), "[   0    1    2 ...  998  999 1000]");
}

TEST(learning_rate_hook_validates_a_state_before_restoring_it) {
  Args args("LearningRateHook");
  args.set("metric_name", Value::of(std::string("loss")));
  args.set("eval_dir", Value::of(runhooks_test::temporary_folder()));
  args.set("factor", Value::of(0.5));
  args.set("patience", Value::of(int64_t{5}));
  const HookPtr hook = make_hook("LearningRateHook", args);
  NamedTensors state = hook->save_state();
  CHECK(hook->read_state(state) != nullptr);
  for (const char* part : {"scale", "best", "best_step", "since"}) {
    NamedTensors damaged = state;
    damaged[part] = Tensor::string_scalar("damaged");
    CHECK_THROWS(hook->read_state(damaged), Code::kDataLoss, part);
  }
  state["scale"] = Tensor::scalar<double>(-1);
  CHECK_THROWS(hook->read_state(state), Code::kDataLoss, "not -1");
  state["scale"] = Tensor::scalar<double>(0.5);
  state["metric"] = Tensor::string_scalar("accuracy");
  CHECK_THROWS(hook->read_state(state), Code::kFailedPrecondition, "\"accuracy\", not \"loss\"");
}
