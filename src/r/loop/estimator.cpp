#include <algorithm>

#include "estimators/heads/head.h"
#include "estimators/models/model_signature.h"
#include "estimators/models/model_traits.h"
#include "estimators/run/active_training.h"
#include "estimators/run/in_memory_evaluator_hook.h"
#include "estimators/run/run_folder.h"
#include "r/graph/gc_pressure.h"
#include "r/graph/handles_of_graph.h"
#include "r/loop/history.h"
#include "r/loop/loop.h"
#include "r/values/guarded_entry.h"
#include "r/values/handles.h"
#include "r/values/named_values.h"
#include "r/values/values.h"

namespace runhooks {
namespace r {

namespace {

RunConfig config_from_r(SEXP list) {
  const auto args = args_from_r(list, "run_config()");
  RunConfig config;
  config.model_dir = args->text("model_dir");
  config.has_seed = args->has("tf_random_seed");
  config.tf_random_seed = args->integer("tf_random_seed", 0);
  config.save_summary_steps = args->integer("save_summary_steps", 0);
  config.save_checkpoints_steps = args->integer("save_checkpoints_steps", 0);
  config.save_checkpoints_secs = args->number("save_checkpoints_secs", 0);
  config.keep_checkpoint_max = args->integer("keep_checkpoint_max", 0);
  config.keep_checkpoint_every_n_hours = args->number("keep_checkpoint_every_n_hours", 10000);
  config.log_step_count_steps = args->integer("log_step_count_steps", 0);
  config.checkpoint_input_pipeline = args->flag("checkpoint_input_pipeline", false);
  config.replicas = static_cast<int>(args->integer("replicas", 1));
  config.sync_batch_norm = args->flag("sync_batch_norm", false);
  config.on_other_data = resume_mismatch_from_name(args->text("on_other_data", "stop"));
  return config;
}

void write_metadata_from_r(SEXP input, const std::string& folder) {
  SEXP metadata = RList(input, "the result of an input function").find("metadata");
  if (metadata == R_NilValue) return;
  RunFolder::write_metadata(folder, plain_from_r(metadata, "The model metadata", "metadata"));
}

// Makes an input function from the R function `build`, whose argument is the mode. In training, its
// result may contain metadata, which are written to the model directory `folder`.
InputFn input_fn_from_r(SEXP build, const std::string& folder) {
  auto function = std::make_shared<Preserved>(function_from_r(build, "the input"));
  return [function, folder](Graph& graph, Mode mode) -> ModelInput {
    DefaultGraph scope(graph.shared_from_this());
    Rcpp::Shield<SEXP> name(text_to_r(mode_name(mode)));
    Rcpp::Shield<SEXP> result(call_r_function(function->get(), {name}));
    if (mode == Mode::kTrain) write_metadata_from_r(result, folder);
    ModelInput input = model_input_from_r(result);
    input.is_shard = Rf_getAttrib(result, Rf_install("sharded_by")) != R_NilValue;
    return input;
  };
}

SEXP named_tensors_to_r(const Named<Output>& tensors) {
  return named_values_to_r(tensors, tensor_handle);
}

SEXP input_features_to_r(const ModelInput& input) {
  const auto r_input = std::static_pointer_cast<const Preserved>(input.r_object);
  if (r_input) return list_element(r_input->get(), "features");
  return named_values_to_r(input.features, feature_to_r);
}

SEXP labels_to_r(const ModelInput& input) {
  const auto r_input = std::static_pointer_cast<const Preserved>(input.r_object);
  if (r_input) return list_element(r_input->get(), "labels");
  if (input.named_labels.empty()) return input.labels ? tensor_handle(input.labels) : R_NilValue;
  return named_tensors_to_r({input.named_labels.begin(), input.named_labels.end()});
}

// Adds the metrics that an R function of add_metrics() returns. They replace metrics of the same
// names.
void add_metrics_of_function(SEXP function, const ModelInput& input, EstimatorSpec& spec) {
  Rcpp::Shield<SEXP> features(input_features_to_r(input)), labels(labels_to_r(input));
  Rcpp::Shield<SEXP> predictions(named_tensors_to_r(spec.predictions));
  Rcpp::Shield<SEXP> result(call_r_function(function, {features, labels, predictions}));
  const RList metrics(result, "the result of a metric function");
  for (R_xlen_t i = 0; i < metrics.size(); ++i) {
    const std::string name = metrics.name(i);
    const RList pair(metrics[i], "a metric");
    SEXP update = pair[1];
    const Metric metric{tensor_of(pair[0]),
                        is_operation(update) ? operation_of(update) : tensor_of(update).op};
    auto same = std::find_if(spec.eval_metric_ops.begin(), spec.eval_metric_ops.end(),
                             [&name](const auto& other) { return other.first == name; });
    if (same == spec.eval_metric_ops.end()) {
      spec.eval_metric_ops.emplace_back(name, metric);
    } else {
      same->second = metric;
    }
  }
}

// Returns the arguments of a canned estimator. Removes their owner from messages, because R shows
// the constructor call.
std::shared_ptr<Args> estimator_args(SEXP spec) {
  const auto args = args_from_r(spec, "the estimator");
  args->set_owner("");
  return args;
}

CannedModel canned_model_from_r(SEXP spec) {
  const auto args = estimator_args(spec);
  const std::string type = args->text("type");
  args->set_owner(type + "()");
  return make_canned_model(type, *args);
}

double count_trainable_weights(const Graph& graph) {
  double count = 0;
  for (const VariablePtr& variable : variables_in(graph, collection_keys::kTrainableVariables)) {
    count += static_cast<double>(variable->shape.num_elements());
  }
  return count;
}

// Wraps a model function: adds the metrics of the R functions, and stores the number of trainable
// weights in `num_weights`.
ModelFn with_metric_functions(const ModelFn& model_fn,
                              SEXP functions,
                              const std::shared_ptr<double>& num_weights) {
  std::vector<RFunctionPtr> metric_functions;
  for (R_xlen_t i = 0; i < Rf_xlength(functions); ++i) {
    metric_functions.push_back(
        RFunction::make(function_from_r(VECTOR_ELT(functions, i), "a metric function")));
  }
  return
      [model_fn, metric_functions, num_weights](Graph& graph, const ModelInput& input, Mode mode) {
        DefaultGraph scope(graph.shared_from_this());
        EstimatorSpec spec = model_fn(graph, input, mode);
        *num_weights = count_trainable_weights(graph);
        if (mode == Mode::kEval) {
          for (const auto& function : metric_functions)
            add_metrics_of_function(function->get(), input, spec);
        }
        return spec;
      };
}

PlainFields record_fields_from_r(SEXP about) {
  const RList list(about, "the fields of a run record");
  PlainFields fields;
  for (R_xlen_t i = 0; i < list.size(); ++i) {
    fields.add(list.name(i), plain_from_r(list[i], "The record of a run", list.name(i)));
  }
  return fields;
}

// The C++ objects of a model, which all calls of train(), predict() etc. for one R object share.
struct CachedModel {
  ModelFn model_fn;
  std::shared_ptr<Head> head;        // NULL for custom models
  std::shared_ptr<Args> warm_start;  // may be NULL
  // The number of trainable weights in the graph that was built last.
  std::shared_ptr<double> num_weights = std::make_shared<double>(0);
  // NULL if each call must build a new graph.
  std::shared_ptr<ModelGraphCache> graph_cache;
};
const HandleKind kModel("runhooks_model");

std::shared_ptr<CachedModel> model_from_r(SEXP spec) {
  if (is_handle(spec, kModel)) return from_handle<CachedModel>(spec, kModel);
  auto model = std::make_shared<CachedModel>();
  SEXP custom_fn = list_element(spec, "model_fn");
  if (custom_fn != R_NilValue) {
    model->model_fn =
        custom_model_from_r(RFunction::make(function_from_r(custom_fn, "`model_fn`")));
  } else {
    const CannedModel canned = canned_model_from_r(spec);
    model->model_fn = canned.model_fn;
    model->head = canned.head;
  }
  Rcpp::Shield<SEXP> metrics(Rf_getAttrib(spec, Rf_install("metric_fns")));
  model->model_fn = with_metric_functions(model->model_fn, metrics, model->num_weights);
  SEXP warm_start = list_element(spec, "warm_start_from");
  if (warm_start != R_NilValue) model->warm_start = args_from_r(warm_start, "warm_start_from");
  return model;
}

SEXP predictions_to_r(const std::vector<TidyPrediction>& predictions) {
  static const char* const kColumns[] = {"class", "by_class", "numbers"};
  return list_to_r(predictions, [](const TidyPrediction& prediction) {
    return Rcpp::List::create(Rcpp::_["type"] = prediction.type, Rcpp::_["key"] = prediction.key,
                              Rcpp::_["columns"] = kColumns[static_cast<int>(prediction.columns)],
                              Rcpp::_["names"] = Rcpp::wrap(prediction.names));
  });
}

SEXP labels_to_r(const Head& head) {
  const LabelSpec labels = head.labels();
  Rcpp::Shield<SEXP> reads(reads_to_r(head.reads()));
  Rcpp::Shield<SEXP> predictions(predictions_to_r(labels.predictions));
  return Rcpp::List::create(
      Rcpp::_["width"] = static_cast<double>(labels.width),
      Rcpp::_["width_argument"] = labels.width_argument, Rcpp::_["lowest"] = labels.lowest,
      Rcpp::_["highest"] = labels.highest,
      Rcpp::_["n_classes"] = static_cast<int>(labels.n_classes),
      Rcpp::_["has_one_class"] = labels.has_one_class(), Rcpp::_["is_by_head"] = labels.is_by_head,
      Rcpp::_["vocabulary"] = Rcpp::wrap(labels.vocabulary), Rcpp::_["family"] = labels.family,
      Rcpp::_["predictions"] = predictions, Rcpp::_["reads"] = reads);
}

SEXP column_reads_to_r(SEXP spec) {
  const auto args = estimator_args(spec);
  std::vector<FeatureRead> all_reads;
  for (const ModelPart& part : registered_model(args->text("type")).traits->parts) {
    if (!part.has_columns || !args->has(part.columns_argument())) continue;
    for (const ColumnPtr& column : make_columns(args->list(part.columns_argument()))) {
      const std::vector<FeatureRead> reads = column->reads();
      all_reads.insert(all_reads.end(), reads.begin(), reads.end());
    }
  }
  return reads_to_r(all_reads);
}

// Throws if a canned model cannot be constructed; errors show the user's constructor call.
void check_canned_model(SEXP spec) {
  if (list_element(spec, "model_fn") != R_NilValue) return;
  const auto args = estimator_args(spec);
  make_canned_model(args->text("type"), *args);
}

// Returns a batch of predictions as a named list of arrays; NULL at the end.
SEXP next_batch_to_r(Predictions& predictions) {
  std::vector<Tensor> batch;
  if (!predictions.next(&batch)) return R_NilValue;
  Rcpp::List list(list_to_r(batch, [](const Tensor& tensor) { return tensor_to_r(tensor); }));
  list.names() = Rcpp::wrap(predictions.keys());
  return list;
}

SEXP history_of(const HookList& hooks) {
  for (const HookPtr& hook : hooks) {
    const auto saver = std::dynamic_pointer_cast<HistorySaverHook>(hook);
    if (saver) return history_to_r(*saver->history());
  }
  return R_NilValue;
}

}  // namespace

Estimator estimator_from_r(SEXP spec, SEXP config) {
  const std::shared_ptr<CachedModel> model = model_from_r(spec);
  return Estimator(model->model_fn, config_from_r(config), model->graph_cache);
}

std::shared_ptr<ModelGraphCache> graph_cache_of(SEXP model) {
  return model_from_r(model)->graph_cache;
}

ModelInput model_input_from_r(SEXP result) {
  ModelInput input;
  const RList parts(result, "the result of an input function");
  SEXP r_input = parts.find("given");
  if (r_input != R_NilValue) {
    input.r_object = std::make_shared<const Preserved>(r_input);
    // Sets the labels, so that hooks can fetch the endpoint "labels".
    SEXP labels = RList(r_input, "the result of an input function").find("labels");
    if (is_tensor(labels)) input.labels = tensor_of(labels);
    return input;
  }
  const RList features(parts[0], "the features of an input function");
  SEXP labels = parts[1];
  for (R_xlen_t i = 0; i < features.size(); ++i) {
    input.features[features.name(i)] = feature_from_r(features[i]);
  }
  if (TYPEOF(labels) == VECSXP) {
    const RList heads(labels, "the labels of an input function");
    for (R_xlen_t i = 0; i < heads.size(); ++i) {
      input.named_labels[heads.name(i)] = tensor_of(heads[i]);
    }
  } else if (labels != R_NilValue) {
    input.labels = tensor_of(labels);
  }
  return input;
}

HookPtr in_memory_evaluator_from_r(SEXP hook) {
  SEXP spec = list_element(hook, "spec"), config = list_element(hook, "config");
  EvaluateOptions options;
  options.steps = whole_from_r(list_element(hook, "steps"), "`steps`");
  options.name = string_from_r(list_element(hook, "name"));
  options.hooks = hooks_from_r(list_element(hook, "hooks"));
  auto evaluator = std::make_shared<InMemoryEvaluatorHook>(
      estimator_from_r(spec, config), input_fn_from_r(list_element(hook, "input_fn"), ""), options,
      whole_from_r(list_element(hook, "every_n_iter"), "`every_n_iter`"));
  SEXP record = Rf_getAttrib(hook, Rf_install("record"));
  if (is_handle(record, kHistory)) evaluator->set_history(from_handle<History>(record, kHistory));
  return evaluator;
}

}  // namespace r
}  // namespace runhooks

