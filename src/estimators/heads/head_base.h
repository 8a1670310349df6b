// HeadBase: the base class of heads with one loss. Handles weights, loss reduction and the order in
// which ops are built.
#pragma once

#include <string>
#include <vector>

#include "estimators/heads/head.h"
#include "nn/loss.h"
#include "nn/metric.h"

namespace runhooks {

// The tensors from which a head computes its metrics.
struct HeadBatch {
  Output labels;   // result of checked_labels()
  Output logits;   // [batch, logits_dimension]
  Output weights;  // [batch, 1]; may be empty
  Output losses;   // [batch, k], neither weighted nor reduced
  const Named<Output>& predictions;
  Output prediction(const std::string& key) const;
};

class HeadBase : public Head {
 public:
  explicit HeadBase(const Args& args);
  const std::string& name() const override { return name_; }
  std::vector<FeatureRead> reads() const override;
  EstimatorSpec create_estimator_spec(Graph& graph,
                                      const ModelInput& input,
                                      Mode mode,
                                      Output logits,
                                      const TrainOpFn& train_op) const override;
  HeadParts parts(Graph& graph, const ModelInput& input, Mode mode, Output logits) const override;

 protected:
  virtual Named<Output> predictions(Graph& graph, Output logits) const = 0;
  // Validates labels when the graph is built and when it runs. Returns them as [batch, k], in a
  // type that the loss accepts.
  virtual Output checked_labels(Graph& graph, Output labels, Output logits) const = 0;
  virtual Output losses(Graph& graph, Output labels, Output logits) const = 0;
  // Converts losses to label units; overridden by heads that standardize labels for training.
  virtual Output losses_in_label_units(Graph&, Output losses) const { return losses; }
  virtual Named<Metric> metrics(Graph& graph, const HeadBatch& batch) const = 0;
  // Returns the "classification" and "regression" signatures of the head; the first is the default.
  virtual Named<ExportOutput> signatures(const Named<Output>& predictions) const = 0;

  // Returns the key of a metric: "precision", or "precision/<name>" if the head has a name.
  std::string key(const std::string& metric) const;

 private:
  Output weights_of(Graph& graph, const Features& features) const;
  Output with_class_weights(Graph& graph, Output labels, Output weights) const;
  void add_example_losses(Graph& graph, Output losses, Output weights) const;
  Output mean_loss(Graph& graph, Output loss, Output losses, Output weights) const;

  std::string name_;
  Reduction reduction_;
  ColumnPtr weight_column_;
  std::vector<float> class_weights_;  // empty: all are 1
};

// Returns the column for the argument `weight_column`, a name or a column; NULL if it is absent.
ColumnPtr weight_column_argument(const Args& args);

Output prediction_of(const Named<Output>& predictions, const std::string& key);
// Return signatures for export, with TensorFlow's keys. `scores` are probabilities, and `classes`
// are the names of the classes.
std::pair<std::string, ExportOutput> classification_signature(Output scores, Output classes);
std::pair<std::string, ExportOutput> regression_signature(Output value);

// Converts labels of shape [batch] or [batch, width] to [batch, width]; throws for other shapes.
Output two_dimensional_labels(Graph& graph, Output labels, Output logits, int64_t width);
// Converts labels [batch, 1] to class indices 0 ... n_classes - 1, as int64 if `as_ids`, else as
// float32. Strings are looked up in `vocabulary`. Invalid labels fail with their value and row.
Output class_labels(Graph& graph,
                    Output labels,
                    int64_t n_classes,
                    const std::vector<std::string>& vocabulary,
                    bool as_ids);
// Describe labels with one class per example, and labels with an indicator for each class.
LabelSpec class_label_spec(int64_t n_classes, const std::vector<std::string>& vocabulary);
LabelSpec multi_label_spec(int64_t n_classes, const std::vector<std::string>& vocabulary);
Output class_strings(Graph& graph, Output class_ids, const std::vector<std::string>& vocabulary);
void add_all_classes(Graph& graph,
                     Output logits,
                     int64_t n_classes,
                     const std::vector<std::string>& vocabulary,
                     Named<Output>* predictions);
// Returns `values` with an assertion that all elements of `is_valid` are true at run time.
Output with_assertion(Graph& graph, Output values, Output is_valid, const std::string& message);

// Returns the argument `label_vocabulary`, or an empty vector if it is missing. Throws unless it
// has `n_classes` distinct names.
std::vector<std::string> vocabulary_argument(const Args& args, int64_t n_classes);
std::vector<float> thresholds_argument(const Args& args);

}  // namespace runhooks
