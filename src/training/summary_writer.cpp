#include "training/summary_writer.h"

#include <map>

#include "base/clock.h"
#include "base/machine.h"
#include "io/files/file_versions.h"
#include "training/graph_export.h"

namespace runhooks {

namespace {

// The newest event file of a folder that this process has written.
struct KnownFile {
  std::weak_ptr<EventFileWriter> writer;
  // set when the writer is closed
  std::string path;
  FileVersions stamps;
  int process = 0;
  uint64_t graph = 0;  // fingerprint of the graph that was last written, if it is needed
};

KnownFile& known_file(const std::string& logdir) {
  // Never destroyed, because writers may close while the process exits.
  static auto& files = *new std::map<std::string, KnownFile>;
  return files[logdir];
}

void close_writer(EventFileWriter* writer, const std::string& logdir) {
  KnownFile& known = known_file(logdir);
  known.path.clear();
  try {
    if (writer->is_open()) {
      writer->close();
      known.path = writer->path();
      known.stamps = FileVersions();
      known.stamps.add(known.path);
      known.process = process_id();
    }
  } catch (const Error&) {
    // A destructor cannot report an error; close() does.
  }
  delete writer;
}

// Continues the last file if it exists unchanged and this process, not its parent before a fork,
// has written it.
std::unique_ptr<EventFileWriter> reopened(const KnownFile& known) {
  const bool can_continue = !known.path.empty() && known.process == process_id() &&
                            file_exists(known.path) && known.stamps.unchanged();
  if (!can_continue) return nullptr;
  return EventFileWriter::behind(known.path, [] { return now_seconds(); });
}

}  // namespace

std::shared_ptr<EventFileWriter> summary_writer(const std::string& logdir,
                                                const Graph& graph,
                                                OfGraph which) {
  KnownFile& known = known_file(logdir);
  if (auto writer = known.writer.lock()) return writer;
  std::unique_ptr<EventFileWriter> made = reopened(known);
  const bool is_new = !made;
  if (is_new) made = std::make_unique<EventFileWriter>(logdir, "", [] { return now_seconds(); });
  GraphExport& exported = GraphExport::of(graph);
  const bool is_asked_for = which == OfGraph::kThis;
  const uint64_t fingerprint = is_asked_for ? exported.fingerprint() : 0;
  if (is_new || (is_asked_for && known.graph != fingerprint)) {
    made->add_graph_def(exported.graph_def());
    made->add_meta_graph(exported.meta_graph());
    known.graph = fingerprint;
  }
  const auto close = [logdir](EventFileWriter* writer) { close_writer(writer, logdir); };
  const std::shared_ptr<EventFileWriter> writer(made.release(), close);
  known.writer = writer;
  return writer;
}

}  // namespace runhooks