using namespace runhooks;
using namespace runhooks::r;

// [[Rcpp::export(rng = false)]]
SEXP cpp_estimator_train(SEXP spec,
                         SEXP config,
                         SEXP input_fn,
                         double steps,
                         double max_steps,
                         SEXP hooks,
                         SEXP listeners,
                         bool leaves_events,
                         SEXP about) {
  return guarded_entry([&]() -> SEXP {
    Estimator estimator = estimator_from_r(spec, config);
    TrainOptions options;
    options.steps = whole_from_r(steps, "`steps`");
    options.max_steps = whole_from_r(max_steps, "`max_steps`");
    options.hooks = hooks_from_r(hooks);
    options.saving_listeners = listeners_from_r(listeners);
    options.keeps_events = leaves_events;
    options.about = record_fields_from_r(about);
    const std::shared_ptr<CachedModel> model = model_from_r(spec);
    if (model->warm_start) options.warm_start = std::make_shared<WarmStart>(*model->warm_start);
    const std::string folder = estimator.config().model_dir;
    const Estimator::TrainResult result =
        estimator.train(input_fn_from_r(input_fn, folder), options);
    const NewestCheckpoint newest = newest_checkpoint_in(folder);
    Rcpp::Shield<SEXP> history(history_of(options.hooks));
    return Rcpp::List::create(
        Rcpp::_["global_step"] = static_cast<double>(result.global_step),
        Rcpp::_["was_skipped"] = result.was_skipped, Rcpp::_["why"] = result.why,
        Rcpp::_["reason"] = result.reason, Rcpp::_["has_checkpoint"] = newest.exists,
        Rcpp::_["checkpoint_id"] = newest.checkpoint_id,
        Rcpp::_["num_weights"] = *model->num_weights, Rcpp::_["history"] = history);
  });
}

