// Boosted trees on feature columns (tf.estimator.BoostedTreesRegressor and related classes). A tree
// grows by one layer after every `n_batches_per_layer` batches.
#include <algorithm>
#include <functional>
#include <numeric>

#include "autodiff/gradients.h"
#include "base/random.h"
#include "control/control_flow.h"
#include "estimators/heads/head_base.h"
#include "estimators/heads/softmax_derivatives.h"
#include "estimators/models/canned.h"
#include "estimators/models/tree_arguments.h"
#include "estimators/models/tree_features.h"
#include "estimators/models/tree_model.h"
#include "estimators/models/tree_model_traits.h"
#include "estimators/models/trees_in_memory.h"
#include "graph/ancestors.h"
#include "graph/endpoints.h"
#include "nn/replicas.h"
#include "nn/summary_ops.h"
#include "ops/state/conditional_accumulator.h"
#include "session/warmup_steps.h"
#include "trees/ensemble_resource.h"
#include "trees/growth.h"
#include "trees/quantile_resource.h"
#include "trees/stop_at_trees_hook.h"

namespace runhooks {

namespace {

// Builds the training graph of boosted trees.
class EnsembleGrower {
 public:
  EnsembleGrower(Graph& graph,
                 const GrowthArguments& arguments,
                 const TreeModel& model,
                 const Features& input_features,
                 ColumnPtr weight_column,
                 int64_t logits,
                 InMemoryTreeBuilder* in_memory)
      : graph_(graph),
        args_(arguments),
        model_(model),
        input_features_(input_features),
        features_(model.features),
        input_(model.input),
        weight_column_(std::move(weight_column)),
        ensemble_(model.ensemble),
        logits_(logits),
        in_memory_(in_memory) {
    const auto groups = {TreeFeature::Group::kMultiHot, TreeFeature::Group::kNumbers,
                         TreeFeature::Group::kBucketized};
    for (const auto group : groups) add_group(group);
    Operation* states = graph.op("BoostedTreesGetEnsembleStates", {ensemble_});
    stamp_ = states->output(0);
    last_layer_ = states->output(4);
    summarize(states);
    needs_centering_ = add_flag(graph, "center_bias_needed", arguments.centers_bias);
  }

  Output predict() {
    if (in_memory_) {
      return logits_tensor_ =
                 in_memory_->logits(graph_, are_quantiles_ready(graph_), args_.is_logistic);
    }
    const Output zeros = graph_.op("ZerosLike", {input_.buckets.front()});
    const Output minus_ones = graph_.op("Sub", {zeros, graph_.scalar(DType::kInt32, 1, "one")});
    std::vector<Output> inputs = {ensemble_, zeros, minus_ones};
    inputs.insert(inputs.end(), input_.buckets.begin(), input_.buckets.end());
    Operation* predicted = graph_.op("BoostedTreesTrainingPredict", inputs)
                               .attr("num_bucketized_features", num_features())
                               .attr("logits_dimension", logits_);
    nodes_ = predicted->output(2);
    return logits_tensor_ = predicted->output(0);
  }

  // Adds accumulators of batches, outside of the graph functions (branches) that use them.
  void add_accumulators() {
    if (args_.batches_per_layer == 1) return;
    for (const FeatureGroup& group : groups_) {
      const std::string name =
          str_cat("numeric_stats_summary_accumulator_", layer_accumulators_.size());
      layer_accumulators_.push_back(add_accumulator(graph_, summary_shape(group), name));
    }
    if (args_.centers_bias) {
      bias_accumulators_ = {
          add_accumulator(graph_, Shape{logits_ + hessian_width()}, "bias_accumulator")};
    }
    if (input_.quantiles) {
      quantile_accumulators_ = {add_accumulator(graph_, Shape(), "quantile_summary_accum")};
    }
  }

  Operation* step(Graph& g, Output loss, bool is_softmax) {
    differentiate(g, loss, is_softmax);
    Operation* grown = grow(g);
    if (ReplicaScope* replicas = ReplicaScope::of(g)) replicas->mark_mean_gradients(grown);
    return grown;
  }

