// What lives here: Head, what a model does with its logits: loss, predictions, metrics, the training step.
// Who may use it: canned model functions, the bindings.
// What it must not know: where the logits come from, the training loop, R.
#pragma once

#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "estimators/model_fn.h"

namespace runhooks {

// The operation of one step for a loss.
using TrainOpFn = std::function<Operation*(Graph&, Output loss)>;

// What a head makes of logits before a training step is built.
struct HeadParts {
  Named<Output> predictions;
  Output loss;           // missing in prediction
  Output mean_loss;      // of the examples, where it is not the loss already
  Output training_loss;  // what is minimized, where it is not the loss: that is in other units
  Named<Metric> metrics;
  Named<ExportOutput> export_outputs;  // in prediction only
};

// The signature that a request without a name gets.
extern const char* const kDefaultSignature;  // "serving_default"

// The endpoint that has the labels of two classes as numbers, [batch, 1], where one head has them.
inline constexpr char kBinaryLabels[] = "binary_labels";

// One form of predictions as a table has them, for those who show them.
struct TidyPrediction {
  std::string type;  // how scripts ask for it: "numeric", "class", "prob", ...
  std::string key;   // of the predictions
  // Which columns it has: one of the words of the classes, a number for each class, or numbers
  // that are called ".pred", with these words behind it where there are several.
  enum class Columns { kClass, kByClass, kNumbers };
  Columns columns = Columns::kNumbers;
  std::vector<std::string> names;  // by default "1", "2", ...
};

// What a head takes as labels, for those who prepare them, and what its predictions are. Whoever
// reads it goes by what it says, so that a head may have labels of another kind.
struct LabelSpec {
  int64_t width = 1;           // values of an example
  std::string width_argument;  // of the head, which says so
  double lowest = -kAnyNumber, highest = kAnyNumber;
  bool are_whole = false;  // each value is a whole number
  // Labels are classes: each value is one of so many, or, where the width is that of the classes,
  // says of each class whether the example has it. 0: labels are numbers.
  int64_t n_classes = 0;
  bool has_one_class() const { return n_classes > 0 && width == 1; }
  std::vector<std::string> vocabulary;  // where classes are words
  // The labels are those of other heads, by name; nothing else is known of them.
  bool is_by_head = false;
  std::vector<TidyPrediction> predictions;
  // The distribution whose likelihood the loss is, with the link between its mean and the logits,
  // as statisticians call it: "gaussian", "binomial", "poisson", "multinomial"; "" where it is none.
  std::string family;
  static constexpr double kAnyNumber = std::numeric_limits<double>::infinity();
};

class Head {
 public:
  virtual ~Head() = default;
  virtual LabelSpec labels() const = 0;
  // The features that it reads beside those of columns: weights.
  virtual std::vector<FeatureRead> reads() const = 0;
  // "" where it has none; a name goes to the keys of metrics and to the summaries.
  virtual const std::string& name() const = 0;
  virtual int64_t logits_dimension() const = 0;
  virtual HeadParts parts(Graph& graph,
                          const ModelInput& input,
                          Mode mode,
                          Output logits) const = 0;
  // Labels may be missing in prediction.
  virtual EstimatorSpec create_estimator_spec(Graph& graph,
                                              const ModelInput& input,
                                              Mode mode,
                                              Output logits,
                                              const TrainOpFn& train_op) const = 0;

  // TensorFlow has two families of heads: those inside of canned estimators train in their own name
  // scope ("dnn/head/beta1_power"), the public ones, which an estimator is given, in a scope of the
  // graph: "training/beta1_power".
  bool is_public = false;
};

// The specification of what a head has made; in training with its step, and with the summaries
// "loss" and "average_loss", which have the head's name behind them where it has one. A head that
// is made of `inner_heads` leaves a scope for each of them.
EstimatorSpec finish_spec(Graph& graph,
                          Mode mode,
                          HeadParts parts,
                          const Head& head,
                          const TrainOpFn& train_op,
                          size_t inner_heads = 0);

// Makes a head by the name of its type ("regression_head") from its arguments.
std::shared_ptr<Head> make_head(const std::string& type, const Args& args);
// The same of an estimator's arguments, of which it takes its own.
std::shared_ptr<Head> head_of_estimator(const std::string& type, const Args& args);
// Of a classifier's arguments: two classes by one logit, or more by as many.
std::shared_ptr<Head> classifier_head(const Args& args);
// The head that an estimator's argument `head` is.
std::shared_ptr<Head> head_argument(const Args& args);

// The lines of arguments, where those that several heads have are given by their names alone:
// "weight_column", "loss_reduction", ...
std::vector<std::string> head_lines(std::vector<std::string> lines);

// Its arguments as ArgSpec has them, or by their names; see head_lines(). Those that are "kept" are
// what a model's folder must agree on.
#define RUNHOOKS_REGISTER_HEAD(type, Class, summary, ...)                             \
  [[maybe_unused]] static const bool RUNHOOKS_CONCAT(head_registered_, __COUNTER__) = \
      ::runhooks::Factory<::runhooks::Head>::instance().add(                          \
          type,                                                                       \
          [](const ::runhooks::Args& args) -> std::shared_ptr<::runhooks::Head> {     \
            return std::make_shared<Class>(args);                                     \
          },                                                                          \
          type, ::runhooks::head_lines({__VA_ARGS__}), summary)

}  // namespace runhooks
