// HeadBase: the common part of heads: weights, loss reduction and the order of building ops.
#pragma once

#include <string>
#include <vector>

#include "estimators/heads/head.h"
#include "nn/loss.h"
#include "nn/metric.h"

namespace runhooks {

struct HeadBatch {
  Output labels;   // result of checked_labels()
  Output logits;   // [batch, logits_dimension]
  Output weights;  // [batch, 1]; may be missing
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
  // The losses in label units, if training minimizes a multiple of them.
  virtual Output losses_of_data(Graph&, Output losses) const { return losses; }
  virtual Named<Metric> metrics(Graph& graph, const HeadBatch& batch) const = 0;
  // The "classification" and "regression" signatures of the head; the first is the default.
  virtual Named<ExportOutput> signatures(const Named<Output>& predictions) const = 0;

  // "precision", or "precision/<name>" if the head has a name.
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

// The column that the argument `weight_column` gives by name or as a column; NULL if it is absent.
ColumnPtr weight_column_argument(const Args& args);

Output prediction_of(const Named<Output>& predictions, const std::string& key);
// {"classification", ...}: the names of all classes, with their probabilities.
std::pair<std::string, ExportOutput> classification_signature(Output scores, Output classes);
std::pair<std::string, ExportOutput> regression_signature(Output value);

// Converts labels of shape [batch] or [batch, wanted] to the latter; throws for other shapes.
Output two_dimensional_labels(Graph& graph, Output labels, Output logits, int64_t wanted);
// Converts labels [batch, 1] to class indices 0 ... n_classes - 1, as int64 if `as_ids`, else as
// float32. Strings are looked up in `vocabulary`. Invalid labels fail with their value and row.
Output class_labels(Graph& graph,
                    Output labels,
                    int64_t n_classes,
                    const std::vector<std::string>& vocabulary,
                    bool as_ids);
LabelSpec one_class_labels(int64_t n_classes, const std::vector<std::string>& vocabulary);
LabelSpec several_class_labels(int64_t n_classes, const std::vector<std::string>& vocabulary);
Output class_strings(Graph& graph, Output class_ids, const std::vector<std::string>& vocabulary);
void add_all_classes(Graph& graph,
                     Output logits,
                     int64_t n_classes,
                     const std::vector<std::string>& vocabulary,
                     Named<Output>* predictions);
// Returns `values` after asserting `holds` at run time.
Output checked(Graph& graph, Output values, Output holds, const std::string& message);

// The argument `label_vocabulary`, or none. Throws unless it has `n_classes` distinct names.
std::vector<std::string> vocabulary_argument(const Args& args, int64_t n_classes);
std::vector<float> thresholds_argument(const Args& args);

}  // namespace runhooks
