// summary_writer(): the event file writer of a directory, shared by all hooks.
#pragma once

#include <memory>
#include <string>

#include "graph/graph.h"
#include "io/events/event_file.h"

namespace runhooks {

// The graph that an event file must contain: any graph, or the one that the caller passes.
enum class EventFileGraph { kAny, kThis };

// Returns the open writer of the directory. If none exists, appends to the file that this process
// wrote last, as TensorFlow does. If that file has changed or does not exist, creates a file that
// begins with the graph. With kThis, the graph is also added to an existing file whose last graph
// is a different one. The file is closed when the last reference to the writer is released.
std::shared_ptr<EventFileWriter> summary_writer(const std::string& logdir,
                                                const Graph& graph,
                                                EventFileGraph graph_in_file = EventFileGraph::kAny);

}  // namespace runhooks
