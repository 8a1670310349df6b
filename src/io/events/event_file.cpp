#include "io/events/event_file.h"

#include <chrono>
#include <cmath>
#include <cstdio>

#include "base/complexity_counter.h"
#include "base/interrupt.h"
#include "base/machine.h"
#include "base/number_text.h"
#include "io/proto/tensor_proto.h"
#include "io/proto/wire.h"

namespace runhooks {

namespace {

constexpr const char* kFileVersion = "brain.Event:2";
constexpr const char* kSourceWriter = "tensorflow.core.util.events_writer";

double system_clock_seconds() {
  using namespace std::chrono;
  return duration<double>(system_clock::now().time_since_epoch()).count();
}

std::string event_file_name(int64_t seconds, const std::string& suffix) {
  const std::string digits = format_text("%010lld", static_cast<long long>(seconds));
  return str_cat("events.out.tfevents.", digits, ".", host_name(), suffix);
}

WireWriter write_session_log(const SessionLog& log) {
  WireWriter out;
  out.add_int(1, log.status).add_bytes(2, log.checkpoint_path).add_bytes(3, log.message);
  return out;
}

SessionLog read_session_log(WireReader r) {
  SessionLog log;
  while (r.next()) {
    if (r.field() == 1) log.status = static_cast<SessionLog::Status>(r.int32());
    if (r.field() == 2) log.checkpoint_path = r.text();
    if (r.field() == 3) log.message = r.text();
  }
  return log;
}

void read_content(const WireReader& r, Event& event) {
  event.kind = static_cast<Event::Kind>(r.field());
  if (event.kind == Event::Kind::kSummary) {
    event.summary = read_summary(r.bytes(), r.where());
  } else if (event.kind == Event::Kind::kSessionLog) {
    event.session_log = read_session_log(r.message());
  } else {
    event.bytes = r.text();
  }
}

// Returns the first second from `now` on whose file name is free. Writers that start within one
// second use consecutive seconds, so an exponential search takes logarithmic time.
int64_t free_second(const std::string& logdir, const std::string& suffix, int64_t now) {
  const auto is_used = [&](int64_t second) {
    ++pass_work_count();
    return file_exists(join_path(logdir, event_file_name(second, suffix)));
  };
  if (!is_used(now)) return now;
  int64_t last_used = now, first_free = now + 1;
  for (int64_t step = 1; is_used(first_free); step *= 2) {
    last_used = first_free;
    first_free += step;
  }
  while (first_free - last_used > 1) {
    const int64_t middle = last_used + (first_free - last_used) / 2;
    (is_used(middle) ? last_used : first_free) = middle;
  }
  return first_free;
}

}  // namespace

std::optional<float> Event::scalar(const std::string& tag) const {
  for (const SummaryValue& value : summary) {
    if (value.tag == tag && value.scalar()) return *value.scalar();
  }
  return std::nullopt;
}

std::string write_event(const Event& event) {
  WireWriter out;
  out.add_double(1, event.wall_time).add_int(2, event.step);
  const int field = static_cast<int>(event.kind);
  if (event.kind == Event::Kind::kSummary) {
    out.put_bytes(field, write_summary(event.summary));
  } else if (event.kind == Event::Kind::kSessionLog) {
    out.put_message(field, write_session_log(event.session_log));
  } else if (event.kind != Event::Kind::kNone) {
    out.put_bytes(field, event.bytes);
  }
  if (!event.source_writer.empty()) {
    out.put_message(10, WireWriter().add_bytes(1, event.source_writer));
  }
  return out.take();
}

Event read_event(std::string_view bytes, std::string_view where) {
  Event event;
  for (WireReader r(bytes, where); r.next();) {
    if (r.field() == 1) {
      event.wall_time = r.float64();
    } else if (r.field() == 2) {
      event.step = r.integer();
    } else if (r.field() <= 9) {
      read_content(r, event);
    } else if (r.field() == 10) {
      for (WireReader source = r.message(); source.next();) {
        if (source.field() == 1) event.source_writer = source.text();
      }
    }
  }
  return event;
}

EventFileWriter::EventFileWriter(const std::string& logdir, const std::string& suffix, Clock clock)
    : logdir_(logdir), clock_(clock ? std::move(clock) : system_clock_seconds) {
  create_directories(logdir);
  const double now = std::floor(clock_());
  // Tries the next free second if another writer creates the file first.
  for (auto seconds = static_cast<int64_t>(now); !records_; ++seconds) {
    seconds = free_second(logdir, suffix, seconds);
    const std::string path = join_path(logdir, event_file_name(seconds, suffix));
    try {
      records_.emplace(path, Compression::kNone, RecordWriter::Mode::kNew);
    } catch (const Error& error) {
      if (error.code() != Code::kAlreadyExists) throw;
    }
  }
  Event version_event;
  version_event.wall_time = now;
  version_event.kind = Event::Kind::kFileVersion;
  version_event.bytes = kFileVersion;
  version_event.source_writer = kSourceWriter;
  add_event(std::move(version_event));
}

EventFileWriter::EventFileWriter(AppendTag, const std::string& path, Clock clock)
    : logdir_(parent_folder(path)), clock_(clock ? std::move(clock) : system_clock_seconds) {
  records_.emplace(path, Compression::kNone, RecordWriter::Mode::kAppend);
}

std::unique_ptr<EventFileWriter> EventFileWriter::append_to(const std::string& path, Clock clock) {
  return std::unique_ptr<EventFileWriter>(new EventFileWriter(AppendTag(), path, std::move(clock)));
}

void EventFileWriter::add_event(Event event) {
  if (event.wall_time == 0) event.wall_time = clock_();
  records_->write(write_event(event));
  records_->flush();
}

void EventFileWriter::add_scalars(const std::vector<std::pair<std::string, double>>& values,
                                  int64_t step) {
  Summary summary;
  for (const auto& value : values) summary.push_back(scalar_summary(value.first, value.second));
  add_summary(std::move(summary), step);
}

void EventFileWriter::add_summary(Summary summary, int64_t step) {
  for (SummaryValue& value : summary) {
    if (value.metadata && !tags_with_metadata_.insert(value.tag).second) value.metadata.reset();
  }
  Event event;
  event.step = step;
  event.kind = Event::Kind::kSummary;
  event.summary = std::move(summary);
  add_event(std::move(event));
}

void EventFileWriter::add_serialized_summary(std::string_view bytes, int64_t step) {
  add_summary(read_summary(bytes, "a serialized summary"), step);
}

void EventFileWriter::add_bytes(Event::Kind kind, std::string_view bytes, int64_t step) {
  WireWriter header;
  header.add_double(1, clock_()).add_int(2, step);
  header.put_size(static_cast<int>(kind), bytes.size());
  records_->write_parts({header.bytes(), bytes});
  records_->flush();
}

void EventFileWriter::add_graph_def(std::string_view bytes, int64_t step) {
  add_bytes(Event::Kind::kGraphDef, bytes, step);
}

void EventFileWriter::add_meta_graph(std::string_view bytes, int64_t step) {
  add_bytes(Event::Kind::kMetaGraphDef, bytes, step);
}

void EventFileWriter::add_session_log(SessionLog::Status status,
                                      const std::string& checkpoint_path,
                                      int64_t step) {
  Event event;
  event.step = step;
  event.kind = Event::Kind::kSessionLog;
  event.session_log = {status, checkpoint_path, ""};
  add_event(std::move(event));
}

void EventFileWriter::add_run_metadata(const std::string& tag,
                                       std::string_view bytes,
                                       int64_t step) {
  const WireWriter tagged_metadata = WireWriter().add_bytes(1, tag).add_bytes(2, bytes);
  add_bytes(Event::Kind::kRunMetadata, tagged_metadata.bytes(), step);
}

void EventFileWriter::flush() { records_->flush(); }
void EventFileWriter::close() { records_->close(); }

std::vector<Event> read_events(const std::string& path, bool* truncated) {
  std::vector<Event> events;
  const ExpandedBytesLimit expanded_bytes_limit;
  InterruptPoll poll;
  for (const std::string& record : read_records(path, truncated)) {
    poll();
    events.push_back(read_event(record, path));
  }
  return events;
}

std::vector<std::string> list_event_files(const std::string& logdir) {
  std::vector<std::string> paths;
  if (!is_directory(logdir)) return paths;
  for (const std::string& name : list_directory(logdir)) {
    if (name.find("tfevents") != std::string::npos) paths.push_back(join_path(logdir, name));
  }
  return paths;
}

}  // namespace runhooks
