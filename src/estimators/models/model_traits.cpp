#include "estimators/models/model_traits.h"

#include <algorithm>
#include <map>

#include "estimators/heads/head.h"

namespace runhooks {

namespace {

using Lines = std::vector<std::string>;

const std::map<std::string, const char*>& common_lines() {
  static const auto* lines = new std::map<std::string, const char*>{
      {"head", "head: head; kept. What the model predicts: see [heads]."},
      {"feature_columns",
       "feature_columns: columns; kept. A column or a list of columns, dense or categorical: "
       "[column_numeric()], [categorical_columns], [column_crossed()] and others. Or a formula "
       "with `data`; see `formula`."},
      {"dense_feature_columns",
       "feature_columns: columns; kept. A dense column or a list of dense columns: "
       "[column_numeric()], [column_bucketized()], [column_embedding()], [column_indicator()]. Or "
       "a formula with `data`."},
      {"model_dir",
       "model_dir = NULL: string; apart. The directory of checkpoints and event files. Training "
       "continues from its newest checkpoint. `NULL`: the directory of the active tfruns run, or "
       "that of `config`, or a new one in `tempdir()`."},
      {"n_classes",
       "n_classes = 2L: whole number in [2, Inf); kept. The number of classes. Labels are integers "
       "from 0 to `n_classes - 1`."},
      {"config", "config = NULL: configuration; apart. A [run_config()], or `NULL`."},
      {"loss_reduction",
       "loss_reduction = 'sum': string. How to reduce the losses of a batch to one number: "
       "`\"sum\"` (as in TensorFlow 1.x), `\"mean\"`, `\"sum_over_batch_size\"` or "
       "`\"sum_over_nonzero_weights\"`."},
      {"partitioner",
       "partitioner = NULL: partitioner. A function that partitions variables into `part_0`, "
       "`part_1`, ...: it takes a shape and the name of a type, and returns the number of parts "
       "along each axis, like `tf$fixed_size_partitioner(2)`. Checkpoints store whole variables. "
       "`NULL`: one part, as in TensorFlow on one machine."},
      {"input_layer_partitioner",
       "input_layer_partitioner = NULL: partitioner. A function that partitions the variables of "
       "the input layer, and of the linear part of a combined model, into `part_0`, `part_1`, ...: "
       "it takes a shape and the name of a type, and returns the number of parts along each axis, "
       "like `tf$fixed_size_partitioner(2)`. Checkpoints store whole variables. `NULL`: one part, "
       "as in TensorFlow on one machine."},
      {"sparse_combiner",
       "sparse_combiner = 'sum': one of 'sum', 'mean', 'sqrtn'; kept. How to combine the weights "
       "if an example has several values of a categorical column: `\"sum\"`, `\"mean\"` or "
       "`\"sqrtn\"`."},
      {"warm_start_from",
       "warm_start_from = NULL: warm start. A model directory or checkpoint with initial values "
       "for the first training, or [warm_start_settings()], or `NULL`."},
      {"batch_norm",
       "batch_norm = FALSE: flag; kept. Normalize each hidden layer over the batch?"}};
  return *lines;
}

// Functions instead of constants: other files register models before the constants of this file
// would be initialized.
Lines formula_arguments() {
  return {
      "formula = NULL: formula; apart. A formula `response ~ a + b` instead of columns. It may be "
      "the first argument, as in [lm()]. See the section Formulas.",
      "data = NULL: data; apart. The data frame of the formula. It may be the second argument.",
      "normalize = TRUE: flag; apart. With a formula: standardize the numeric terms, and the "
      "response of a regressor, by the mean and standard deviation of `data`?",
      "na.action = stats::na.fail: any; apart. With a formula, how to handle rows with missing "
      "values: `na.fail` (an error), `na.omit` or `na.exclude` (drop them in training and "
      "evaluation), or a replacement: `\"mean\"` or `\"median\"` of the column in `data`, or "
      "constants such as `list(age = 30)`.",
      "learning_rate = NULL: any; apart. The learning rate of an optimizer given by name or chosen "
      "by default."};
}

Lines label_scale_arguments() {
  return {"label_center = NULL: numbers", "label_scale = NULL: numbers"};
}

Lines class_arguments() {
  return {
      "class_weights = NULL: class weights. Weights of the classes in the loss and the metrics, "
      "multiplied by those of `weight_column`: named by class, such as `c(a = 1, b = 5)`, or in "
      "the order of the classes. With a formula, `\"balanced\"` gives all classes of `data` the "
      "same total weight, with mean weight 1."};
}

Lines label_arguments(Task task) {
  if (task == Task::kRegressor) return {"label_dimension", "weight_column"};
  if (task == Task::kClassifier) return {"n_classes", "weight_column", "label_vocabulary"};
  return {};
}

std::string rate_text(const PartOptimizer& optimizer, bool scales) {
  const std::string rate = str_cat(optimizer.rate);
  return scales ? "the smaller of " + rate + " and 1 / sqrt(number of columns)" : rate;
}

std::string optimizer_line(const ModelPart& part) {
  const PartOptimizer& optimizer = part.optimizer;
  const bool scales = optimizer.rate_scaling == PartOptimizer::RateScaling::kAlways;
  std::string text =
      str_cat(part.optimizer_argument(), " = '", optimizer.default_name,
              "': optimizer or NULL; kept. The name of an optimizer, an optimizer, or a function "
              "that returns one; see [optimizers]. A named optimizer has the learning rate ",
              rate_text(optimizer, scales), ", or `learning_rate`");
  if (optimizer.rate_scaling == PartOptimizer::RateScaling::kForDefault) {
    text += str_cat("; `NULL` is ", optimizer.default_name, " with ", rate_text(optimizer, true));
  }
  return text + ".";
}

std::string argument_line(const std::string& name, const ModelTraits& traits) {
  for (const ModelPart& part : traits.parts) {
    if (name == part.optimizer_argument()) return optimizer_line(part);
  }
  const auto found = common_lines().find(name);
  return found == common_lines().end() ? head_argument_line(name) : found->second;
}

// Drops declarations whose argument is already in `lines`, such as a family's "learning_rate".
Lines without_duplicates(Lines new_lines, const Lines& lines) {
  const auto name_of = [](const std::string& line) {
    return line.substr(0, line.find_first_of(" :"));
  };
  const auto is_declared = [&](const std::string& line) {
    return std::any_of(lines.begin(), lines.end(), [&](const std::string& declared) {
      return name_of(declared) == name_of(line);
    });
  };
  new_lines.erase(std::remove_if(new_lines.begin(), new_lines.end(), is_declared), new_lines.end());
  return new_lines;
}

std::map<std::string, RegisteredModel>& models() {
  static auto* all = new std::map<std::string, RegisteredModel>;
  return *all;
}

}  // namespace

const char* mode_of(Task task) {
  return task == Task::kRegressor    ? "regression"
         : task == Task::kClassifier ? "classification"
                                     : "";
}

const char* class_of(Task task) {
  return task == Task::kRegressor    ? "Regressor"
         : task == Task::kClassifier ? "Classifier"
                                     : "Estimator";
}

bool is_label_argument(Task task, const std::string& name) {
  const Lines names = label_arguments(task);
  return std::find(names.begin(), names.end(), name) != names.end();
}

std::vector<std::string> argument_lines(const ModelTraits& traits, Task task) {
  Lines lines;
  const auto append = [&lines](const Lines& more) {
    lines.insert(lines.end(), more.begin(), more.end());
  };
  for (const std::string& line : traits.arguments) {
    const bool is_heads = line == "labels" || line == "loss_reduction";
    if (line == "labels") {
      append(label_arguments(task));
    } else if (line == "formula") {
      append(without_duplicates(formula_arguments(), lines));
    } else if (line == "head" ? task == Task::kHead : !is_heads || task != Task::kHead) {
      lines.push_back(line);
    }
  }
  for (std::string& line : lines) line = argument_line(line, traits);
  if (task == Task::kRegressor) append(label_scale_arguments());
  if (task == Task::kClassifier) append(class_arguments());
  return lines;
}

const RegisteredModel& registered_model(const std::string& estimator) {
  Factory<CannedModel>::instance().find("estimator", estimator);  // throws if it is unknown
  return models().at(estimator);
}

bool register_models(const std::string& model,
                     const ModelTraits& traits,
                     const CannedFactories& make) {
  const auto shared = std::make_shared<const ModelTraits>(traits);
  const auto add = [&](const char* suffix, Task task, Factory<CannedModel>::Make factory) {
    const std::string estimator = model + suffix;
    models()[estimator] = {shared, task};
    Factory<CannedModel>::instance().add(estimator.c_str(), factory, estimator.c_str(),
                                         argument_lines(traits, task));
  };
  add("_regressor", Task::kRegressor, make.regressor);
  add("_classifier", Task::kClassifier, make.classifier);
  add("_estimator", Task::kHead, make.with_head);
  return true;
}

}  // namespace runhooks
