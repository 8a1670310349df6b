#include "training/summary_writer.h"

#include <map>

#include "base/clock.h"
#include "base/machine.h"
#include "io/files/file_versions.h"
#include "training/graph_export.h"

namespace runhooks {

namespace {

// The last event file that this process has written in a directory.
struct KnownFile {
  std::weak_ptr<EventFileWriter> writer;
  // Set when the writer is closed.
  std::string path;
  FileVersions stamps;
  int process = 0;
  uint64_t graph = 0;  // fingerprint of the last graph in the file; 0 if not computed
};

KnownFile& known_file(const std::string& logdir) {
  // Never destroyed, because writers may be closed during process exit.
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
    // This runs in a deleter, which cannot report errors.
  }
  delete writer;
}

// Reopens the last file, or returns NULL if it has changed or was written before a fork.
std::unique_ptr<EventFileWriter> reopened(const KnownFile& known) {
  const bool is_there =
      !known.path.empty() && known.process == process_id() && known.stamps.unchanged();
  if (!is_there) return nullptr;
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
