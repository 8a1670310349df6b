#include "states.h"

#include <unistd.h>

#include <cstdlib>
#include <filesystem>

#include "base/fingerprint.h"
#include "data/iterator_resource.h"
#include "dataset_kinds.h"
#include "estimators/run/resumable_run.h"
#include "io/files/plain_fields.h"
#include "monitored/hook_saveable.h"
#include "state_edits.h"

namespace runhooks_fuzz {

using namespace runhooks;
using namespace runhooks_test;

namespace {

const std::vector<DatasetPtr>& kinds() {
  static const std::vector<DatasetPtr> all = [] {
    std::string folder = (std::filesystem::temp_directory_path() / "runhooks-XXXXXX").string();
    if (!mkdtemp(folder.data())) std::abort();
    static std::string made = folder;
    std::atexit([] { std::filesystem::remove_all(made); });
    std::vector<DatasetPtr> kinds = datasets_in_memory();
    const std::vector<DatasetPtr> files = datasets_of_files(folder);
    kinds.insert(kinds.end(), files.begin(), files.end());
    return kinds;
  }();
  return all;
}

// A run with all kinds of state: variables, an input with functions and a shuffle, random numbers,
// and a hook.
class Run {
 public:
  Run() {
    for (const DType dtype : {DType::kFloat32, DType::kInt64, DType::kBool}) {
      VariableOptions options;
      options.dtype = dtype;
      // The default initializer is in nn/, which is not linked here.
      options.initializer = [](Graph& g, const Shape& shape, DType type) -> Output {
        return g.constant(Tensor::zeros(type, shape));
      };
      const VariablePtr v = graph_.variables().get(dtype_name(dtype), Shape{3}, options);
      assign_variable(resources, *v, Tensor::zeros(dtype, Shape{3}));
    }
    const DatasetPtr dataset =
        dataset_of("ShuffleDataset", {{"buffer_size", number(4)}}, doubled(rows_of(20), 1, true));
    handle_ = make_iterator_op(graph_, dataset->dtypes(), dataset->shapes(), dataset);
    graph_.add_to_collection("iterators", handle_);
    const Output noise = graph_.op("RandomUniform", {graph_.constant(Tensor::vector<int32_t>({2}))})
                             .attr("dtype", DType::kFloat32)
                             .named("noise");
    keep_random_positions(graph_, {noise.op});
    keep_input_positions(graph_, ResumeMismatch::kStop);
    all = saveables_in(graph_);
    HookSaveable::Callbacks calls;
    calls.save = [this](NamedTensors* state) {
      *state = hook_;
      return true;
    };
    calls.read = [this](const NamedTensors& state) -> std::function<void()> {
      const auto found = state.find("plain");
      const bool is_text = found != state.end() && found->second.dtype() == DType::kString &&
                           found->second.num_elements() == 1;
      if (!is_text) fail(Code::kDataLoss, "It is damaged.");
      read_plain_data(found->second.string_at(0), "the state of a hook");
      return [this, state] { hook_ = state; };
    };
    hook = std::make_shared<HookSaveable>("Hook", "counter", 0, calls);
    all.push_back(hook);
    use(5);
  }
  // Reads up to `n` elements.
  void use(size_t n) {
    text_of(elements_of(*iterator_resource(resources, *handle_.op).iterator, n));
  }
  NamedTensors state() { return saved_by(all, resources); }
  ResourceManager resources;
  std::vector<SaveablePtr> all;
  std::shared_ptr<HookSaveable> hook;

 private:
  Graph graph_;
  Output handle_;
  NamedTensors hook_ = {{"plain", Tensor::string_scalar(write_plain_data(
                                      PlainFields().add("count", 3.0).add("who", "me").take()))}};
};

}  // namespace

void read_state_of_run(const std::string& bytes) {
  std::mt19937_64 random(fingerprint64(std::string_view(bytes)));
  Run run;
  const NamedTensors before = run.state();
  try {
    restore_saveables(run.all, StateSource(random_edits(before, random).state), run.resources);
  } catch (const Error&) {
    // A restore changes everything or nothing.
    if (text_of(run.state()) != text_of(before)) std::abort();
    throw;
  }
  run.hook->restore_hook();
  run.state();
  run.use(30);
}

void read_state_of_iterator(const std::string& bytes) {
  std::mt19937_64 random(fingerprint64(std::string_view(bytes)));
  const Dataset& dataset = *kinds()[random() % kinds().size()];
  const auto whole = dataset.make_iterator();
  elements_of(*whole, random() % 12);
  const auto edited = dataset.make_iterator();
  edited->restore(random_edits(whole->save(), random).state);
  // The restored state must be usable and can be saved again.
  text_of(elements_of(*edited, 30));
  edited->save();
}

}  // namespace runhooks_fuzz
