// Scaffold: the initializers, saver and summaries of a graph.
#pragma once

#include <functional>
#include <memory>

#include "session/session.h"
#include "training/saver.h"

namespace runhooks {

// tf.train.Scaffold. Members that are not set are set by finalize().
struct Scaffold {
  Operation* init_op = nullptr;
  Feeds init_feeds;
  // Called after init_op, unless a checkpoint was restored.
  std::function<void(Session&)> init_fn;
  Operation* local_init_op = nullptr;
  Feeds local_init_feeds;
  Output summary_op;
  std::shared_ptr<Saver> saver;

  // Sets missing members from the graph's collections or by creating operations. Then finalizes the
  // graph.
  void finalize(Graph& graph);

 private:
  bool finalized_ = false;
};

}  // namespace runhooks
