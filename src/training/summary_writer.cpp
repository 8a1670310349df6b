#include "training/summary_writer.h"

#include <map>

#include "base/clock.h"
#include "training/graph_export.h"

namespace runhooks {

std::shared_ptr<EventFileWriter> summary_writer(const std::string& logdir, const Graph& graph) {
  static std::map<std::string, std::weak_ptr<EventFileWriter>> writers;
  std::weak_ptr<EventFileWriter>& known = writers[logdir];
  std::shared_ptr<EventFileWriter> writer = known.lock();
  if (!writer) {
    writer = std::make_shared<EventFileWriter>(logdir, "", [] { return now_seconds(); });
    GraphExport exported;
    writer->add_graph_def(exported.graph_def(graph));
    writer->add_meta_graph(exported.meta_graph(graph));
    known = writer;
  }
  return writer;
}

}  // namespace runhooks