 private:
  Operation* grow(Graph& g) {
    const auto grow_branch = [this](Graph& graph) {
      return graph.group({grow_or_center(graph), next_step(graph)}, "grow_op");
    };
    if (!input_.quantiles) return grow_branch(g);
    // The condition reads the flag before the quantile branch may set it.
    const auto quantile_branch = [this](Graph& graph) { return add_quantiles(graph); };
    return add_uniform_cond(g, are_quantiles_ready(g), grow_branch, quantile_branch, "cond");
  }

  // Adds the ops of a branch of a conditional. Returns the last one, which depends on the others.
  using BranchBuilder = std::function<Operation*(Graph&)>;

  // Wraps `build` as a branch of a conditional. A branch must return a tensor, so it returns a
  // constant that depends on the op of `build`.
  static FunctionBuilder branch(const BranchBuilder& build) {
    return [build](FuncGraph& f, const std::vector<Output>&) -> std::vector<Output> {
      const ControlDependencies after(f, {build(f)});
      return {f.op("Identity", {f.constant(Tensor::scalar<bool>(true), "done")})};
    };
  }

  // Adds a conditional whose branches may contain collective ops. All processes take one branch.
  static Operation* add_uniform_cond(Graph& g,
                                     const Output& condition,
                                     const BranchBuilder& then_branch,
                                     const BranchBuilder& else_branch,
                                     const char* name) {
    const auto build = [&] {
      return add_cond(g, condition, branch(then_branch), branch(else_branch), name)[0].op;
    };
    ReplicaScope* replicas = ReplicaScope::of(g);
    return replicas && !g.is_function() ? replicas->add_conditional(build) : build();
  }

  struct FeatureGroup {
    std::vector<int32_t> ids;
    int64_t buckets = 2;
    int64_t size() const { return static_cast<int64_t>(ids.size()); }
  };

  int64_t num_features() const { return static_cast<int64_t>(features_.size()); }
  Output are_quantiles_ready(Graph& g) const { return read_flag(g, input_.boundaries_ready); }

  static Output read_flag(Graph& g, const Output& variable) {
    return g.op("ReadVariableOp", {variable}).attr("dtype", DType::kBool);
  }

  void add_group(TreeFeature::Group kind) {
    FeatureGroup group;
    for (size_t i = 0; i < features_.size(); ++i) {
      if (features_[i].group != kind) continue;
      group.ids.push_back(static_cast<int32_t>(i));
      group.buckets = std::max(group.buckets, features_[i].max_buckets());
    }
    if (!group.ids.empty()) groups_.push_back(group);
  }

  void summarize(Operation* states) {
    const NameScope root(graph_, "");
    const std::string prefix = str_cat(kTrees, "/ensemble/");
    add_scalar_summary(graph_, prefix + "num_trees", states->output(1));
    add_scalar_summary(graph_, prefix + "num_finalized_trees", states->output(2));
    add_scalar_summary(graph_, prefix + "num_attempted_layers", states->output(3));
    add_endpoint(graph_, "progress", "tree", states->output(2));
    add_endpoint(graph_, "progress", "layer", states->output(3));
  }

  LogisticDerivatives distributed_logistic_derivatives(Graph& g) const {
    const Output labels = endpoint(graph_, kBinaryLabels).at(0).second;
    return logistic_derivatives(g, labels, logits_tensor_,
                                sum_over_replicas(g, float_count_of_labels(g, labels)));
  }

  // Uses the closed form instead of automatic differentiation, as TensorFlow does for two classes
  // without weights. The last bits differ and decide between splits of nearly equal gain.
  void set_logistic_gradients(Graph& g) {
    const auto derivatives =
        in_memory_ ? in_memory_->logistic_gradients() : distributed_logistic_derivatives(g);
    gradients_ = derivatives.gradients;
    hessians_ = derivatives.hessians;
  }

  // Sets the first and second derivatives of the loss with respect to the logits of each example.
  void differentiate(Graph& g, Output loss, bool is_softmax) {
    if (args_.is_logistic) return set_logistic_gradients(g);
    differentiate_loss(g, loss, is_softmax);
    const int replicas = replicas_of(g);
    if (replicas == 1) return;
    // The distributed loss is the mean of the losses of the processes.
    for (Output* x : {&gradients_, &hessians_}) {
      *x = g.op("RealDiv", {*x, g.scalar(DType::kFloat32, replicas, "num_replicas")});
    }
  }

