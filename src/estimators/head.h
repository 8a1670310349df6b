// What lives here: Head, what a model does with its logits: loss, predictions, metrics, the training step.
// Who may use it: canned model functions, the bindings.
// What it must not know: where the logits come from, the training loop, R.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "estimators/model_fn.h"

namespace runhooks {

// The operation of one step for a loss.
using TrainOpFn = std::function<Operation*(Graph&, Output loss)>;

// What a head makes of logits before a training step is built.
struct HeadParts {
  Named<Output> predictions;
  Output loss;       // missing in prediction
  Output mean_loss;  // of the examples, where it is not the loss already
  Named<Metric> metrics;
  Named<ExportOutput> export_outputs;  // in prediction only
};

// The signature that a request without a name gets.
extern const char* const kDefaultSignature;  // "serving_default"

class Head {
 public:
  virtual ~Head() = default;
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

#define RUNHOOKS_REGISTER_HEAD(type, Class)                                             \
  [[maybe_unused]] static const bool RUNHOOKS_CONCAT(head_registered_, __LINE__) =      \
      ::runhooks::Factory<::runhooks::Head>::instance().add(                            \
          type, [](const ::runhooks::Args& args) -> std::shared_ptr<::runhooks::Head> { \
            return std::make_shared<Class>(args);                                       \
          })

}  // namespace runhooks
