#include "estimators/model_traits.h"

#include <algorithm>
#include <map>

namespace runhooks {

namespace {

using Lines = std::vector<std::string>;

// Arguments that several families have, by name.
const std::map<std::string, const char*>& common_lines() {
  static const auto* lines = new std::map<std::string, const char*>{
      {"head", "head: head; kept. What the model is to predict: see [heads]."},
      {"feature_columns",
       "feature_columns: columns; kept. A column or a list of columns, dense or categorical: "
       "[column_numeric()], [categorical_columns], [column_crossed()] and others. Or a formula, "
       "with `data`: see there."},
      {"dense_feature_columns",
       "feature_columns: columns; kept. A column or a list of columns that are dense: "
       "[column_numeric()], [column_bucketized()], [column_embedding()], [column_indicator()]. Or "
       "a "
       "formula, with `data`."},
      {"model_dir",
       "model_dir = NULL: string; apart. The folder of checkpoints and event files; one that has a "
       "checkpoint is continued. `NULL`: the folder of the active tfruns run, else that of "
       "`config`, else a new one in `tempdir()`."},
      {"label_dimension",
       "label_dimension = 1L: count; kept. How many numbers the label of an example is."},
      {"n_classes",
       "n_classes = 2L: whole number in [2, Inf); kept. How many classes there are. Labels are the "
       "numbers from 0 to `n_classes - 1`."},
      {"weight_column",
       "weight_column = NULL: weight column. The name of a feature that weights the examples, or a "
       "[column_numeric()] of it, or `NULL`."},
      {"label_vocabulary",
       "label_vocabulary = NULL: class words; kept. The words of the classes, where labels are "
       "strings."},
      {"config", "config = NULL: configuration; apart. A [run_config()], or `NULL`."},
      {"loss_reduction",
       "loss_reduction = 'sum': string. How the losses of a batch become one number: `\"sum\"` (as "
       "in TensorFlow 1.x), `\"mean\"`, `\"sum_over_batch_size\"`, "
       "`\"sum_over_nonzero_weights\"`."},
      {"partitioner",
       "partitioner = NULL: partitioner. A function of a shape (whole numbers) and the name of a "
       "type that returns numbers of parts along each axis, such as "
       "`tf$fixed_size_partitioner(2)` makes: how variables are cut into `part_0`, `part_1`, ... "
       "Checkpoints join the parts. `NULL`: one part, as on one machine in TensorFlow."},
      {"input_layer_partitioner",
       "input_layer_partitioner = NULL: partitioner. A function of a shape (whole numbers) and the "
       "name of a type that returns numbers of parts along each axis, such as "
       "`tf$fixed_size_partitioner(2)` makes: how the variables of the input layer (of a combined "
       "model those of the linear part, too) are cut into `part_0`, `part_1`, ... Checkpoints join "
       "the parts. `NULL`: one part, as on one machine in TensorFlow."},
      {"sparse_combiner",
       "sparse_combiner = 'sum': one of 'sum', 'mean', 'sqrtn'; kept. How the weights of the "
       "several "
       "values that an example has for a categorical column are combined: `\"sum\"`, `\"mean\"` or "
       "`\"sqrtn\"`."},
      {"warm_start_from",
       "warm_start_from = NULL: warm start. A folder or checkpoint whose variables a first "
       "training "
       "starts from, or [warm_start_settings()], or `NULL`."},
      {"batch_norm",
       "batch_norm = FALSE: flag; kept. Normalize each hidden layer over the batch?"}};
  return *lines;
}

// Functions: registrations run before the statics of this file.
Lines formula_arguments() {
  return {
      "formula = NULL: formula; apart. A formula `response ~ a + b`, in the place of columns. It "
      "may "
      "also stand first, as in [lm()]. See the section Formulas.",
      "data = NULL: data; apart. The formula's data frame, which may stand second.",
      "normalize = TRUE: flag; apart. With a formula: standardize its numbers, and a regressor's "
      "response, by mean and standard deviation of `data`?",
      "na.action = stats::na.fail: any; apart. With a formula, what becomes of rows of which it "
      "reads NA: `na.fail` (an error), `na.omit` or `na.exclude` (left out in training and "
      "evaluation), or what takes the place of NA: `\"mean\"` or `\"median\"` of the column in "
      "`data`, or constants such as `list(age = 30)`.",
      "learning_rate = NULL: any; apart. The learning rate of an optimizer that is named, or that "
      "is chosen."};
}

// What a regressor has besides, where labels were standardized.
Lines label_scale_arguments() {
  return {"label_center = NULL: numbers", "label_scale = NULL: numbers"};
}

Lines class_arguments() {
  return {
      "class_weights = NULL: class weights. Weights of the examples of each class, in the loss and in "
      "the metrics, beside those of `weight_column`: `c(a = 1, b = 5)` by the words of the classes, "
      "numbers in the order of the classes, or, with a formula, `\"balanced\"`: all classes of "
      "`data` weigh the same, their mean weight being 1."};
}

Lines label_arguments(Task task) {
  if (task == Task::kRegressor) return {"label_dimension", "weight_column"};
  if (task == Task::kClassifier) return {"n_classes", "weight_column", "label_vocabulary"};
  return {};
}

std::string rate_words(const PartOptimizer& optimizer, bool falls) {
  const std::string rate = str_cat(optimizer.rate);
  return falls ? "the smaller of " + rate + " and 1 / sqrt(number of columns)" : rate;
}

// "linear_optimizer", with the rates of this part.
std::string optimizer_line(const ModelPart& part) {
  const PartOptimizer& optimizer = part.optimizer;
  const bool falls = optimizer.falls == PartOptimizer::RateScaling::kAlways;
  std::string words =
      str_cat(part.optimizer_argument(), " = '", optimizer.missing,
              "': optimizer or NULL; kept. The name of an optimizer, an optimizer, or a function "
              "that returns one; see [optimizers]. A name takes the learning rate ",
              rate_words(optimizer, falls), ", or `learning_rate`");
  if (optimizer.falls == PartOptimizer::RateScaling::kWhereMissing) {
    words += str_cat("; `NULL` is ", optimizer.missing, " with ", rate_words(optimizer, true));
  }
  return words + ".";
}

std::string line_of(const std::string& name, const ModelTraits& traits) {
  for (const ModelPart& part : traits.parts) {
    if (name == part.optimizer_argument()) return optimizer_line(part);
  }
  const auto found = common_lines().find(name);
  return found == common_lines().end() ? name : found->second;
}

// Those whose argument is not in `lines` already: a family may have a "learning_rate" of its own.
Lines without(Lines more, const Lines& lines) {
  const auto name_of = [](const std::string& line) { return line.substr(0, line.find_first_of(" :")); };
  const auto is_there = [&](const std::string& line) {
    return std::any_of(lines.begin(), lines.end(), [&](const std::string& known) {
      return name_of(known) == name_of(line);
    });
  };
  more.erase(std::remove_if(more.begin(), more.end(), is_there), more.end());
  return more;
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

std::vector<std::string> model_lines(const ModelTraits& traits, Task task) {
  Lines lines;
  const auto append = [&lines](const Lines& more) {
    lines.insert(lines.end(), more.begin(), more.end());
  };
  for (const std::string& line : traits.arguments) {
    const bool is_heads = line == "labels" || line == "loss_reduction";
    if (line == "labels") {
      append(label_arguments(task));
    } else if (line == "formula") {
      append(without(formula_arguments(), lines));
    } else if (line == "head" ? task == Task::kHead : !is_heads || task != Task::kHead) {
      lines.push_back(line);
    }
  }
  for (std::string& line : lines) line = line_of(line, traits);
  if (task == Task::kRegressor) append(label_scale_arguments());
  if (task == Task::kClassifier) append(class_arguments());
  return lines;
}

const RegisteredModel& registered_model(const std::string& estimator) {
  Factory<CannedModel>::instance().find("estimator", estimator);  // throws in its words
  return models().at(estimator);
}

bool register_models(const std::string& model, const ModelTraits& traits, const MakeCanned& make) {
  const auto shared = std::make_shared<const ModelTraits>(traits);
  const auto add = [&](const char* suffix, Task task, Factory<CannedModel>::Make make_one) {
    const std::string estimator = model + suffix;
    models()[estimator] = {shared, task};
    Factory<CannedModel>::instance().add(estimator.c_str(), make_one, estimator.c_str(),
                                         model_lines(traits, task));
  };
  add("_regressor", Task::kRegressor, make.regressor);
  add("_classifier", Task::kClassifier, make.classifier);
  add("_estimator", Task::kHead, make.of_head);
  return true;
}

}  // namespace runhooks
