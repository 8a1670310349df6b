// What lives here: HeadBase, what heads of one kind of label share: weights, reduction, the order of building.
// Who may use it: one file a head.
// What it must not know: any particular loss or metric, R.
#pragma once

#include <string>
#include <vector>

#include "estimators/head.h"
#include "nn/loss.h"
#include "nn/metric.h"

namespace runhooks {

// A batch as metrics see it.
struct HeadBatch {
  Output labels;   // as checked_labels() gave them
  Output logits;   // [batch, logits_dimension]
  Output weights;  // [batch, 1], may be missing
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
  // The labels, [batch, k] and of a type that the loss takes. Whatever is wrong with them is an
  // error, here or when the graph runs.
  virtual Output checked_labels(Graph& graph, Output labels, Output logits) const = 0;
  virtual Output losses(Graph& graph, Output labels, Output logits) const = 0;
  // The same in the units of the labels, where training minimizes another multiple of them.
  virtual Output losses_of_data(Graph&, Output losses) const { return losses; }
  virtual Named<Metric> metrics(Graph& graph, const HeadBatch& batch) const = 0;
  // The signatures "classification" and "regression", as far as the head has them; the first is the
  // default one.
  virtual Named<ExportOutput> signatures(const Named<Output>& predictions) const = 0;

  // "precision", or "precision/<name>" where the head has a name.
  std::string key(const std::string& metric) const;

 private:
  Output weights_of(Graph& graph, const Features& features) const;
  // The weights times those of the classes of the labels.
  Output with_class_weights(Graph& graph, Output labels, Output weights) const;
  Output mean_loss(Graph& graph, Output loss, Output losses, Output weights) const;

  std::string name_;
  Reduction reduction_;
  ColumnPtr weight_column_;
  std::vector<float> class_weights_;  // none: all are 1
};

// --- predictions

Output prediction_of(const Named<Output>& predictions, const std::string& key);
// {"classification", ...}: the words of all classes with their probabilities.
std::pair<std::string, ExportOutput> classification_signature(Output scores, Output classes);
// {"regression", ...}
std::pair<std::string, ExportOutput> regression_signature(Output value);

// --- labels

// [batch, k] of labels that may be [batch]; an error that names `wanted` columns where they have
// others.
Output two_dimensional_labels(Graph& graph, Output labels, Output logits, int64_t wanted);
// The numbers 0 ... n_classes - 1 of labels [batch, 1] in float32, or in int64 where `as_ids`.
// Strings are looked up in `vocabulary`. Each other label is an error with its value and row.
Output class_labels(Graph& graph,
                    Output labels,
                    int64_t n_classes,
                    const std::vector<std::string>& vocabulary,
                    bool as_ids);
// The labels of a classifier.
LabelSpec one_class_labels(int64_t n_classes, const std::vector<std::string>& vocabulary);
// A row of 0 and 1 for each example.
LabelSpec several_class_labels(int64_t n_classes, const std::vector<std::string>& vocabulary);
// The words of class numbers.
Output class_words(Graph& graph, Output class_ids, const std::vector<std::string>& vocabulary);
// Every class number and every word, once a row.
void add_all_classes(Graph& graph,
                     Output logits,
                     int64_t n_classes,
                     const std::vector<std::string>& vocabulary,
                     Named<Output>* predictions);
// `values` after a check of each of them when the graph runs.
Output checked(Graph& graph, Output values, Output holds, const std::string& message);

// The words of a classifier's argument `label_vocabulary`; none where there is none. Throws where
// they are not `n_classes` different ones.
std::vector<std::string> vocabulary_argument(const Args& args, int64_t n_classes);
// The argument `thresholds`: numbers between 0 and 1, none by default.
std::vector<float> thresholds_argument(const Args& args);

}  // namespace runhooks