// [[Rcpp::export(rng = false)]]
SEXP cpp_estimator_evaluate(SEXP spec,
                            SEXP config,
                            SEXP input_fn,
                            SEXP whole_input,
                            double steps,
                            Text checkpoint_path,
                            Text name,
                            SEXP hooks) {
  return guarded_entry([&]() -> SEXP {
    Estimator estimator = estimator_from_r(spec, config);
    EvaluateOptions options;
    options.steps = whole_from_r(steps, "`steps`");
    options.checkpoint_path = checkpoint_path;
    options.name = name;
    options.hooks = hooks_from_r(hooks);
    if (whole_input != R_NilValue) options.whole_input = input_fn_from_r(whole_input, "");
    const Named<Tensor> metrics = estimator.evaluate(input_fn_from_r(input_fn, ""), options);
    count_small_graph();
    Rcpp::Shield<SEXP> values(
        named_values_to_r(metrics, [](const Tensor& metric) { return tensor_to_r(metric); }));
    Rcpp::Shield<SEXP> history(history_of(options.hooks));
    return Rcpp::List::create(Rcpp::_["metrics"] = values, Rcpp::_["history"] = history);
  });
}

// Predicts. Returns the list of all batches, or a handle if `all` is false. The attribute
// `checkpoint` of the list is the ID of the checkpoint in the cache, if there is one. With
// `together`, each process predicts its shard.
// [[Rcpp::export(rng = false)]]
SEXP cpp_estimator_predict(SEXP spec,
                           SEXP config,
                           SEXP input_fn,
                           Text checkpoint_path,
                           Texts predict_keys,
                           SEXP hooks,
                           bool all,
                           bool together) {
  return guarded_entry([&]() -> SEXP {
    Estimator estimator = estimator_from_r(spec, config);
    PredictOptions options;
    options.checkpoint_path = checkpoint_path;
    options.predict_keys = predict_keys;
    options.hooks = hooks_from_r(hooks);
    options.reads_all = all;
    options.is_distributed = together;
    std::shared_ptr<Predictions> predictions =
        estimator.predict(input_fn_from_r(input_fn, ""), options);
    count_small_graph();
    if (!all) return make_handle(predictions, kPredictions);
    std::vector<Preserved> batches;
    for (;;) {
      Rcpp::Shield<SEXP> batch(next_batch_to_r(*predictions));
      if (batch == R_NilValue) break;
      batches.emplace_back(batch);
    }
    Rcpp::List list(preserved_to_r(batches));
    const auto graph_cache = graph_cache_of(spec);
    const uint64_t checkpoint = graph_cache ? graph_cache->checkpoint_id() : 0;
    if (checkpoint > 0) list.attr("checkpoint") = static_cast<double>(checkpoint);
    return list;
  });
}

