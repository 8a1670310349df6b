// Reads and writes event files, which TensorBoard displays.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "io/events/summary.h"
#include "io/files/record.h"

namespace runhooks {

struct SessionLog {
  enum Status : int { kUnspecified = 0, kStart = 1, kStop = 2, kCheckpoint = 3 };
  Status status = kUnspecified;
  std::string checkpoint_path, message;
};

struct Event {
  enum class Kind {
    kNone = 0,
    kFileVersion = 3,
    kGraphDef = 4,
    kSummary = 5,
    kLogMessage = 6,
    kSessionLog = 7,
    kRunMetadata = 8,
    kMetaGraphDef = 9,
  };
  double wall_time = 0;
  int64_t step = 0;
  Kind kind = Kind::kNone;
  Summary summary;
  SessionLog session_log;
  // Content of the kinds other than a summary, such as the version or a serialized graph.
  std::string bytes;
  std::string source_writer;

  std::optional<float> scalar(const std::string& tag) const;
};

std::string write_event(const Event& event);
Event read_event(std::string_view bytes, std::string_view where);

// Writes LOGDIR/events.out.tfevents.<seconds>.<host><suffix>. The constructor creates the file and
// writes its first record. Each call passes its event to the system, so a killed process loses
// none.
class EventFileWriter {
 public:
  using Clock = std::function<double()>;  // seconds since 1970

  explicit EventFileWriter(const std::string& logdir,
                           const std::string& suffix = "",
                           Clock clock = {});
  // Appends to a file that a writer of this process has closed.
  static std::unique_ptr<EventFileWriter> append_to(const std::string& path, Clock clock = {});

  const std::string& logdir() const { return logdir_; }
  const std::string& path() const { return records_->path(); }

  void add_scalars(const std::vector<std::pair<std::string, double>>& values, int64_t step);
  // Writes the values of a step. The metadata of a tag are written only the first time.
  void add_summary(Summary summary, int64_t step);
  void add_serialized_summary(std::string_view bytes, int64_t step);
  void add_graph_def(std::string_view bytes, int64_t step = 0);
  void add_meta_graph(std::string_view bytes, int64_t step = 0);
  void add_session_log(SessionLog::Status status,
                       const std::string& checkpoint_path = "",
                       int64_t step = 0);
  void add_run_metadata(const std::string& tag, std::string_view bytes, int64_t step);
  void add_event(Event event);

  void flush();
  void close();
  bool is_open() const { return records_->is_open(); }

 private:
  struct AppendTag {};
  EventFileWriter(AppendTag, const std::string& path, Clock clock);
  void add_bytes(Event::Kind kind, std::string_view bytes, int64_t step);

  std::string logdir_;
  Clock clock_;
  std::set<std::string> tags_with_metadata_;
  std::optional<RecordWriter> records_;
};

// Returns all events of a file. Drops a truncated last event and sets `*truncated`. Throws
// kDataLoss for a damaged event.
std::vector<Event> read_events(const std::string& path, bool* truncated = nullptr);

// Returns the event files of a directory, sorted by name; empty if the directory does not exist.
std::vector<std::string> list_event_files(const std::string& logdir);

}  // namespace runhooks
