// What lives here: ModelTraits, what a family of canned estimators says of itself: its words, its parts with their columns,
// optimizers and rates, its coefficients, the arguments of its estimators.
// Who may use it: model functions register it; whoever makes models of formulas, prints or interprets them asks.
// What it must not know: how a model is built, R.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "estimators/model_fn.h"

namespace runhooks {

// What trains a part of a model where a script says a name, or nothing.
struct PartOptimizer {
  const char* missing;  // the optimizer where none is named: "Ftrl"
  double rate;          // the learning rate of one that is named
  // Whether the rate is 1 / sqrt(number of columns) where that is smaller.
  enum class RateScaling { kNever, kWhereMissing, kAlways };
  RateScaling falls = RateScaling::kNever;
  // What converges for the standardized numbers of a formula, where nothing is said. A rate of 0 is
  // that of the name.
  const char* of_formula;
  double rate_of_formula = 0;
  // Of parts that are not trained by gradients.
  static PartOptimizer none() { return {"", 0, RateScaling::kNever, "", 0}; }
};

// A part of a model that is trained by an optimizer of its own.
struct ModelPart {
  std::string prefix;  // of its arguments' names: "dnn_", or nothing where the model has one part
  bool has_columns = true;
  bool is_deep = false;  // takes dense columns: words become indicators
  PartOptimizer optimizer;
  std::string columns_argument() const { return prefix + "feature_columns"; }
  bool has_optimizer() const { return *optimizer.missing != 0; }
  std::string optimizer_argument() const { return prefix + "optimizer"; }
};

// Where checkpoints have the weights of a linear function of the features.
struct Coefficients {
  std::string bias;
  std::vector<std::string> weights;  // of each column, in their order
};

// What a trained model of trees is made of (estimators/tree_features.h).
struct TreeModelView;

// `value`, or that divided by the rows of the data: of the mean of the rows' losses as much as one row.
struct FormulaDefault {
  std::string argument;
  double value;
  bool is_by_row = false;
};

struct ModelTraits {
  std::string family;  // "linear", "deep", "both", "baseline", ... "custom"
  std::string words;   // "wide and deep", in "a wide and deep classifier"
  std::string name;    // of TensorFlow's classes: "DNNLinearCombined"
  std::vector<ModelPart> parts;
  // What training reads of data where nothing is said: enough to converge, not to learn the noise.
  int64_t batch_size = 512, steps = 5000;
  // Whether it wants all rows of data in memory in each step, and ends by itself.
  bool wants_all_rows = false;
  // Of the columns of a model; missing where it is no linear function.
  std::function<Coefficients(const std::vector<ColumnPtr>&)> coefficients;
  // The trees that a checkpoint has of a model of these arguments; missing where it has none.
  std::function<std::shared_ptr<const TreeModelView>(const Args&, const std::string& checkpoint)>
      trees;
  // What arguments are in a formula's model where nobody gives them, if it is not what TensorFlow has. Such
  // a family has an argument `of_formula`.
  std::vector<FormulaDefault> formula_defaults;
  // The global step at which such a model ends a training by itself; missing where it does not.
  std::function<int64_t(const Args&)> planned_steps;
  // Lines as ArgSpec has them, in the order of TensorFlow's signatures; see model_lines().
  std::vector<std::string> arguments;
};

// What a task makes of a model function: a regressor, a classifier, or what a head says.
enum class Task { kRegressor, kClassifier, kHead };
// "regression", "classification" or nothing, as others call it.
const char* mode_of(Task task);
// "Regressor", "Classifier", "Estimator".
const char* class_of(Task task);

// The arguments of an estimator of this family. What several families have stands there by its name
// alone: "head", "labels" (those of the task), "loss_reduction", "optimizer", "model_dir", ...,
// "formula" (what goes with one).
std::vector<std::string> model_lines(const ModelTraits& traits, Task task);

// Whether the task has this argument for its labels: its head says what a folder must agree on.
bool is_label_argument(Task task, const std::string& name);

struct RegisteredModel {
  std::shared_ptr<const ModelTraits> traits;
  Task task;
};
// By the name of the estimator; throws where there is none.
const RegisteredModel& registered_model(const std::string& estimator);

// How a model is made for each task.
struct MakeCanned {
  Factory<CannedModel>::Make regressor, classifier, of_head;
};
bool register_models(const std::string& model, const ModelTraits& traits, const MakeCanned& make);

using CannedModelFn = ModelFn (*)(const std::shared_ptr<Head>&, const Args&);
inline std::shared_ptr<CannedModel> make_canned(CannedModelFn model_fn,
                                                const std::shared_ptr<Head>& head,
                                                const Args& args) {
  return std::make_shared<CannedModel>(CannedModel{model_fn(head, args), head});
}

// A model function of a head and the other arguments, under three names: <model>_regressor,
// <model>_classifier and, with a head of the user's choice, <model>_estimator. `traits` is a
// ModelTraits. (estimators/head.h has the heads.)
#define RUNHOOKS_REGISTER_CANNED(model, model_fn, traits)                                    \
  [[maybe_unused]] static const bool RUNHOOKS_CONCAT(canned_registered_, __COUNTER__) =      \
      ::runhooks::register_models(                                                           \
          model, traits,                                                                     \
          {[](const ::runhooks::Args& args) {                                                \
             return make_canned(model_fn, head_of_estimator("regression_head", args), args); \
           },                                                                                \
           [](const ::runhooks::Args& args) {                                                \
             return make_canned(model_fn, classifier_head(args), args);                      \
           },                                                                                \
           [](const ::runhooks::Args& args) {                                                \
             return make_canned(model_fn, head_argument(args), args);                        \
           }})

}  // namespace runhooks
