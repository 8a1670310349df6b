// Edited states in checkpoints are either rejected without changes or restored and usable. Nothing
// crashes or hangs.
#include <algorithm>
#include <chrono>
#include <cstdlib>

#include "base/interrupt.h"
#include "data/iterator_resource.h"
#include "dataset_kinds.h"
#include "estimators/run/resumable_run.h"
#include "hooks/hook_registry.h"
#include "io_test.h"
#include "monitored/hook_saveable.h"
#include "op_example.h"
#include "state_edits.h"
#include "test.h"
#include "training/saver.h"

using namespace runhooks;
using namespace runhooks_test;

namespace {

using Random = std::mt19937_64;

Random seeded(const char* test) {
  const char* edited_value = std::getenv("RUNHOOKS_SEED");
  const uint64_t seed =
      edited_value ? std::strtoull(edited_value, nullptr, 10) : std::random_device()();
  std::fprintf(stderr, "%s: RUNHOOKS_SEED=%llu repeats it\n", test,
               static_cast<unsigned long long>(seed));
  return Random(seed);
}

// Fails the test if it takes longer than five seconds, as an endless loop would.
class TimeLimit {
 public:
  TimeLimit() {
    began() = std::chrono::steady_clock::now();
    set_interrupt_check([] {
      if (std::chrono::steady_clock::now() - began() < std::chrono::seconds(5)) return;
      fail_at(__FILE__, __LINE__, "It does not end.");
    });
  }
  ~TimeLimit() { set_interrupt_check(nullptr); }
  void begin() { began() = std::chrono::steady_clock::now(); }

 private:
  static std::chrono::steady_clock::time_point& began() {
    static std::chrono::steady_clock::time_point at;
    return at;
  }
};

// A saveable, and a function that uses the object whose state it restores.
struct Subject {
  SaveablePtr saveable;
  std::function<void()> use;
};

// Checks that restoring an edited state either throws an Error and changes nothing, or leaves the
// object usable.
void check_edit(const Subject& subject, ResourceManager& resources, const EditedState& edited) {
  context() = edited.description;
  const std::string before = text_of(saved_by(*subject.saveable, resources));
  try {
    const StateSource source(edited.state);
    if (const auto assign = subject.saveable->read(source, resources)) assign(resources);
  } catch (const Error& error) {
    CHECK(!error.message().empty());
    CHECK_EQ(text_of(saved_by(*subject.saveable, resources)), before);
    return;
  }
  try {
    subject.use();
  } catch (const Error&) {
    // An error is allowed, for example if elements are missing.
  }
  saved_by(*subject.saveable, resources);
}

void check_edits(const Subject& subject, ResourceManager& resources, Random& random) {
  const NamedTensors whole = saved_by(*subject.saveable, resources);
  std::vector<EditedState> all = single_edits(whole, random);
  for (int i = 0; i < 40; ++i) all.push_back(random_edits(whole, random));
  TimeLimit time_limit;
  const StateSource unedited(whole);
  for (const EditedState& edited : all) {
    time_limit.begin();
    check_edit(subject, resources, edited);
    if (const auto assign = subject.saveable->read(unedited, resources)) assign(resources);
  }
  context().clear();
}

// Checks an iterator without a graph, because elements that are datasets cannot be outputs of
// operations.
void check_alone(const Dataset& dataset, size_t cut, Random& random) {
  const auto iterator = dataset.make_iterator();
  elements_of(*iterator, cut);
  TimeLimit time_limit;
  for (const EditedState& edited : single_edits(iterator->save(), random)) {
    time_limit.begin();
    context() = edited.description;
    const auto other = dataset.make_iterator();
    try {
      other->restore(edited.state);
      text_of(elements_of(*other, 30));
    } catch (const Error& error) {
      CHECK(!error.message().empty());
    }
  }
  context().clear();
}

void check_iterator(const DatasetPtr& dataset, size_t cut, Random& random) {
  const std::vector<DType> dtypes = dataset->dtypes();
  if (std::count(dtypes.begin(), dtypes.end(), DType::kVariant) > 0) {
    return check_alone(*dataset, cut, random);
  }
  Graph graph;
  const Output handle = make_iterator_op(graph, dtypes, dataset->shapes(), dataset);
  ResourceManager resources;
  const auto pull = [&](size_t n) {
    return elements_of(*iterator_resource(resources, *handle.op).iterator, n);
  };
  pull(cut);
  check_edits({make_saveable_from_iterator(handle), [&pull] { pull(30); }}, resources, random);
}

NamedTensors edited(NamedTensors state, const std::string& name, const Tensor& value) {
  CHECK(state.count(name) == 1);
  state[name] = value;
  return state;
}

}  // namespace

TEST(edited_states_of_iterators_are_rejected_or_used) {
  Random random = seeded("edited_states_of_iterators");
  std::vector<DatasetPtr> all = datasets_in_memory();
  const std::vector<DatasetPtr> files = datasets_of_files(fresh_folder("states"));
  all.insert(all.end(), files.begin(), files.end());
  for (const DatasetPtr& dataset : all) {
    for (const size_t cut : {size_t{0}, size_t{1 + random() % 8}}) {
      check_iterator(dataset, cut, random);
    }
  }
}

