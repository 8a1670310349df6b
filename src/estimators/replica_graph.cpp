#include "estimators/replica_graph.h"

#include <algorithm>
#include <set>

#include "base/random.h"
#include "cluster/communicator.h"
#include "graph/ancestors.h"
#include "graph/endpoints.h"
#include "hooks/history_saver_hook.h"

namespace runhooks {

namespace {

// Between the seeds of two processes: any number that nobody adds to a seed.
constexpr int64_t kSeedStride = 1000003;

// Of all processes, for what must be the same in them: elements of datasets are dealt one by one.
int64_t seed_of_all(const RunConfig& config) {
  int64_t seed = config.tf_random_seed;
  if (!config.has_seed) seed = static_cast<int64_t>(fresh_seed() >> 33);
  communicator().broadcast(&seed, sizeof seed, 0);
  return seed;
}

// What the history records: the sum of the losses of a step, and how many they are.
void add_losses_of_all(Graph& graph) {
  const auto losses = graph.collection(collection_keys::kLosses);
  const Output* own = losses.empty() ? nullptr : std::get_if<Output>(&losses.front());
  if (!own || !is_floating(own->dtype()) || !own->shape().has_rank()) return;
  const NameScope scope(graph, "losses_of_all");
  if (own->shape().rank() == 0) {
    const Output one = graph.scalar(own->dtype(), 1);
    return add_endpoint(graph, kReplicaLosses, "",
                        mean_over_replicas(graph, graph.op("Pack", {*own, one})));
  }
  std::vector<int32_t> axes;
  for (int i = 0; i < own->shape().rank(); ++i) axes.push_back(i);
  const Output sum = graph.op("Sum", {*own, graph.int_vector(axes)});
  const Output size = graph.op("Size", {*own});
  const Output n = graph.op("Cast", {size}).attr("DstT", own->dtype());
  const Output both = sum_over_replicas(graph, graph.op("Pack", {sum, n}));
  add_endpoint(graph, kReplicaLosses, "", both);
}

bool reads_data(const Operation& op) {
  const auto& inputs = op.def().inputs;
  return std::any_of(inputs.begin(), inputs.end(),
                     [](const ArgDef& input) { return input.handle_of == "iterator"; });
}

// What hands sums of rows on as sums: a division may make a mean of them.
bool is_sum_of_scalars(const Operation& op) {
  static const auto* types = new std::set<std::string>{
      "Identity", "Reshape", "Squeeze", "Cast", "Neg", "Add", "AddV2", "AddN", "Sub", "Mul"};
  return types->count(op.type()) > 0;  // lint: allow op-type
}

// A loss of the model function's own, of the rows of a process: refused where it adds rows up, since
// the mean over all processes would not be the loss of all rows.
void check_own_loss(const Output& loss) {
  const ReplicaScope* replicas = ReplicaScope::of(loss.graph());
  ancestors_of({loss.op}, Through::kInputs, [&](const Operation& op) {
    if (replicas->is_loss(&op)) return false;
    // no definition says whether rows are added up
    const bool adds_up = op.type() == "Sum" || op.type() == "L2Loss";  // lint: allow op-type
    if (adds_up && find_ancestor(&op, Through::kInputs, reads_data)) {
      throw Error(Code::kUnimplemented,
                  str_cat("Loss '", loss.name(), "' adds up rows in '", op.name(),
                          "': of several processes the mean is taken, which would not be the loss of "
                          "all rows."),
                  {"Use tf$reduce_mean() in its place, or a loss of tf$losses with "
                   "reduction = \"sum\"."});
    }
    return is_sum_of_scalars(op);
  });
}

}  // namespace

int64_t seed_of_process(const ReplicaScope& replicas) {
  return replicas.seed + communicator().rank() * kSeedStride;
}

InputFn input_of_replicas(const InputFn& input_fn,
                          const RunConfig& config,
                          std::unique_ptr<ReplicaScope>* scope) {
  return [&input_fn, &config, scope](Graph& graph, Mode mode) {
    *scope = std::make_unique<ReplicaScope>(graph, config.replicas);
    (*scope)->seed = seed_of_all(config);
    (*scope)->normalizes_together = config.normalizes_together;
    graph.set_seed((*scope)->seed);
    ModelInput input = input_fn(graph, mode);
    // what variables begin with all have of the chief
    graph.set_seed(seed_of_process(**scope));
    return input;
  };
}

InputFn with_seed_of_all(const InputFn& input_fn, const RunConfig& config) {
  return [&input_fn, &config](Graph& graph, Mode mode) {
    graph.set_seed(seed_of_all(config));
    return input_fn(graph, mode);
  };
}

void check_collectives(ReplicaScope& replicas, EstimatorSpec& spec) {
  // shuffles ask for it when a session begins
  Graph& graph = spec.loss.graph();
  if (graph.seed() == seed_of_process(replicas)) graph.set_seed(replicas.seed);
  if (!replicas.has_gradients()) {
    throw Error(Code::kUnimplemented,
                "This model is not trained by the gradients of an optimizer, which is what several "
                "processes add up.",
                {"Train it in one process, without `train_distribute`."});
  }
  if (!replicas.is_mean(spec.loss)) {
    check_own_loss(spec.loss);
    spec.loss = mean_over_replicas(graph, spec.loss);
  }
  add_losses_of_all(graph);
}

}  // namespace runhooks
