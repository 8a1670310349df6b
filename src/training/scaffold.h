// Scaffold, what a session is made ready with: initializers, saver, summaries.
#pragma once

#include <functional>
#include <memory>

#include "session/session.h"
#include "training/saver.h"

namespace runhooks {

// tf.train.Scaffold. What is not given is made by finalize().
struct Scaffold {
  Operation* init_op = nullptr;
  Feeds init_feeds;
  // Called after the init op, where no checkpoint was restored.
  std::function<void(Session&)> init_fn;
  Operation* local_init_op = nullptr;
  Feeds local_init_feeds;
  Output summary_op;
  std::shared_ptr<Saver> saver;

  // Takes what is missing from the graph's collections or adds it to the graph, and finalizes the
  // graph. Does nothing the second time.
  void finalize(Graph& graph);

 private:
  bool finalized_ = false;
};

}  // namespace runhooks
