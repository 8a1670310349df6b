#include "estimators/replicas/replica_graph.h"

#include <algorithm>
#include <set>

#include "base/random.h"
#include "cluster/communicator.h"
#include "graph/ancestors.h"
#include "graph/endpoints.h"
#include "hooks/history_saver_hook.h"

namespace runhooks {

namespace {

// Distance between the seeds of two processes; large, so that user seeds do not collide.
constexpr int64_t kSeedStride = 1000003;

int64_t shared_seed(const RunConfig& config) {
  int64_t seed = config.tf_random_seed;
  if (!config.has_seed) seed = static_cast<int64_t>(fresh_seed() >> 33);
  communicator().broadcast(&seed, sizeof seed, 0);
  return seed;
}

void add_replica_losses(Graph& graph) {
  const auto losses = graph.collection(collection_keys::kLosses);
  const Output* loss = losses.empty() ? nullptr : std::get_if<Output>(&losses.front());
  if (!loss || !is_floating(loss->dtype()) || !loss->shape().has_rank()) return;
  const NameScope scope(graph, "losses_of_all");
  if (loss->shape().rank() == 0) {
    const Output one = graph.scalar(loss->dtype(), 1);
    return add_endpoint(graph, kReplicaLosses, "",
                        mean_over_replicas(graph, graph.op("Pack", {*loss, one})));
  }
  std::vector<int32_t> axes;
  for (int i = 0; i < loss->shape().rank(); ++i) axes.push_back(i);
  const Output sum = graph.op("Sum", {*loss, graph.int_vector(axes)});
  const Output size = graph.op("Size", {*loss});
  const Output n = graph.op("Cast", {size}).attr("DstT", loss->dtype());
  const Output sum_and_count = sum_over_replicas(graph, graph.op("Pack", {sum, n}));
  add_endpoint(graph, kReplicaLosses, "", sum_and_count);
}

bool reads_data(const Operation& op) {
  const auto& inputs = op.def().inputs;
  return std::any_of(inputs.begin(), inputs.end(),
                     [](const ArgDef& input) { return input.handle_of == "iterator"; });
}

// Whether a sum over rows is still a sum after this op. Other ops may turn it into a mean.
bool preserves_sums(const Operation& op) {
  static const auto* types = new std::set<std::string>{
      "Identity", "Reshape", "Squeeze", "Cast", "Neg", "Add", "AddV2", "AddN", "Sub", "Mul"};
  return types->count(op.type()) > 0;  // lint: allow op-type
}

// Rejects a custom loss that sums over rows: the mean of the processes' losses would not be the
// loss of all rows.
void check_custom_loss(const Output& loss) {
  const ReplicaScope* replicas = ReplicaScope::of(loss.graph());
  ancestors_of({loss.op}, Through::kInputs, [&](const Operation& op) {
    if (replicas->is_loss(&op)) return false;
    // Listed by type, because op definitions do not declare reductions.
    const bool is_sum = op.type() == "Sum" || op.type() == "L2Loss";  // lint: allow op-type
    if (is_sum && find_ancestor(&op, Through::kInputs, reads_data)) {
      throw Error(Code::kUnimplemented,
                  str_cat("Loss '", loss.name(), "' sums over rows in '", op.name(),
                          "'. Distributed training averages the losses of the processes, so the "
                          "loss must be a mean over rows."),
                  {"Use tf$reduce_mean() instead, or a loss of tf$losses with reduction = "
                   "\"sum\"."});
    }
    return preserves_sums(op);
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
    (*scope)->seed = shared_seed(config);
    (*scope)->sync_batch_norm = config.sync_batch_norm;
    graph.set_seed((*scope)->seed);
    ModelInput input = input_fn(graph, mode);
    // Initial variable values come from the chief, so the model can use a different seed.
    graph.set_seed(seed_of_process(**scope));
    return input;
  };
}

InputFn with_shared_seed(const InputFn& input_fn, const RunConfig& config) {
  return [&input_fn, &config](Graph& graph, Mode mode) {
    graph.set_seed(shared_seed(config));
    return input_fn(graph, mode);
  };
}

void check_collectives(ReplicaScope& replicas, EstimatorSpec& spec) {
  // Shuffles read the graph's seed when a session starts, so restore the shared seed.
  Graph& graph = spec.loss.graph();
  if (graph.seed() == seed_of_process(replicas)) graph.set_seed(replicas.seed);
  if (!replicas.has_gradients()) {
    throw Error(Code::kUnimplemented,
                "This model cannot be trained by several processes: no optimizer computes "
                "gradients that could be summed.",
                {"Train it in one process, without `train_distribute`."});
  }
  if (!replicas.is_mean(spec.loss)) {
    check_custom_loss(spec.loss);
    spec.loss = mean_over_replicas(graph, spec.loss);
  }
  add_replica_losses(graph);
}

}  // namespace runhooks
