// Summary_writer(): the event file writer of a directory, shared by all hooks.
#pragma once

#include <memory>
#include <string>

#include "graph/graph.h"
#include "io/events/event_file.h"

namespace runhooks {

// Returns the open writer of the directory. Otherwise appends to the file that this process wrote
// last, as TensorFlow does, unless the file has changed since. Otherwise creates a file. Adds the
// graph, which must be complete, unless it is the last one of the file. The writer is closed with
// its last reference.
std::shared_ptr<EventFileWriter> summary_writer(const std::string& logdir, const Graph& graph);

}  // namespace runhooks