TEST(edited_states_of_each_kind_of_dataset) {
  created_types().clear();
  datasets_in_memory();
  datasets_of_files(fresh_folder("states"));
  for (const auto& entry : Factory<Dataset>::instance().entries()) {
    if (created_types().count(entry.type) == 0) {
      fail_at(__FILE__, __LINE__, "tests/cpp/dataset_kinds.cpp has no " + entry.type);
    }
  }
}

TEST(positions_beyond_the_end_are_errors) {
  const auto other =
      dataset_of("ConcatenateDataset",
                 {{"other", Value::of(std::shared_ptr<CoreObject>(range_of(5)))}}, range_of(7));
  auto iterator = other->make_iterator();
  elements_of(*iterator, 8);
  const NamedTensors state = iterator->save();
  for (const int64_t begun : {7, 3, 1, 0}) {
    CHECK_THROWS(
        other->make_iterator()->restore(edited(state, "begun", Tensor::scalar<int64_t>(begun))),
        Code::kDataLoss, "begun");
  }
  CHECK_THROWS(
      other->make_iterator()->restore(edited(state, "current", Tensor::scalar<int64_t>(3))),
      Code::kDataLoss, "'current' cannot be 3, which is above 2.");

  const auto forever = dataset_of("RepeatDataset", {}, range_of(9));
  const auto window = windows(forever, 2, 4, false);
  auto skipping = window->make_iterator();
  elements_of(*skipping, 1);
  const NamedTensors between = skipping->save();
  CHECK_THROWS(window->make_iterator()->restore(
                   edited(between, "skips", Tensor::scalar<int64_t>(int64_t{1} << 62))),
               Code::kDataLoss, "'skips' cannot be 4611686018427387904, which is above 3.");
  // The state claims a number of empty elements that no file can hold.
  CHECK_THROWS(window->make_iterator()->restore(
                   edited(between, "buffer/size", Tensor::scalar<int64_t>(int64_t{1} << 50))),
               Code::kDataLoss, "'size' cannot be");
}

TEST(edited_dataset_elements_keep_their_types) {
  const auto shuffled = dataset_of("ShuffleDataset", {{"buffer_size", number(4)}},
                                   windows(range_of(20), 3, 2, false));
  auto iterator = shuffled->make_iterator();
  elements_of(*iterator, 2);
  NamedTensors state = iterator->save();
  const std::string first = "buffer/component_0/0/";
  state[first + "dtypes"] = Tensor::vector<int64_t>({static_cast<int64_t>(DType::kString)});
  state[first + "component_0"] = Tensor::strings({3}, {"a", "b", "c"});
  CHECK_THROWS(shuffled->make_iterator()->restore(state), Code::kDataLoss, "has the wrong types");
}

TEST(edited_states_of_operations_are_rejected_or_used) {
  Random random = seeded("edited_states_of_operations");
  int kinds = 0;
  for (const auto& [type, def] : all_ops()) {
    if (!def.resource_factory || type.rfind("_Test", 0) == 0) continue;
    ++kinds;
    std::mt19937 examples(11);
    for (const std::string& text : def.examples) {
      const OpExample example = build_example(def, text, DType::kFloat32, examples);
      ResourceManager resources;
      stateful_resource(resources, *example.op);
      const auto saveable = std::make_shared<ResourceSaveable>(*example.op);
      check_edits({saveable, [] {}}, resources, random);
    }
  }
  CHECK(kinds > 0);
}

// Checks that a restored value has the same bits as the checkpoint.
TEST(edited_values_of_variables_are_rejected_or_restored) {
  Random random = seeded("edited_values_of_variables");
  Graph graph;
  ResourceManager resources;
  std::vector<SaveablePtr> all;
  const auto add = [&](const char* name, const Tensor& value, bool reshape) {
    VariableOptions options;
    options.dtype = value.dtype();
    const VariablePtr variable = graph.variables().get(name, value.shape(), options);
    assign_variable(resources, *variable, value);
    all.push_back(variable_saveable(variable, "", reshape));
    return variable;
  };
  add("w", Tensor::of<float>({2, 3}, {1, 2, 3, 4, 5, 6}), false);
  add("d", Tensor::vector<double>({1, 2}), true);
  add("step", Tensor::scalar<int64_t>(7), false);
  add("flags", Tensor::vector<bool>({true, false}), true);
  mark_optional_in_checkpoint(add("noted", Tensor::scalar<float>(1), false));
  for (const SaveablePtr& one : all) {
    const NamedTensors whole = saved_by(*one, resources);
    for (const EditedState& edit : single_edits(whole, random)) {
      context() = edit.description;
      try {
        restore_saveables({one}, StateSource(edit.state), resources);
      } catch (const Error&) {
        CHECK_EQ(text_of(saved_by(*one, resources)), text_of(whole));
        continue;
      }
      const NamedTensors now = saved_by(*one, resources);
      const Tensor& value = now.begin()->second;
      if (edit.state.empty()) {
        CHECK(value.number_at(0) == 0);
      } else {
        const Tensor& edited_value = edit.state.begin()->second;
        CHECK_EQ(text_of({{"", edited_value.reshaped(value.shape())}}), text_of({{"", value}}));
      }
      restore_saveables({one}, StateSource(whole), resources);
    }
  }
  context().clear();
}