  void set_softmax_derivatives(Graph& g, const Output& loss) {
    const Operation* loss_op = find_ancestor(loss.op, Through::kInputs, [](const Operation& op) {
      return op.type() == "SparseSoftmaxCrossEntropyWithLogits";  // lint: allow op-type
    });
    if (!loss_op) fail(Code::kInternal, "'", loss.name(), "' is not a softmax loss.");
    Operation* losses = g.find_operation(loss_op->name());
    // The weight of a row is the derivative of the total loss with respect to the row's loss.
    const Output weights = gradients(g, {loss}, {losses->output(0)}, {}, {}, "Weights")[0].values;
    const Output labels = g.op("Cast", {losses->input(1)}).attr("DstT", DType::kInt64);
    Operation* softmax =
        g.op("BoostedTreesSoftmaxDerivatives", {losses->output(1), labels, weights});
    gradients_ = softmax->output(0);
    hessians_ = softmax->output(1);
  }

  void differentiate_loss(Graph& g, Output loss, bool is_softmax) {
    const auto by_logits = [&](const Output& y, const char* name) {
      const Gradient gradient = gradients(g, {y}, {logits_tensor_}, {}, {}, name)[0];
      if (gradient.is_none()) return Output(g.op("ZerosLike", {logits_tensor_}));
      return Output(g.op("Identity", {gradient.values}));
    };
    if (in_memory_ && logits_ > 1) return set_softmax_derivatives(g, loss);
    gradients_ = by_logits(loss, "Gradients");
    if (logits_ == 1) {
      hessians_ = by_logits(gradients_, "Hessians");
      return;
    }
    std::vector<Output> hessian_rows;
    Operation* unpacked = g.op("Unpack", {gradients_}).attr("num", logits_).attr("axis", 1);
    for (int k = 0; k < logits_; ++k)
      hessian_rows.push_back(by_logits(unpacked->output(k), "Hessians"));
    if (is_softmax) restore_softmax_sums(g, logits_tensor_, &gradients_, &hessian_rows);
    hessian_rows.push_back(g.scalar(DType::kInt32, 1, "axis"));
    hessians_ = g.op("ConcatV2", hessian_rows);
  }

  Operation* next_step(Graph& g) const {
    const VariablePtr step = get_or_create_global_step(graph_);
    const Output one = g.scalar(DType::kInt64, 1, "one");
    return g.op(step->is_resource ? "AssignAddVariableOp" : "AssignAdd", {step->handle, one});
  }

  Operation* grow_or_center(Graph& g) {
    if (!args_.centers_bias) return layer(g);
    return add_uniform_cond(
        g, read_flag(g, needs_centering_->handle), [this](Graph& f) { return bias(f); },
        [this](Graph& f) { return layer(f); }, "center_bias");
  }

  // Adds the ops of use(graph, values) for the values of a batch. With several batches per layer,
  // the ops run once all batches are accumulated, and get the means over the batches.
  template <typename Use>
  Operation* add_if_accumulated(Graph& g,
                                const std::vector<Output>& batch_values,
                                const char* name,
                                std::vector<Output>* accumulators,
                                const Use& use) {
    if (args_.batches_per_layer == 1) return use(g, batch_values);
    std::vector<Operation*> apply_ops;
    for (size_t i = 0; i < batch_values.size(); ++i) {
      apply_ops.push_back(
          g.op("ResourceAccumulatorApplyGradient", {(*accumulators)[i], stamp_, batch_values[i]}));
    }
    const ControlDependencies after(g, apply_ops);
    const Output count = g.op("ResourceAccumulatorNumAccumulated", {(*accumulators)[0]});
    const Output n_batches =
        g.scalar(DType::kInt32, static_cast<double>(args_.batches_per_layer), "n_batches");
    const auto use_means = [&](Graph& f) {
      std::vector<Output> means;
      for (const Output& accumulator : *accumulators) {
        means.push_back(
            f.op("ResourceAccumulatorTakeGradient", {accumulator, f.scalar(DType::kInt32, 1)})
                .attr("dtype", DType::kFloat32));
      }
      return use(f, means);
    };
    const auto do_nothing = [](Graph& f) -> Operation* { return f.op("NoOp"); };
    const Output is_complete = g.op("GreaterEqual", {count, n_batches});
    return add_cond(g, is_complete, branch(use_means), branch(do_nothing), name)[0].op;
  }