// [[Rcpp::export(rng = false)]]
SEXP cpp_predictions_next(SEXP pointer) {
  return guarded_entry(
      [&]() -> SEXP { return next_batch_to_r(*from_handle<Predictions>(pointer, kPredictions)); });
}

// [[Rcpp::export(rng = false)]]
void cpp_predictions_close(SEXP pointer) {
  guarded_entry([&] { from_handle<Predictions>(pointer, kPredictions)->close(); });
}

// Saves a checkpoint to `scratch` and returns its path if a session that trains in `folder` is
// ahead of the newest checkpoint; otherwise returns NULL.
// [[Rcpp::export(rng = false)]]
SEXP cpp_save_active_training(Text folder, Text scratch) {
  return guarded_entry([&]() -> SEXP {
    const std::string path = ActiveTraining::save_snapshot(folder, scratch);
    return path.empty() ? R_NilValue : text_to_r(path);
  });
}

// Constructs and validates a model that later calls share. Returns its handle, labels and
// predictions of a canned model's head, and the features that its columns read. `is_fixed` means
// that the graph is the same in each call unless it depends on R functions.
// [[Rcpp::export(rng = false)]]
SEXP cpp_model_make(SEXP spec, bool is_fixed) {
  return guarded_entry([&]() -> SEXP {
    std::shared_ptr<CachedModel> model;
    NewFunctions functions;
    try {
      functions = collect_new_closures([&] { model = model_from_r(spec); });
    } catch (const Error&) {
      check_canned_model(spec);
      throw;
    }
    if (is_fixed && functions.empty()) model->graph_cache = std::make_shared<ModelGraphCache>();
    Rcpp::Shield<SEXP> labels(model->head ? labels_to_r(*model->head) : R_NilValue);
    Rcpp::Shield<SEXP> reads(model->head ? column_reads_to_r(spec) : R_NilValue);
    Rcpp::Shield<SEXP> pointer(make_handle(model, kModel));
    transfer_to(pointer, functions);
    return Rcpp::List::create(Rcpp::_["pointer"] = pointer, Rcpp::_["labels"] = labels,
                              Rcpp::_["reads"] = reads);
  });
}