namespace {

// Returns the saveable of a hook in a loop. The loop has `before` earlier hooks with the same key.
std::shared_ptr<HookSaveable> saveable_of(const HookPtr& hook, const std::string& key, int before) {
  HookSaveable::Callbacks calls;
  calls.save = [hook](NamedTensors* state) {
    *state = hook->save_state();
    return true;
  };
  calls.read = [hook](const NamedTensors& state) { return hook->read_state(state); };
  return std::make_shared<HookSaveable>(hook->name(), key, before, calls);
}

}  // namespace

TEST(edited_states_of_hooks_are_rejected_or_restored) {
  Random random = seeded("edited_states_of_hooks");
  Args args("LearningRateHook");
  args.set("metric_name", Value::of(std::string("loss")));
  args.set("eval_dir", Value::of(temporary_folder()));
  args.set("factor", Value::of(0.5));
  args.set("patience", Value::of(int64_t{5}));
  ResourceManager resources;
  for (const bool is_named : {true, false}) {
    const std::string key = is_named ? "rate" : str_cat(RunHook::kUnnamedState, "it");
    const HookPtr hook = make_hook("LearningRateHook", args);
    const auto saveable = saveable_of(hook, key, 0);
    HookSaveable::set_unnamed_peers({saveable, saveable_of(hook, key, 1)});
    const NamedTensors whole = saved_by(*saveable, resources);
    CHECK(whole.size() == (is_named ? 5u : 6u));
    for (const EditedState& edit : single_edits(whole, random)) {
      context() = edit.description;
      const std::string before = text_of(hook->save_state());
      bool was_restored = false;
      try {
        restore_saveables({saveable}, StateSource(edit.state), resources);
        was_restored = true;
        saveable->restore_hook();
      } catch (const Error& error) {
        CHECK(!error.message().empty() && !was_restored);
        CHECK_EQ(text_of(hook->save_state()), before);
        continue;
      }
      // Checks that the restored numbers are those that the edit changed.
      for (const auto& [name, value] : hook->save_state()) {
        for (const auto& [path, edited_value] : edit.state) {
          if (path.substr(path.rfind('/') + 1) != name || name == "metric") continue;
          CHECK_EQ(text_of({{"", edited_value.reshaped(value.shape())}}), text_of({{"", value}}));
        }
      }
      restore_saveables({saveable}, StateSource(whole), resources);
      saveable->restore_hook();
    }
  }
  context().clear();
}

TEST(edited_checkpoints_of_resumable_runs_are_atomic) {
  Random random = seeded("edited_checkpoints_of_resumable_runs");
  Graph graph;
  const VariablePtr w = graph.variables().get("w", Shape{3}, {});
  const auto dataset =
      dataset_of("ShuffleDataset", {{"buffer_size", number(4)}}, doubled(rows_of(20), 1, true));
  const Output handle = make_iterator_op(graph, dataset->dtypes(), dataset->shapes(), dataset);
  graph.add_to_collection("iterators", handle);
  const Output noise = graph.op("RandomUniform", {graph.constant(Tensor::vector<int32_t>({2}))})
                           .attr("dtype", DType::kFloat32)
                           .named("noise");
  save_random_positions(graph, {noise.op});
  save_input_positions(graph, ResumeMismatch::kStop);
  ResourceManager resources;
  assign_variable(resources, *w, Tensor::vector<float>({1, 2, 3}));
  const std::vector<SaveablePtr> all = saveables_in(graph);
  const auto state_now = [&] { return saved_by(all, resources); };
  const auto pull = [&](size_t n) {
    elements_of(*iterator_resource(resources, *handle.op).iterator, n);
  };
  pull(3);
  const NamedTensors whole = state_now();
  CHECK(whole.size() > 15);
  TimeLimit time_limit;
  std::vector<EditedState> edits = single_edits(whole, random);
  for (int i = 0; i < 100; ++i) edits.push_back(random_edits(whole, random));
  size_t num_rejected = 0;
  for (const EditedState& edit : edits) {
    time_limit.begin();
    context() = edit.description;
    bool is_rejected = false;
    try {
      restore_saveables(all, StateSource(edit.state), resources);
    } catch (const Error&) {
      is_rejected = true;
      ++num_rejected;
    }
    if (!is_rejected) {
      try {
        pull(30);
      } catch (const Error&) {
        // An error is allowed, for example if elements are missing.
      }
      restore_saveables(all, StateSource(whole), resources);
    }
    CHECK_EQ(text_of(state_now()), text_of(whole));
  }
  context().clear();
  CHECK(num_rejected > edits.size() / 3);
}
