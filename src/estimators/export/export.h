// The inputs and options of an export.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "estimators/run/estimator.h"
#include "io/graphs/meta_graph.h"

namespace runhooks {

// The inputs of an exported model (tf.estimator.export.ServingInputReceiver).
struct ServingReceiver {
  ModelInput input;          // input of the model function, without labels
  Named<Feature> receivers;  // tensors that requests feed, by signature key
};

struct ExportOptions {
  std::string checkpoint_path;  // "": the newest
  bool as_text = false;
  bool strip_default_attrs = false;
  // Additional files: destination below assets.extra, and source.
  std::vector<std::pair<std::string, std::string>> assets_extra;
};

// Returns the signatures of an exported model, as TensorFlow's Estimator.export_savedmodel().
// Classification and regression signatures require that a request is a single string tensor.
// Throws if the model has several signatures, but no default.
std::map<std::string, SignatureDef> export_signatures(const EstimatorSpec& spec,
                                                      const Named<Feature>& receivers);

}  // namespace runhooks
