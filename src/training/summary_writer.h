// The event file of a folder, shared by all hooks that write to it.
#pragma once

#include <memory>
#include <string>

#include "graph/graph.h"
#include "io/events/event_file.h"

namespace runhooks {

// The writer of this folder: the open one; or one that goes on in the file that this process has
// written there last, as TensorFlow's do, if that is as it was left; or a new one, whose file begins
// with the graph. It is closed when the last who holds it lets go. kThis: one that goes on has to
// have this graph, too.
enum class OfGraph { kAny, kThis };
std::shared_ptr<EventFileWriter> summary_writer(const std::string& logdir,
                                                const Graph& graph,
                                                OfGraph which = OfGraph::kAny);

}  // namespace runhooks
