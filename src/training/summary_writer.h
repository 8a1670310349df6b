// Summary_writer(): the event file writer of a directory, shared by all hooks.
#pragma once

#include <memory>
#include <string>

#include "graph/graph.h"
#include "io/events/event_file.h"

namespace runhooks {

// Returns the open writer of the directory. Otherwise appends to the file that this process wrote
// last, as TensorFlow does, unless the file has changed since. Otherwise creates a file that begins
// with the graph. The writer is closed with its last reference. With kThis, the graph is also added
// to an existing file that does not end with it.
enum class OfGraph { kAny, kThis };
std::shared_ptr<EventFileWriter> summary_writer(const std::string& logdir,
                                                const Graph& graph,
                                                OfGraph which = OfGraph::kAny);

}  // namespace runhooks
