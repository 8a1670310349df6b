#include "io/events/recorded_evaluations.h"

#include <atomic>

#include "base/log.h"
#include "io/events/event_file.h"

namespace runhooks {

namespace {

std::atomic<uint64_t> num_evaluations{0};

}  // namespace

void count_evaluation() { ++num_evaluations; }
uint64_t evaluation_count() { return num_evaluations; }

void EvalMetricsReader::read_new(const std::string& path, File& file) {
  RecordReader reader(path);
  if (file.offset > 0) reader.seek(file.offset);
  std::string record;
  // Stops at a truncated record: another process is still writing it, so the next call reads it.
  while (reader.read(record) == RecordReader::Result::kRecord) {
    const Event event = read_event(record, path);
    for (const SummaryValue& value : event.summary) {
      if (value.scalar()) file.metrics[event.step][value.tag] = *value.scalar();
    }
    bytes_read_ += reader.offset() - file.offset;
    file.offset = reader.offset();
  }
}

bool EvalMetricsReader::update(const std::string& path, File& file) {
  const uint64_t size = file_size(path);
  const double time = modification_time(path);
  if (size == file.size && time == file.time) return false;
  // Event files only grow. A file that became shorter was replaced, so it is read from the start.
  if (size < file.offset) file = File();
  file.size = size;
  file.time = time;
  if (file.is_damaged) return false;
  try {
    read_new(path, file);
  } catch (const Error& error) {
    if (error.code() != Code::kDataLoss) throw;
    file.is_damaged = true;
    warn("data_loss", str_cat("Skipping rest of the file due to encountering data corruption "
                              "error; file path: ",
                              path, "; original error: ", error.message()));
  }
  return true;
}

const EvalMetrics& EvalMetricsReader::read() {
  const std::vector<std::string> paths = list_event_files(eval_dir_);
  bool changed = paths.size() != files_.size();
  for (const std::string& path : paths) changed = update(path, files_[path]) || changed;
  if (!changed) return metrics_;
  metrics_.clear();
  std::map<std::string, File> current_files;
  for (const std::string& path : paths) {
    File& file = files_[path];
    for (const auto& step : file.metrics) {
      for (const auto& metric : step.second) metrics_[step.first][metric.first] = metric.second;
    }
    current_files[path] = std::move(file);
  }
  files_ = std::move(current_files);
  return metrics_;
}

void EvalMetricsReader::skip_existing() {
  read();
  for (auto& entry : files_) entry.second.metrics.clear();
  metrics_.clear();
}

EvalMetrics read_eval_metrics(const std::string& eval_dir) {
  return EvalMetricsReader(eval_dir).read();
}

}  // namespace runhooks