  // Softmax derivatives in memory contain only the diagonal of the Hessian matrix.
  int64_t hessian_width() const { return logits_ == 1 || in_memory_ ? logits_ : logits_ * logits_; }
  Shape summary_shape(const FeatureGroup& group) const {
    if (logits_ == 1) return Shape{group.size(), args_.max_splits(), group.buckets, 2};
    return Shape{group.size(), args_.max_splits(), 1, group.buckets + 1, logits_ + hessian_width()};
  }

  Output summary(Graph& g, const FeatureGroup& group) const {
    if (ReplicaScope::of(g)) return distributed_summary(g, group);
    std::vector<Output> inputs = {nodes_, gradients_, hessians_};
    if (logits_ == 1) {
      for (const int32_t id : group.ids) inputs.push_back(bucket(id));
      return g.op("BoostedTreesMakeStatsSummary", inputs)
          .attr("max_splits", args_.max_splits())
          .attr("num_buckets", group.buckets)
          .attr("num_features", group.size());
    }
    std::vector<Output> by_feature;
    for (const int32_t id : group.ids) {
      const Output column = g.op("ExpandDims", {bucket(id), g.scalar(DType::kInt32, 1)});
      by_feature.push_back(
          g.op("BoostedTreesAggregateStats", {nodes_, gradients_, hessians_, column})
              .attr("max_splits", args_.max_splits())
              .attr("num_buckets", group.buckets));
    }
    return g.op("Pack", by_feature).attr("axis", 0);
  }
  // Sums a batch's statistics over all processes before they are accumulated. Accumulators, and
  // therefore checkpoints, are then equal in all processes.
  Output distributed_summary(Graph& g, const FeatureGroup& group) const {
    std::vector<Output> inputs = {last_layer_, nodes_, gradients_, hessians_};
    for (const int32_t id : group.ids) inputs.push_back(bucket(id));
    const int64_t missing = logits_ == 1 ? 0 : 1;
    const Output sums = ordered_collective(g, g.op("BoostedTreesStatsSummaryOfAll", inputs)
                                                  .attr("max_splits", args_.max_splits())
                                                  .attr("num_buckets", group.buckets + missing)
                                                  .attr("num_features", group.size())
                                                  .attr("group_size", replicas_of(g)))
                            ->output(0);
    if (logits_ == 1) return sums;
    return g.op("ExpandDims", {sums, g.scalar(DType::kInt32, 2)});
  }
  Output bucket(int32_t id) const { return input_.buckets[static_cast<size_t>(id)]; }

  Operation* layer(Graph& g) {
    if (in_memory_) {
      GrowthArguments arguments = args_;
      if (arguments.samples_rows_or_columns()) arguments.seed = seed_of(g);
      return in_memory_->grow(g, gradients_, hessians_, arguments.rules());
    }
    std::vector<Output> summaries;
    for (const FeatureGroup& group : groups_) summaries.push_back(summary(g, group));
    return add_if_accumulated(g, summaries, "wait_until_n_batches_accumulated",
                              &layer_accumulators_,
                              [this](Graph& f, const std::vector<Output>& stats) {
                                return logits_ == 1 ? split(f, stats) : split_multi_logit(f, stats);
                              });
  }

  // Returns the seed of sampling, equal in all processes; random if the model has no seed.
  static int64_t seed_of(Graph& g) {
    if (const ReplicaScope* replicas = ReplicaScope::of(g)) return replicas->seed;
    return g.has_seed() ? g.seed() : static_cast<int64_t>(fresh_seed() >> 1);
  }

  void add_rules(Graph& g, std::vector<Output>* inputs) const {
    inputs->push_back(g.scalar(DType::kFloat32, args_.l1, "l1"));
    inputs->push_back(g.scalar(DType::kFloat32, args_.l2, "l2"));
    inputs->push_back(g.scalar(DType::kFloat32, args_.complexity, "tree_complexity"));
    inputs->push_back(g.scalar(DType::kFloat32, args_.min_node_weight, "min_node_weight"));
  }

  static std::vector<Output> unpack_features(Graph& g, int64_t n, const Output& stats) {
    Operation* unpacked = g.op("Unpack", {stats}).attr("num", n).attr("axis", 0);
    return unpacked->outputs();
  }

