// EnsembleResource, the trees that a session keeps, and what checkpoints have of them.
#pragma once

#include <memory>

#include "graph/graph.h"
#include "graph/saveable.h"
#include "trees/ensemble.h"

namespace runhooks {

// What BoostedTreesEnsembleResourceHandleOp refers to.
class EnsembleResource : public StatefulResource {
 public:
  static std::unique_ptr<StatefulResource> make(const Operation&);
  const char* kind() const override { return "tree ensemble"; }
  NamedTensors save_state() const override;
  void restore_state(const NamedTensors& state) override;

  // Throws where it has not been created yet.
  TreeEnsemble& ensemble();
  const TreeEnsemble& ensemble() const;
  bool is_initialized() const { return is_initialized_; }
  void set(TreeEnsemble ensemble);
  // Another one whenever set() has put other trees in their place; those that change have another
  // stamp.
  uint64_t revision() const { return revision_; }
  // Throws unless the trees go with so many features and logits; looks at the trees again only
  // where they have changed.
  void check_fits(int32_t num_features, int32_t logits) const;

 private:
  TreeEnsemble ensemble_;
  bool is_initialized_ = false;
  uint64_t revision_ = 0;
  mutable int64_t checked_stamp_ = -1;
  mutable int32_t checked_features_ = 0, checked_logits_ = 0;
};

struct EnsembleHandle {
  Output handle;
  Operation* create = nullptr;  // gives it no trees
};
// Adds the trees of a model under this name, and what saves them under TensorFlow's keys:
// "<name>:0_stamp" and "<name>:0_serialized".
EnsembleHandle add_ensemble(Graph& graph, const std::string& name);

}  // namespace runhooks
