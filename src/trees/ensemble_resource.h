// EnsembleResource: the trees of a session, and their saveable.
#pragma once

#include <memory>

#include "graph/graph.h"
#include "graph/saveable.h"
#include "trees/ensemble.h"

namespace runhooks {

class EnsembleResource : public StatefulResource {
 public:
  static std::unique_ptr<StatefulResource> make(const Operation&);
  const char* kind() const override { return "tree ensemble"; }
  NamedTensors save_state() const override;
  void restore_state(const NamedTensors& state) override;

  // Throws if the ensemble has not been created yet.
  TreeEnsemble& ensemble();
  const TreeEnsemble& ensemble() const;
  bool is_initialized() const { return is_initialized_; }
  void set(TreeEnsemble ensemble);
  // Returns a number that changes with each set(). Growing the trees changes only their stamp.
  uint64_t revision() const { return revision_; }
  // Throws unless the trees fit a model with these numbers of features and logits. Does not repeat
  // the check of unchanged trees.
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
  Operation* create = nullptr;  // initializes an empty ensemble
};
// Adds an ensemble and its saveable, with TensorFlow's checkpoint keys ("<name>:0_stamp", ...).
EnsembleHandle add_ensemble(Graph& graph, const std::string& name);

}  // namespace runhooks