  // Divides the outputs of `op` into `num_lists` lists of equal size. Appends each to the list with
  // the same index in `lists_of_groups`.
  static void add_lists(Operation* op,
                        size_t num_lists,
                        std::vector<std::vector<Output>>* lists_of_groups) {
    lists_of_groups->resize(num_lists);
    const size_t list_size = static_cast<size_t>(op->num_outputs()) / num_lists;
    for (size_t i = 0; i < num_lists * list_size; ++i) {
      (*lists_of_groups)[i / list_size].push_back(op->output(static_cast<int>(i)));
    }
  }

  // Returns the inputs of an op that adds splits to the trees. Reorders `lists` from group order to
  // feature order, because the first feature wins among equal gains, as in TensorFlow.
  std::vector<Output> update_inputs(Graph& g, const std::vector<std::vector<Output>>& lists) const {
    std::vector<size_t> position(features_.size());
    size_t next = 0;
    for (const FeatureGroup& group : groups_) {
      for (const int32_t id : group.ids) position[static_cast<size_t>(id)] = next++;
    }
    std::vector<int32_t> ids(position.size());
    std::iota(ids.begin(), ids.end(), 0);
    std::vector<Output> inputs = {ensemble_,
                                  g.constant(Tensor::vector<int32_t>(ids), "feature_ids")};
    for (const auto& list : lists) {
      for (const size_t at : position) inputs.push_back(list[at]);
    }
    inputs.push_back(g.scalar(DType::kInt32, static_cast<double>(args_.max_depth), "max_depth"));
    inputs.push_back(g.scalar(DType::kFloat32, args_.rate, "learning_rate"));
    return inputs;
  }

  Operation* split(Graph& g, const std::vector<Output>& stats) const {
    std::vector<std::vector<Output>> lists;
    for (size_t i = 0; i < groups_.size(); ++i) {
      std::vector<Output> inputs = unpack_features(g, groups_[i].size(), stats[i]);
      inputs.insert(inputs.begin(), last_layer_);
      add_rules(g, &inputs);
      add_lists(g.op("BoostedTreesCalculateBestGainsPerFeature", inputs)
                    .attr("max_splits", args_.max_splits())
                    .attr("num_features", groups_[i].size()),
                5, &lists);
    }
    return g.op("BoostedTreesUpdateEnsemble", update_inputs(g, lists))
        .attr("pruning_mode", static_cast<int64_t>(args_.pruning))
        .attr("num_features", num_features());
  }

  Operation* split_multi_logit(Graph& g, const std::vector<Output>& stats) const {
    constexpr size_t kOrder[] = {2, 0, 1, 3, 4, 5, 6};
    std::vector<std::vector<Output>> lists(7);
    for (size_t i = 0; i < groups_.size(); ++i) {
      for (const Output& feature : unpack_features(g, groups_[i].size(), stats[i])) {
        std::vector<Output> inputs = {last_layer_, feature};
        add_rules(g, &inputs);
        Operation* best =
            g.op("BoostedTreesCalculateBestFeatureSplit", inputs).attr("logits_dimension", logits_);
        for (size_t k = 0; k < lists.size(); ++k) {
          lists[k].push_back(best->output(static_cast<int>(kOrder[k])));
        }
      }
    }
    std::vector<Output> inputs = update_inputs(g, lists);
    inputs.push_back(g.scalar(DType::kInt32, static_cast<double>(args_.pruning), "pruning_mode"));
    return g.op("BoostedTreesUpdateEnsembleV2", inputs).attr("num_features", num_features());
  }

