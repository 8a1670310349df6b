#include "training/summary_writer.h"

#include <map>

#include "base/clock.h"

namespace runhooks {

std::shared_ptr<EventFileWriter> summary_writer(const std::string& logdir, const Graph& graph) {
  GraphExport exported;
  return summary_writer(logdir, graph, exported);
}

std::shared_ptr<EventFileWriter> summary_writer(const std::string& logdir,
                                                const Graph& graph,
                                                GraphExport& exported) {
  static std::map<std::string, std::weak_ptr<EventFileWriter>> writers;
  std::weak_ptr<EventFileWriter>& known = writers[logdir];
  std::shared_ptr<EventFileWriter> writer = known.lock();
  if (!writer) {
    writer = std::make_shared<EventFileWriter>(logdir, "", [] { return now_seconds(); });
    writer->add_graph_def(exported.graph_def(graph));
    writer->add_meta_graph(exported.meta_graph(graph));
    known = writer;
  }
  return writer;
}

}  // namespace runhooks
