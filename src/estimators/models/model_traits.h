// ModelTraits: properties of a family of canned estimators, such as its names, parts, optimizers
// and arguments, so that formulas, printing and help pages need no model-specific code.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "estimators/models/model_fn.h"

namespace runhooks {

struct PartOptimizer {
  const char* default_name;  // the default optimizer, for example "Ftrl"
  double rate;               // the learning rate of an optimizer given by name
  // When to use 1 / sqrt(number of columns) if that is smaller than `rate`: never, only for the
  // default optimizer, or always.
  enum class RateScaling { kNever, kForDefault, kAlways };
  RateScaling rate_scaling = RateScaling::kNever;
  // Defaults for formulas, chosen to converge on standardized numbers. A rate of 0 means the
  // default rate of the optimizer.
  const char* formula_name;
  double formula_rate = 0;
  static PartOptimizer none() { return {"", 0, RateScaling::kNever, "", 0}; }
};

struct ModelPart {
  std::string prefix;  // prefix of argument names: "dnn_"; empty if the model has one part
  bool has_columns = true;
  bool is_deep = false;  // needs dense columns: factors become indicator columns
  PartOptimizer optimizer;
  std::string columns_argument() const { return prefix + "feature_columns"; }
  bool has_optimizer() const { return *optimizer.default_name != 0; }
  std::string optimizer_argument() const { return prefix + "optimizer"; }
};

// Names of the variables with the weights of a linear model.
struct Coefficients {
  std::string bias;
  std::vector<std::string> weights;  // one per column, in the same order
};

struct TreeModelView;

// The default of an argument in formula models: `value`, or `value / rows` if `is_per_row`, which
// is the weight of one row in a mean loss.
struct FormulaDefault {
  std::string argument;
  double value;
  bool is_per_row = false;
};

struct ModelTraits {
  std::string family;       // "linear", "deep", "both", "baseline", ... "custom"
  std::string description;  // "wide and deep", for "a wide and deep classifier"
  std::string name;         // begins TensorFlow's class names: "DNNLinearCombined"
  std::vector<ModelPart> parts;
  // Defaults for the training input: enough steps to converge without overfitting.
  int64_t batch_size = 512, steps = 5000;
  // Whether by default each step reads all rows in memory, and training stops when it is complete.
  bool needs_all_rows = false;
  // Returns the variables of a linear model with these columns. The function is empty for other
  // models.
  std::function<Coefficients(const std::vector<ColumnPtr>&)> coefficients;
  std::function<std::shared_ptr<const TreeModelView>(const Args&, const std::string& checkpoint)>
      trees;
  // Argument defaults in formula models that differ from TensorFlow's. Such a family has an
  // argument `of_formula`.
  std::vector<FormulaDefault> formula_defaults;
  // Returns the global step at which training is complete. The function is empty for models whose
  // steps only the user limits.
  std::function<int64_t(const Args&)> planned_steps;
  // ArgSpec declarations in the order of TensorFlow's signatures; see argument_lines().
  std::vector<std::string> arguments;
};

enum class Task { kRegressor, kClassifier, kHead };
const char* mode_of(Task task);   // parsnip's mode: "regression", "classification" or ""
const char* class_of(Task task);  // the suffix of TensorFlow's class: "Regressor", ...

// Returns the argument declarations of an estimator. Replaces some names in `traits.arguments` by
// declarations: "head", "optimizer", "labels" (all label arguments of the task), "formula" (all
// formula arguments) and others.
std::vector<std::string> argument_lines(const ModelTraits& traits, Task task);

// Whether `name` is a label argument of the task: it belongs to the head in model_signature().
bool is_label_argument(Task task, const std::string& name);

struct RegisteredModel {
  std::shared_ptr<const ModelTraits> traits;
  Task task;
};
// Finds a model by the name of its estimator; throws if it is unknown.
const RegisteredModel& registered_model(const std::string& estimator);

struct CannedFactories {
  Factory<CannedModel>::Make regressor, classifier, with_head;
};
bool register_models(const std::string& model,
                     const ModelTraits& traits,
                     const CannedFactories& make);

using CannedModelFn = ModelFn (*)(const std::shared_ptr<Head>&, const Args&);
inline std::shared_ptr<CannedModel> make_canned(CannedModelFn model_fn,
                                                const std::shared_ptr<Head>& head,
                                                const Args& args) {
  return std::make_shared<CannedModel>(CannedModel{model_fn(head, args), head});
}

// Registers a model function as <model>_regressor, <model>_classifier and <model>_estimator, which
// takes a head. `traits` is a ModelTraits; estimators/heads/head.h declares the heads.
#define RUNHOOKS_REGISTER_CANNED(model, model_fn, traits)                                      \
  [[maybe_unused]] static const bool RUNHOOKS_CONCAT(canned_registered_, __COUNTER__) =        \
      ::runhooks::register_models(                                                             \
          model, traits,                                                                       \
          {[](const ::runhooks::Args& args) {                                                  \
             return make_canned(model_fn, make_estimator_head("regression_head", args), args); \
           },                                                                                  \
           [](const ::runhooks::Args& args) {                                                  \
             return make_canned(model_fn, classifier_head(args), args);                        \
           },                                                                                  \
           [](const ::runhooks::Args& args) {                                                  \
             return make_canned(model_fn, head_from_argument(args), args);                     \
           }})

}  // namespace runhooks
