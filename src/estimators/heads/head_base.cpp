#include "estimators/heads/head_base.h"

#include <algorithm>
#include <map>
#include <set>

#include "graph/endpoints.h"
#include "hooks/history_saver_hook.h"
#include "nn/replicas.h"
#include "nn/summary_ops.h"

namespace runhooks {

namespace {

std::vector<float> class_weights_argument(const Args& args) {
  std::vector<float> weights;
  if (!args.has("class_weights")) return weights;
  for (const double weight : args.numbers("class_weights")) {
    if (!(weight >= 0 && weight < 1e30)) {
      invalid_argument("class_weights must be numbers of 0 or more. Given: ", weight, ".");
    }
    weights.push_back(static_cast<float>(weight));
  }
  return weights;
}

Output ones_like(Graph& graph, Output x) {
  const NameScope scope(graph, "ones_like");
  const Output shape = graph.op("Shape", {x});
  return graph.op("Fill", {shape, graph.scalar(x.dtype(), 1)}).named(scope.name());
}

Output last_dim_expanded(Graph& graph, Output x) {
  return graph.op("ExpandDims", {x, graph.scalar(DType::kInt32, -1, "ExpandDims/dim")});
}

// Casts float64 predictions to float32, because TensorFlow's heads export float32.
Named<Output> cast_for_export(Graph& graph, const Named<Output>& predictions) {
  Named<Output> served = predictions;
  for (auto& prediction : served) {
    if (prediction.second.dtype() != DType::kFloat64) continue;
    prediction.second = graph.op("Cast", {prediction.second}).attr("DstT", DType::kFloat32);
  }
  return served;
}

// Groups the training op with update ops, such as the moving averages of batch normalization.
Operation* with_updates(Graph& graph, Operation* train_op) {
  std::vector<Operation*> ops = {train_op};
  for (const CollectionItem& item : graph.collection(collection_keys::kUpdateOps)) {
    if (Operation* const* update = std::get_if<Operation*>(&item)) ops.push_back(*update);
    if (const auto* tensor = std::get_if<Output>(&item)) ops.push_back(tensor->op);
  }
  return ops.size() == 1 ? train_op : graph.group(ops, "train_op");
}

}  // namespace

const char* const kDefaultSignature = "serving_default";

Output prediction_of(const Named<Output>& predictions, const std::string& key) {
  for (const auto& prediction : predictions) {
    if (prediction.first == key) return prediction.second;
  }
  fail(Code::kInternal, "There is no prediction '", key, "'.");
}

Output HeadBatch::prediction(const std::string& key) const {
  return prediction_of(predictions, key);
}

std::pair<std::string, ExportOutput> classification_signature(Output scores, Output classes) {
  return {"classification",
          {ExportOutput::Kind::kClassification, {{"scores", scores}, {"classes", classes}}}};
}

std::pair<std::string, ExportOutput> regression_signature(Output value) {
  return {"regression", {ExportOutput::Kind::kRegression, {{"outputs", value}}}};
}

ColumnPtr weight_column_argument(const Args& args) {
  const Value* column = args.find("weight_column");
  if (!column) return nullptr;
  if (column->get_if<std::shared_ptr<Args>>()) return column_argument(args, "weight_column");
  Args spec("weight_column");
  spec.set("type", Value::of(std::string("NumericColumn")));
  spec.set("key", Value::of(args.text("weight_column")));
  return make_column(spec);
}

HeadBase::HeadBase(const Args& args)
    : name_(args.text("name", "")),
      reduction_(reduction_from_name(args.text("loss_reduction", "sum"))),
      weight_column_(weight_column_argument(args)),
      class_weights_(class_weights_argument(args)) {
  if (reduction_ == Reduction::kNone) {
    invalid_argument("`loss_reduction` cannot be \"none\": training needs a single number.");
  }
}

std::string HeadBase::key(const std::string& metric) const {
  return name_.empty() ? metric : metric + "/" + name_;
}

Output HeadBase::weights_of(Graph& graph, const Features& features) const {
  if (!weight_column_) return Output();
  NameScope scope(graph, "weights");
  TransformationCache cache(graph, features);
  const Output weights = cache.transformed(*weight_column_);
  const Output zero = graph.scalar(weights.dtype(), 0);
  const Output is_valid = graph.op("GreaterEqual", {weights, zero});
  return with_assertion(graph, weights, is_valid, "Weights of examples must be 0 or more.");
}

Output HeadBase::with_class_weights(Graph& graph, Output labels, Output weights) const {
  if (class_weights_.empty()) return weights;
  const auto num_weights = static_cast<int64_t>(class_weights_.size());
  if (num_weights != this->labels().n_classes) {
    invalid_argument("class_weights must have one number for each of the ",
                     this->labels().n_classes, " classes. Given: ", num_weights, ".");
  }
  NameScope scope(graph, "class_weights");
  Tensor weights_by_class(DType::kFloat32, {num_weights});
  std::copy(class_weights_.begin(), class_weights_.end(), weights_by_class.data<float>());
  Output row_weights;
  if (is_floating(labels.dtype())) {  // binary: labels may be probabilities
    const float weight_0 = class_weights_[0], weight_1 = class_weights_[1];
    row_weights = graph.op(
        "AddV2", {graph.op("Mul", {labels, graph.scalar(labels.dtype(), weight_1 - weight_0)}),
                  graph.scalar(labels.dtype(), weight_0)});
  } else {
    row_weights = graph.op(
        "GatherV2", {graph.constant(weights_by_class), labels, graph.scalar(DType::kInt32, 0)});
  }
  if (!weights) return row_weights;
  if (row_weights.dtype() != weights.dtype()) {
    row_weights = graph.op("Cast", {row_weights}).attr("DstT", weights.dtype());
  }
  return graph.op("Mul", {weights, row_weights});
}

std::vector<FeatureRead> HeadBase::reads() const {
  if (!weight_column_) return {};
  std::vector<FeatureRead> all = weight_column_->reads();
  for (FeatureRead& read : all) read.is_weight = true;
  return all;
}

HeadParts HeadBase::parts(Graph& graph, const ModelInput& input, Mode mode, Output logits) const {
  HeadParts result;
  result.predictions = predictions(graph, logits);
  if (mode == Mode::kPredict) {
    const Named<Output> exported = cast_for_export(graph, result.predictions);
    const Named<ExportOutput> head_signatures = signatures(exported);
    result.export_outputs = {{kDefaultSignature, head_signatures[0].second}};
    for (const auto& signature : head_signatures) result.export_outputs.push_back(signature);
    result.export_outputs.push_back({"predict", {ExportOutput::Kind::kPredict, exported}});
    return result;
  }
  if (!input.labels) {
    invalid_argument("Labels are missing: the input function must return features and labels.");
  }
  const Output labels = checked_labels(graph, input.labels, logits);
  if (mode == Mode::kTrain && input.mean_loss) {
    result.loss = input.mean_loss(graph, labels);
    result.loss_is_average = true;
    add_example_losses(graph, result.loss, Output());
    graph.add_to_collection(collection_keys::kLosses, result.loss);
    return result;
  }
  const Output weights = with_class_weights(graph, labels, weights_of(graph, input.features));
  const Output minimized = losses(graph, labels, logits);
  const Output unreduced = losses_in_label_units(graph, minimized);
  result.loss = compute_weighted_loss(graph, unreduced, weights, reduction_);
  result.loss_is_average = reduction_ != Reduction::kSum && !weights;
  add_example_losses(graph, unreduced, weights);
  if (mode == Mode::kTrain) {
    result.mean_loss = mean_loss(graph, result.loss, unreduced, weights);
    if (minimized != unreduced) {
      result.training_loss =
          compute_weighted_loss(graph, minimized, weights, reduction_, "training_loss", "");
    }
  } else {
    NameScope scope(graph, "metrics");
    result.metrics = metrics(graph, {labels, logits, weights, unreduced, result.predictions});
  }
  return result;
}

// Adds the endpoints from which the training history computes its average loss. In distributed
// training a process knows only its own examples, so finish_spec() adds the global average instead.
void HeadBase::add_example_losses(Graph& graph, Output losses, Output weights) const {
  if (ReplicaScope::of(graph)) return;
  add_endpoint(graph, kExampleLosses, key("average_loss"), losses);
  if (weights) add_endpoint(graph, kExampleWeights, key("average_loss"), weights);
}

EstimatorSpec HeadBase::create_estimator_spec(Graph& graph,
                                              const ModelInput& input,
                                              Mode mode,
                                              Output logits,
                                              const TrainOpFn& train_op) const {
  NameScope scope(graph, name_.empty() ? "head" : name_);
  HeadParts head_parts = parts(graph, input, mode, logits);
  return finish_spec(graph, mode, std::move(head_parts), *this, train_op);
}

namespace {

Operation* training_step(Graph& graph, Output loss, const TrainOpFn& train_op) {
  return with_updates(graph, train_op(graph, loss));
}

Operation* public_training_step(Graph& graph,
                                Output loss,
                                const TrainOpFn& train_op,
                                size_t inner_heads) {
  const NameScope root(graph, "");
  for (size_t i = 0; i < inner_heads; ++i) const NameScope reserved(graph, "training");
  const NameScope scope(graph, "training");
  return training_step(graph, loss, train_op);
}

}  // namespace

EstimatorSpec finish_spec(Graph& graph,
                          Mode mode,
                          HeadParts parts,
                          const Head& head,
                          const TrainOpFn& train_op,
                          size_t inner_heads) {
  EstimatorSpec spec;
  spec.mode = mode;
  spec.predictions = std::move(parts.predictions);
  spec.loss = parts.loss;
  spec.eval_metric_ops = std::move(parts.metrics);
  spec.export_outputs = std::move(parts.export_outputs);
  if (mode != Mode::kTrain) return spec;
  const Output minimized = parts.training_loss ? parts.training_loss : spec.loss;
  spec.loss = mean_over_replicas(graph, spec.loss);
  spec.train_op = head.is_public ? public_training_step(graph, minimized, train_op, inner_heads)
                                 : training_step(graph, minimized, train_op);
  const std::string suffix = head.name().empty() ? "" : "/" + head.name();
  const NameScope root(graph, "");
  add_scalar_summary(graph, "loss" + suffix, spec.loss);
  if (parts.mean_loss) add_scalar_summary(graph, "average_loss" + suffix, parts.mean_loss);
  if (ReplicaScope::of(graph) && (parts.mean_loss || parts.loss_is_average)) {
    const Output average = parts.mean_loss ? parts.mean_loss : spec.loss;
    add_endpoint(graph, kExampleLosses, "average_loss" + suffix, average);
  }
  return spec;
}

// Returns the mean loss over examples if losses are summed. Returns an empty Output for the other
// reductions, which are already means.
Output HeadBase::mean_loss(Graph& graph, Output loss, Output losses, Output weights) const {
  if (reduction_ != Reduction::kSum) return Output();
  const Output ones = ones_like(graph, losses);
  if (!weights) weights = graph.scalar(losses.dtype(), 1, "mul/x");
  const Output broadcast_weights = graph.op("Mul", {weights, ones}).named("mul");
  std::vector<int32_t> axes;
  for (int i = 0; i < losses.shape().rank(); ++i) axes.push_back(i);
  const Output weight_sum =
      graph.op("Sum", {broadcast_weights, graph.int_vector(axes)}).named("Sum");
  return graph
      .op("RealDiv", {mean_over_replicas(graph, loss), sum_over_replicas(graph, weight_sum)})
      .named("truediv");
}

Output two_dimensional_labels(Graph& graph, Output labels, Output logits, int64_t width) {
  if (labels.shape().has_rank() && labels.shape().rank() == 1) {
    labels = last_dim_expanded(graph, labels);
  }
  const Shape shape{logits.shape().dim(0), width};
  if (!shape.is_compatible_with(labels.shape())) {
    throw Error(Code::kInvalidArgument,
                str_cat("labels shape must be [batch_size, ", width,
                        "], but the labels have shape ", labels.shape(), "."),
                {"Each example needs as many labels as the model has outputs: see "
                 "`label_dimension` or `n_classes`."});
  }
  return graph.op("EnsureShape", {labels}).attr("shape", shape);
}

Output with_assertion(Graph& graph, Output values, Output is_valid, const std::string& message) {
  NameScope scope(graph, "assert");
  std::vector<int32_t> axes;
  for (int i = 0; i < values.shape().rank(); ++i) axes.push_back(i);
  const Output all = graph.op("All", {is_valid, graph.int_vector(axes)});
  const Output message_constant = graph.constant(Tensor::string_scalar(message), "message");
  Operation* assertion =
      graph.op("Assert", {all, message_constant, values, is_valid})
          .attr("T", std::vector<DType>{DType::kString, values.dtype(), DType::kBool});
  ControlDependencies after(graph, {assertion});
  return graph.op("Identity", {values});
}

Output class_labels(Graph& graph,
                    Output labels,
                    int64_t n_classes,
                    const std::vector<std::string>& vocabulary,
                    bool as_ids) {
  Output numbers = labels;
  if (!vocabulary.empty()) {
    if (labels.dtype() != DType::kString) {
      invalid_argument("Labels dtype should be string with a `label_vocabulary`. Instead got ",
                       dtype_name(labels.dtype()), ".");
    }
    const Shape shape{static_cast<int64_t>(vocabulary.size())};
    const Output names = graph.constant(Tensor::strings(shape, vocabulary), "vocabulary");
    // "" is missing unless it is a class
    const bool has_empty = std::find(vocabulary.begin(), vocabulary.end(), "") != vocabulary.end();
    auto lookup = graph.op("VocabularyIds", {labels, names});
    if (has_empty) lookup.attr("drop_missing", false);
    const Output ids = lookup.named("class_string_lookup");
    const Output is_known = graph.op("GreaterEqual", {ids, graph.scalar(DType::kInt64, 0, "zero")});
    // Attaches the check to the strings, not to the ids, so that the message shows the strings.
    const Output known_labels =
        with_assertion(graph, labels, is_known, "Labels must be in the label_vocabulary.");
    ControlDependencies after(graph, {known_labels.op});
    numbers = graph.op("Identity", {ids});
  } else {
    if (!is_numeric(labels.dtype()) && labels.dtype() != DType::kBool) {
      throw Error(
          Code::kInvalidArgument,
          str_cat("Labels dtype should be integer. Instead got ", dtype_name(labels.dtype()), "."),
          {"Set `label_vocabulary` for labels that are strings."});
    }
    Output x = labels;
    if (labels.dtype() != DType::kFloat32) {
      x = graph.op("Cast", {labels}).attr("DstT", DType::kFloat32);
    }
    const Output is_not_negative =
        graph.op("GreaterEqual", {x, graph.scalar(DType::kFloat32, 0, "zero")});
    const Output max_label =
        graph.scalar(DType::kFloat32, static_cast<double>(n_classes - 1), "last");
    Output is_valid =
        graph.op("LogicalAnd", {is_not_negative, graph.op("LessEqual", {x, max_label})});
    if (is_floating(labels.dtype()) && as_ids) {
      is_valid = graph.op("LogicalAnd", {is_valid, graph.op("Equal", {x, graph.op("Floor", {x})})});
    }
    numbers =
        with_assertion(graph, x, is_valid,
                       str_cat("Labels must be class numbers from 0 to n_classes - 1, which is ",
                               n_classes - 1, "."));
  }
  const DType label_dtype = as_ids ? DType::kInt64 : DType::kFloat32;
  if (numbers.dtype() == label_dtype) return numbers;
  return graph.op("Cast", {numbers}).attr("DstT", label_dtype);
}

LabelSpec multi_label_spec(int64_t n_classes, const std::vector<std::string>& vocabulary) {
  LabelSpec labels;
  labels.width = n_classes;
  labels.width_argument = "n_classes";
  labels.lowest = 0;
  labels.highest = 1;
  labels.n_classes = n_classes;
  labels.vocabulary = vocabulary;
  labels.predictions = {{"prob", "probabilities", TidyPrediction::Columns::kByClass, {}}};
  return labels;
}

LabelSpec class_label_spec(int64_t n_classes, const std::vector<std::string>& vocabulary) {
  LabelSpec labels = multi_label_spec(n_classes, vocabulary);
  labels.width = 1;
  labels.family = n_classes == 2 ? "binomial" : "multinomial";
  labels.highest = static_cast<double>(n_classes - 1);
  labels.predictions.insert(labels.predictions.begin(),
                            {"class", "class_ids", TidyPrediction::Columns::kClass, {}});
  return labels;
}

Output class_strings(Graph& graph, Output class_ids, const std::vector<std::string>& vocabulary) {
  if (vocabulary.empty()) return graph.op("AsString", {class_ids}).named("str_classes");
  const Shape shape{static_cast<int64_t>(vocabulary.size())};
  const Output names = graph.constant(Tensor::strings(shape, vocabulary), "vocabulary");
  return graph.op("GatherV2", {names, class_ids, graph.scalar(DType::kInt32, 0, "axis")})
      .named("class_words");
}

void add_all_classes(Graph& graph,
                     Output logits,
                     int64_t n_classes,
                     const std::vector<std::string>& vocabulary,
                     Named<Output>* predictions) {
  NameScope scope(graph, "all_classes");
  std::vector<int32_t> ids;
  std::vector<std::string> class_names = vocabulary;
  for (int64_t i = 0; i < n_classes; ++i) ids.push_back(static_cast<int32_t>(i));
  for (int64_t i = 0; vocabulary.empty() && i < n_classes; ++i) class_names.push_back(str_cat(i));
  const Output shape = graph.op("Shape", {logits});
  const Output one = graph.int_vector({1}, "one");
  const Output rows = graph.op("Slice", {shape, graph.int_vector({0}, "begin"), one});
  const Output output_shape =
      graph.op("ConcatV2", {rows, graph.int_vector({static_cast<int32_t>(n_classes)}),
                            graph.scalar(DType::kInt32, 0, "axis")});
  const Shape row{1, n_classes};
  const auto add = [&](const char* key, const Tensor& value, const char* name) {
    const Output broadcast_value =
        graph.op("BroadcastTo", {graph.constant(value, name), output_shape});
    broadcast_value.op->set_output_shape(0, Shape{-1, n_classes});
    predictions->emplace_back(key, broadcast_value);
  };
  add("all_class_ids", Tensor::of<int32_t>(row, ids), "ids");
  add("all_classes", Tensor::strings(row, class_names), "words");
}

std::vector<std::string> vocabulary_argument(const Args& args, int64_t n_classes) {
  if (!args.has("label_vocabulary")) return {};
  std::vector<std::string> names = args.texts("label_vocabulary");
  if (static_cast<int64_t>(names.size()) != n_classes) {
    invalid_argument("Length of label_vocabulary must be n_classes. Given n_classes: ", n_classes,
                     ", label_vocabulary of ", names.size(), ".");
  }
  std::set<std::string> distinct_names;
  for (const std::string& name : names) {
    if (!distinct_names.insert(name).second) {
      invalid_argument("`label_vocabulary` has \"", name, "\" twice.");
    }
  }
  return names;
}

std::vector<float> thresholds_argument(const Args& args) {
  std::vector<float> thresholds;
  if (!args.has("thresholds")) return thresholds;
  for (const double threshold : args.numbers("thresholds")) {
    if (!(threshold > 0 && threshold < 1)) {
      invalid_argument("thresholds must be in (0, 1) range. Given: ", threshold, ".");
    }
    thresholds.push_back(static_cast<float>(threshold));
  }
  return thresholds;
}

std::string head_argument_line(const std::string& name) {
  static const auto* lines = new std::map<std::string, const char*>{
      {"label_dimension",
       "label_dimension = 1L: count; kept. The number of values in the label of an example."},
      {"weight_column",
       "weight_column = NULL: weight column. The name of the feature with the weights of the "
       "examples, a [column_numeric()] of it, or `NULL`."},
      {"class_weights",
       "class_weights = NULL: class weights. The weight of the examples of each class, in the "
       "order of the classes."},
      {"n_classes", "n_classes: whole number in [2, Inf); kept. The number of classes."},
      {"label_vocabulary",
       "label_vocabulary = NULL: class words; kept. The class names, if labels are strings."},
      {"thresholds",
       "thresholds = NULL: probabilities. Probabilities between 0 and 1. Accuracy, precision and "
       "recall at each threshold are added to the metrics."},
      {"loss_reduction",
       "loss_reduction = 'sum_over_batch_size': string. How to reduce the losses of a batch to one "
       "number: `\"sum_over_batch_size\"` (the default of TensorFlow's heads), `\"sum\"`, "
       "`\"mean\"` or `\"sum_over_nonzero_weights\"`."},
      {"name",
       "name = NULL: string; kept. A name, which is added to the keys of metrics: `auc/<name>`."}};
  const auto found = lines->find(name);
  return found == lines->end() ? name : found->second;
}

std::vector<std::string> expand_head_arguments(std::vector<std::string> lines) {
  for (std::string& line : lines) line = head_argument_line(line);
  return lines;
}

std::shared_ptr<Head> make_head(const std::string& type, const Args& args) {
  return Factory<Head>::instance().make("head", type, args);
}

// Makes the head of an estimator. Skips checks, because the estimator's arguments are validated.
std::shared_ptr<Head> make_estimator_head(const std::string& type, const Args& args) {
  const auto& entry = Factory<Head>::instance().find("head", type);
  return entry.make(declared_arguments(entry.arguments(), args));
}

std::shared_ptr<Head> classifier_head(const Args& args) {
  const int64_t n_classes = args.integer("n_classes", 2);
  if (n_classes < 2) invalid_argument("n_classes must be >= 2, given: ", n_classes, ".");
  if (n_classes > 2) return make_estimator_head("multi_class_head", args);
  // As in TensorFlow, canned classifiers compute areas under curves by the trapezoidal rule, and
  // public heads by another rule.
  Args binary = args;
  binary.set("auc_summation", Value::of(std::string("trapezoidal")));
  return make_estimator_head("binary_class_head", binary);
}

std::shared_ptr<Head> head_from_argument(const Args& args) {
  const auto head = make_head(args.args("head").text("type"), args.args("head"));
  head->is_public = true;
  return head;
}

}  // namespace runhooks
