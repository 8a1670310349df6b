// WarmStart: initial variable values from the checkpoint of another model.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "estimators/models/vocab_remap.h"
#include "graph/args.h"
#include "training/scaffold.h"

namespace runhooks {

class WarmStart {
 public:
  explicit WarmStart(const Args& args);
  // Reads the selected variables of the graph and lets the scaffold assign them after
  // initialization. Sessions restored from a checkpoint are not affected.
  void apply(const Graph& graph, Scaffold& scaffold) const;

 private:
  std::vector<SaveablePtr> select_from(const Graph& graph) const;
  Saveable::Assign read(const TensorSource& checkpoint, Saveable& saveable) const;

  std::string checkpoint_;
  std::vector<std::string> patterns_;
  bool only_trainable_;
  std::map<std::string, std::string> previous_names_;
  std::map<std::string, VocabInfo> vocabularies_;
};

}  // namespace runhooks
