// Head: turns the logits of a model into loss, predictions, metrics and the training op.
#pragma once

#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "estimators/models/model_fn.h"

namespace runhooks {

using TrainOpFn = std::function<Operation*(Graph&, Output loss)>;

struct HeadParts {
  Named<Output> predictions;
  Output loss;                   // empty in prediction
  Output mean_loss;              // mean over examples; empty if `loss` is already a mean
  bool loss_is_average = false;  // whether `loss` is the average loss of evaluations
  Output training_loss;          // the minimized loss if its units differ from those of `loss`
  Named<Metric> metrics;
  Named<ExportOutput> export_outputs;  // set only in prediction mode
};

extern const char* const kDefaultSignature;  // "serving_default"

// The name of the endpoint (a tensor that hooks can fetch by name) with the labels of binary
// classification as numbers, [batch, 1]. Models with several heads do not have it.
inline constexpr char kBinaryLabels[] = "binary_labels";

// Describes one type of tidy prediction, as parsnip names it.
struct TidyPrediction {
  std::string type;  // "numeric", "class", "prob", ...
  std::string key;   // the key in the predictions
  // The columns of the table: a factor of classes, one number per class, or numbers named ".pred",
  // followed by `names` if there are several.
  enum class Columns { kClass, kByClass, kNumbers };
  Columns columns = Columns::kNumbers;
  std::vector<std::string> names;  // by default "1", "2", ...
};

// The labels that a head accepts and the predictions it returns, for code that prepares data.
struct LabelSpec {
  int64_t width = 1;           // values per example
  std::string width_argument;  // the argument that sets `width`
  double lowest = -kAnyNumber, highest = kAnyNumber;
  // For classification, the number of classes; 0 for numbers. Each value is a class index, or, if
  // `width` is the number of classes, an indicator of one class.
  int64_t n_classes = 0;
  bool has_one_class() const { return n_classes > 0 && width == 1; }
  std::vector<std::string> vocabulary;  // class names, if labels are strings
  // Labels are named by head; the other fields are unused.
  bool is_by_head = false;
  std::vector<TidyPrediction> predictions;
  // The distribution whose likelihood is the loss, with its usual link: "gaussian", "binomial",
  // "poisson", "multinomial", or "".
  std::string family;
  static constexpr double kAnyNumber = std::numeric_limits<double>::infinity();
};

class Head {
 public:
  virtual ~Head() = default;
  virtual LabelSpec labels() const = 0;
  virtual std::vector<FeatureRead> reads() const = 0;
  // Returns the suffix of metric keys and summaries, or "".
  virtual const std::string& name() const = 0;
  virtual int64_t logits_dimension() const = 0;
  virtual HeadParts parts(Graph& graph,
                          const ModelInput& input,
                          Mode mode,
                          Output logits) const = 0;
  // `input.labels` may be empty in prediction.
  virtual EstimatorSpec create_estimator_spec(Graph& graph,
                                              const ModelInput& input,
                                              Mode mode,
                                              Output logits,
                                              const TrainOpFn& train_op) const = 0;

  // Selects the name scope of training ops as in TensorFlow: heads inside canned estimators use
  // their own scope ("dnn/head/beta1_power"), public heads the scope "training".
  bool is_public = false;
};

// Builds the EstimatorSpec from the parts of a head, with the training op and the summaries "loss"
// and "average_loss" (with the head's name as suffix) in training. `inner_heads` reserves a scope
// per inner head, as TensorFlow's MultiHead does.
EstimatorSpec finish_spec(Graph& graph,
                          Mode mode,
                          HeadParts parts,
                          const Head& head,
                          const TrainOpFn& train_op,
                          size_t inner_heads = 0);

std::shared_ptr<Head> make_head(const std::string& type, const Args& args);
std::shared_ptr<Head> make_estimator_head(const std::string& type, const Args& args);
std::shared_ptr<Head> classifier_head(const Args& args);
std::shared_ptr<Head> head_from_argument(const Args& args);

// Replaces names of arguments that several heads share ("weight_column", "loss_reduction", ...) by
// their declarations.
std::string head_argument_line(const std::string& name);
std::vector<std::string> expand_head_arguments(std::vector<std::string> lines);

// Registers a head with its arguments as ArgSpec declarations or names (see
// expand_head_arguments()). The model directory must match arguments whose declaration contains
// "kept".
#define RUNHOOKS_REGISTER_HEAD(type, Class, summary, ...)                             \
  [[maybe_unused]] static const bool RUNHOOKS_CONCAT(head_registered_, __COUNTER__) = \
      ::runhooks::Factory<::runhooks::Head>::instance().add(                          \
          type,                                                                       \
          [](const ::runhooks::Args& args) -> std::shared_ptr<::runhooks::Head> {     \
            return std::make_shared<Class>(args);                                     \
          },                                                                          \
          type, ::runhooks::expand_head_arguments({__VA_ARGS__}), summary)

}  // namespace runhooks
