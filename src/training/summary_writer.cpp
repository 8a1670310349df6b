#include "training/summary_writer.h"

#include <map>

#include "base/clock.h"
#include "base/machine.h"
#include "io/files/file_versions.h"
#include "training/graph_export.h"

namespace runhooks {

namespace {

// The last event file that this process has written in a directory.
struct LastEventFile {
  std::weak_ptr<EventFileWriter> writer;
  // The following members are set when the writer is closed.
  std::string path;
  FileVersions versions;
  int process = 0;
  uint64_t graph = 0;  // fingerprint of the last graph in the file; 0 if not computed
};

LastEventFile& last_event_file(const std::string& logdir) {
  // Never destroyed, because writers may be closed during process exit.
  static auto& files = *new std::map<std::string, LastEventFile>;
  return files[logdir];
}

void close_writer(EventFileWriter* writer, const std::string& logdir) {
  LastEventFile& last = last_event_file(logdir);
  last.path.clear();
  try {
    if (writer->is_open()) {
      writer->close();
      last.path = writer->path();
      last.versions = FileVersions();
      last.versions.add(last.path);
      last.process = process_id();
    }
  } catch (const Error&) {
    // The deleter of a shared pointer calls this function, and must not throw.
  }
  delete writer;
}

// Reopens the last file, or returns NULL if it has changed or was written before a fork.
std::unique_ptr<EventFileWriter> reopen_last(const LastEventFile& last) {
  const bool can_append = !last.path.empty() && last.process == process_id() &&
                          file_exists(last.path) && last.versions.unchanged();
  if (!can_append) return nullptr;
  return EventFileWriter::append_to(last.path, [] { return now_seconds(); });
}

}  // namespace

std::shared_ptr<EventFileWriter> summary_writer(const std::string& logdir,
                                                const Graph& graph,
                                                EventFileGraph graph_in_file) {
  LastEventFile& last = last_event_file(logdir);
  if (auto writer = last.writer.lock()) return writer;
  std::unique_ptr<EventFileWriter> opened = reopen_last(last);
  const bool is_new = !opened;
  if (is_new) opened = std::make_unique<EventFileWriter>(logdir, "", [] { return now_seconds(); });
  GraphExport& exported = GraphExport::of(graph);
  const bool needs_this_graph = graph_in_file == EventFileGraph::kThis;
  const uint64_t fingerprint = needs_this_graph ? exported.fingerprint() : 0;
  if (is_new || (needs_this_graph && last.graph != fingerprint)) {
    opened->add_graph_def(exported.graph_def());
    opened->add_meta_graph(exported.meta_graph());
    last.graph = fingerprint;
  }
  const auto close = [logdir](EventFileWriter* writer) { close_writer(writer, logdir); };
  const std::shared_ptr<EventFileWriter> writer(opened.release(), close);
  last.writer = writer;
  return writer;
}

}  // namespace runhooks
