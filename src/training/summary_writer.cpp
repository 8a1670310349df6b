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
  // Set when the writer is closed.
  std::string path;
  FileVersions versions;
  int process = 0;
  uint64_t graph = 0;  // fingerprint of the last graph in the file; 0 if none
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
    // This runs in a deleter, which cannot report errors.
  }
  delete writer;
}

// Reopens the last file, or returns NULL if it has changed or was written before a fork.
std::unique_ptr<EventFileWriter> reopen_last(const LastEventFile& last) {
  const bool can_continue = !last.path.empty() && last.process == process_id() &&
                            file_exists(last.path) && last.versions.unchanged();
  if (!can_continue) return nullptr;
  return EventFileWriter::append_to(last.path, [] { return now_seconds(); });
}

}  // namespace

std::shared_ptr<EventFileWriter> summary_writer(const std::string& logdir, const Graph& graph) {
  LastEventFile& last = last_event_file(logdir);
  std::shared_ptr<EventFileWriter> writer = last.writer.lock();
  if (!writer) {
    std::unique_ptr<EventFileWriter> made = reopen_last(last);
    if (!made) {
      made = std::make_unique<EventFileWriter>(logdir, "", [] { return now_seconds(); });
      last.graph = 0;
    }
    writer.reset(made.release(),
                 [logdir](EventFileWriter* closed) { close_writer(closed, logdir); });
    last.writer = writer;
  }
  GraphExport& exported = GraphExport::of(graph);
  if (last.graph != exported.fingerprint()) {
    writer->add_graph_def(exported.graph_def());
    writer->add_meta_graph(exported.meta_graph());
    last.graph = exported.fingerprint();
  }
  return writer;
}

}  // namespace runhooks
