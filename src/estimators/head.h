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

// What a head takes as labels, for those who prepare them.
struct LabelSpec {
  // Numbers, one of several classes, any number of classes, or the labels of other heads by name.
  enum class Kind { kNumbers, kClass, kClasses, kByHead };
  Kind kind = Kind::kNumbers;
  int64_t width = 1;           // values of an example
  std::string width_argument;  // of the head, which says so
  double lowest = -kAnyNumber, highest = kAnyNumber;
  int64_t n_classes = 0;
  std::vector<std::string> vocabulary;  // where classes are words
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
// Of a classifier's arguments: two classes by one logit, or more by as many.
std::shared_ptr<Head> classifier_head(const Args& args);
// The head that an estimator's argument `head` is.
std::shared_ptr<Head> head_argument(const Args& args);

// A model function of a head and the other arguments, under three names: <model>_regressor,
// <model>_classifier and, with a head of the user's choice, <model>_estimator.
#define RUNHOOKS_REGISTER_CANNED(model, model_fn)                                                \
  RUNHOOKS_CANNED_(model "_regressor", model_fn, make_head("regression_head", args), Regressor); \
  RUNHOOKS_CANNED_(model "_classifier", model_fn, classifier_head(args), Classifier);            \
  RUNHOOKS_CANNED_(model "_estimator", model_fn, head_argument(args), Estimator)
#define RUNHOOKS_CANNED_(type, model_fn, head_of_args, Kind)                                   \
  [[maybe_unused]] static const bool RUNHOOKS_CONCAT(canned_##Kind, __COUNTER__) =             \
      ::runhooks::Factory<::runhooks::CannedModel>::instance().add(                            \
          type, [](const ::runhooks::Args& args) -> std::shared_ptr<::runhooks::CannedModel> { \
            const std::shared_ptr<::runhooks::Head> head = head_of_args;                       \
            return std::make_shared<::runhooks::CannedModel>(                                  \
                ::runhooks::CannedModel{model_fn(head, args), head});                          \
          })

#define RUNHOOKS_REGISTER_HEAD(type, Class)                                             \
  [[maybe_unused]] static const bool RUNHOOKS_CONCAT(head_registered_, __COUNTER__) =   \
      ::runhooks::Factory<::runhooks::Head>::instance().add(                            \
          type, [](const ::runhooks::Args& args) -> std::shared_ptr<::runhooks::Head> { \
            return std::make_shared<Class>(args);                                       \
          })

}  // namespace runhooks
