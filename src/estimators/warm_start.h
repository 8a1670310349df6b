// What lives here: WarmStart, initial values of a model that come from the checkpoint of another model.
// Who may use it: estimators, the bindings.
// What it must not know: models, the training loop, R.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "estimators/vocab_remap.h"
#include "graph/args.h"
#include "training/scaffold.h"

namespace runhooks {

// tf.estimator.WarmStartSettings.
class WarmStart {
 public:
  explicit WarmStart(const Args& args);
  // Reads the values of what is meant of the graph's model, and has the scaffold assign them
  // after all was initialized: a session that is restored from a checkpoint does not get
  // them.
  void apply(const Graph& graph, Scaffold& scaffold) const;

 private:
  std::vector<SaveablePtr> chosen_in(const Graph& graph) const;
  Saveable::Assign read(const TensorSource& checkpoint, Saveable& saveable) const;

  std::string checkpoint_;
  std::vector<std::string> patterns_;
  bool only_trainable_;
  std::map<std::string, std::string> previous_names_;
  std::map<std::string, VocabInfo> vocabularies_;
};

}  // namespace runhooks