// [[Rcpp::export(rng = false)]]
void cpp_head_check(SEXP head) {
  guarded_entry([&] {
    const auto args = args_from_r(head, "a head");
    args->set_owner("");  // messages name the user's call instead
    make_head(args->text("type"), *args);
  });
}

// Returns the properties of a model that must match its model directory: groups of named texts.
// [[Rcpp::export(rng = false)]]
SEXP cpp_model_signature(SEXP spec) {
  return guarded_entry([&]() -> SEXP {
    return named_values_to_r(model_signature(*estimator_args(spec)), named_strings_to_r);
  });
}

// Returns the names of a linear model's bias and weight variables in checkpoints; NULL for other
// models.
// [[Rcpp::export(rng = false)]]
SEXP cpp_estimator_coefficients(SEXP spec) {
  return guarded_entry([&]() -> SEXP {
    const auto args = estimator_args(spec);
    const ModelTraits& traits = *registered_model(args->text("type")).traits;
    if (!traits.coefficients) return R_NilValue;
    const std::string columns = traits.parts.at(0).columns_argument();
    const Coefficients names = traits.coefficients(make_columns(args->list(columns)));
    return Rcpp::List::create(Rcpp::_["bias"] = names.bias, Rcpp::_["weights"] = names.weights);
  });
}
