// What lives here: WarmStart, initial values of variables that come from the checkpoint of another model.
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
  // Reads the values of the graph's variables that are meant, and has the scaffold assign them
  // after the variables were initialized: a session that is restored from a checkpoint does not get
  // them.
  void apply(const Graph& graph, Scaffold& scaffold) const;

 private:
  std::vector<VariablePtr> chosen_variables(const Graph& graph) const;
  Tensor value_of(const std::string& checkpoint, const VariablePtr& variable) const;

  std::string checkpoint_;
  std::vector<std::string> patterns_;
  bool only_trainable_;
  std::map<std::string, std::string> previous_names_;
  std::map<std::string, VocabInfo> vocabularies_;
};

}  // namespace runhooks
