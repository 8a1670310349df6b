// What lives here: what an export is made of: the receiver of requests, and options.
// Who may use it: the bindings, exporters.
// What it must not know: any particular model, R.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "estimators/estimator.h"
#include "io/graphs/meta_graph.h"

namespace runhooks {

// tf.estimator.export.ServingInputReceiver.
struct ServingReceiver {
  ModelInput input;          // of the model function, without labels
  Named<Feature> receivers;  // what requests feed, by the keys of the signatures
};

struct ExportOptions {
  std::string checkpoint_path;  // "": the newest
  bool as_text = false;
  bool strip_default_attrs = false;
  // Files that are copied along: where to, below assets.extra, and where from.
  std::vector<std::pair<std::string, std::string>> assets_extra;
};

// The signatures of a model with these outputs and receivers, as Estimator.export_savedmodel()
// makes them: classification and regression only where requests are one tensor of strings. Throws
// where there is no default one and more than one could be it.
std::map<std::string, SignatureDef> signatures_of(const EstimatorSpec& spec,
                                                  const Named<Feature>& receivers);

}  // namespace runhooks