  Operation* bias(Graph& g) {
    const Output axis = g.int_vector({0}, "axis");
    const auto mean = [&](const Output& x) { return Output(g.op("Mean", {x, axis})); };
    const auto concatenated = [&](const Output& x, const Output& y) {
      return Output(g.op("ConcatV2", {x, y, g.scalar(DType::kInt32, 0, "concat_axis")}));
    };
    Output mean_derivatives = concatenated(mean(gradients_), mean(hessians_));
    if (ReplicaScope::of(g)) {
      const Output rows = g.op("Shape", {gradients_});
      const Output n = g.op("Cast", {g.op("Slice", {rows, g.int_vector({0}), g.int_vector({1})})})
                           .attr("DstT", DType::kFloat32);
      const Output fraction_of_rows = g.op("RealDiv", {n, sum_in_uniform_branch(g, n)});
      mean_derivatives =
          sum_in_uniform_branch(g, g.op("Mul", {mean_derivatives, fraction_of_rows}));
    }
    return add_if_accumulated(
        g, {mean_derivatives}, "wait_until_n_batches_for_bias_accumulated", &bias_accumulators_,
        [this](Graph& f, const std::vector<Output>& means) { return center_bias(f, means[0]); });
  }

  Operation* center_bias(Graph& g, const Output& means) const {
    const auto slice_of_means = [&](int64_t begin, int64_t size) {
      const auto vector_of = [&g](int64_t x) { return g.int_vector({static_cast<int32_t>(x)}); };
      const Output values = g.op("Slice", {means, vector_of(begin), vector_of(size)});
      return Output(g.op("ExpandDims", {values, g.scalar(DType::kInt32, 0)}));
    };
    const Output continues =
        g.op("BoostedTreesCenterBias",
             {ensemble_, slice_of_means(0, logits_), slice_of_means(logits_, hessian_width()),
              g.scalar(DType::kFloat32, args_.l1), g.scalar(DType::kFloat32, args_.l2)});
    return g.op("AssignVariableOp", {needs_centering_->handle, continues});
  }

  Operation* quantile_summaries(Graph& g, std::vector<Output> inputs) const {
    const auto n = static_cast<int64_t>(inputs.size());
    const bool is_distributed = ReplicaScope::of(g) != nullptr;
    if (weight_column_) {
      TransformationCache cache(g, input_features_);
      const Output weights = cache.transformed(*weight_column_);
      const Output numbers = g.op("Cast", {weights}).attr("DstT", DType::kFloat32);
      inputs.push_back(g.op("Reshape", {numbers, g.int_vector({-1})}));
    } else if (!is_distributed) {
      inputs.push_back(g.constant(Tensor::vector<float>({1}), "weights"));
    }
    inputs.push_back(g.scalar(DType::kFloat32, args_.epsilon, "epsilon"));
    if (!is_distributed) {
      return g.op("BoostedTreesMakeQuantileSummaries", inputs).attr("num_features", n);
    }
    return ordered_collective(g,
                              g.op("BoostedTreesQuantileSummariesOfAll", inputs)
                                  .attr("num_features", n)
                                  .attr("num_weights", static_cast<int64_t>(weight_column_ ? 1 : 0))
                                  .attr("group_size", replicas_of(g)));
  }

  Operation* add_quantiles(Graph& g) {
    // With data in memory, no other op needs the numbers, so they are computed in this branch.
    std::vector<Output> inputs =
        in_memory_ ? tree_numbers(g, input_features_, model_.columns, features_) : input_.numbers;
    const auto n = static_cast<int64_t>(inputs.size());
    Operation* summaries = quantile_summaries(g, inputs);
    std::vector<Output> stream_inputs = summaries->outputs();
    stream_inputs.insert(stream_inputs.begin(), input_.quantiles);
    Operation* added = g.op("BoostedTreesQuantileStreamResourceAddSummaries", stream_inputs)
                           .attr("num_features", n);
    const ControlDependencies after(g, {added});
    const Output placeholder = g.constant(Tensor::scalar<float>(0), "nothing");
    return add_if_accumulated(g, {placeholder}, "wait_until_quantiles_accumulated",
                              &quantile_accumulators_,
                              [this](Graph& f, const std::vector<Output>&) { return flush(f); });
  }

  Operation* flush(Graph& g) const {
    const auto buckets = quantile_buckets(args_.epsilon);
    Operation* flushed =
        g.op("BoostedTreesQuantileStreamResourceFlush",
             {input_.quantiles, g.constant(Tensor::scalar<int64_t>(buckets), "num_buckets")});
    const ControlDependencies after(g, {flushed});
    return g.op("AssignVariableOp",
                {input_.boundaries_ready, g.constant(Tensor::scalar<bool>(true), "ready")});
  }

  Graph& graph_;
  const GrowthArguments& args_;
  const TreeModel& model_;
  const Features& input_features_;
  const std::vector<TreeFeature>& features_;
  const TreeInput& input_;
  ColumnPtr weight_column_;  // NULL if all weights are 1
  Output ensemble_;
  int64_t logits_;
  InMemoryTreeBuilder* in_memory_;  // NULL if data come in batches
  std::vector<FeatureGroup> groups_;
  std::vector<Output> layer_accumulators_, bias_accumulators_, quantile_accumulators_;
  VariablePtr needs_centering_;
  Output stamp_, last_layer_, nodes_, logits_tensor_, gradients_, hessians_;
};

ModelFn trees_model_fn(const std::shared_ptr<Head>& head, const Args& args) {
  const Args arguments = args;
  GrowthArguments growth(args);
  growth.is_logistic = !args.has("head") && head->labels().family == "binomial" &&
                       !args.has("weight_column") && !args.has("class_weights");
  return [head, arguments, growth](Graph& graph, const ModelInput& input, Mode mode) {
    const TreeModel model(graph, input.features, arguments, growth.epsilon);
    const int64_t width = head->logits_dimension();
    if (mode != Mode::kTrain) {
      Output logits;
      {
        const NameScope scope(graph, str_cat(kTrees, "/"));
        logits = predicted_logits(graph, model, width, arguments.integer("first_trees", 0));
      }
      EstimatorSpec spec = head->create_estimator_spec(graph, input, mode, logits, {});
      if (mode == Mode::kPredict && arguments.flag("explains", false)) {
        const Output credits = contributions(graph, model, *head);
        spec.predictions.emplace_back("contributions",
                                      to_label_units(graph, credits, arguments, width));
      }
      return spec;
    }
    if (model.input.quantiles) mark_has_warmup_steps(graph);
    const NameScope root(graph, str_cat(kTrees, "/"));
    const std::string family = head->labels().family;
    const bool has_softmax = family == "multinomial";
    const bool uses_memory = has_same_rows(graph) && growth.batches_per_layer == 1 &&
                             (width == 1 || (growth.from_formula && has_softmax));
    if (growth.samples_rows_or_columns()) {
      check_sampling(growth.rules(), model.features, uses_memory && growth.from_formula);
    }
    const InMemoryTreeOptions options{static_cast<int32_t>(width),
                                      growth.from_formula && (has_softmax || family == "binomial")};
    InMemoryTreeBuilder in_memory(model.features, model.input, model.ensemble, options);
    EnsembleGrower grower(graph, growth, model, input.features, weight_column_argument(arguments),
                          width, uses_memory ? &in_memory : nullptr);
    const Output logits = grower.predict();
    grower.add_accumulators();
    const NameScope no_scope(graph, "");
    ModelInput train_input = input;
    if (uses_memory && growth.is_logistic) {
      train_input.mean_loss = [&in_memory](Graph& g, const Output& labels) {
        return in_memory.logistic_loss(g, labels);
      };
    }
    EstimatorSpec spec = head->create_estimator_spec(graph, train_input, mode, logits,
                                                     [&grower, has_softmax](Graph& g, Output loss) {
                                                       return grower.step(g, loss, has_softmax);
                                                     });
    if (uses_memory) spec.training_hooks.push_back(in_memory.hook());
    const TreeTargets targets{growth.n_trees, growth.max_depth, growth.batches_per_layer,
                              growth.from_formula && uses_memory};
    spec.training_hooks.push_back(stop_at_trees_hook(model.ensemble, targets));
    return spec;
  };
}

// Makes the loss a mean, as in TensorFlow. This defines the units of l1, l2 and min_node_weight.
Args with_mean_loss(const Args& args) {
  Args changed = args;
  changed.set("loss_reduction", Value::of(std::string("sum_over_batch_size")));
  return changed;
}

[[maybe_unused]] const bool kTreesRegistered = register_models(
    kTrees,
    trees_traits(),
    {[](const Args& args) {
       return make_canned(trees_model_fn,
                          make_estimator_head("regression_head", with_mean_loss(args)), args);
     },
     [](const Args& args) {
       return make_canned(trees_model_fn, classifier_head(with_mean_loss(args)), args);
     },
     [](const Args& args) { return make_canned(trees_model_fn, head_from_argument(args), args); }});

}  // namespace

}  // namespace runhooks
