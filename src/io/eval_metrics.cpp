#include "io/eval_metrics.h"

#include "io/event_file.h"
#include "base/log.h"

namespace runhooks {

namespace {

void read_file(const std::string& path, EvalMetrics& metrics) {
  RecordReader reader(path);
  std::string record;
  // A file that ends inside a record is one that is being written.
  while (reader.read(record) == RecordReader::Result::kRecord) {
    const Event event = read_event(record, path);
    for (const SummaryValue& value : event.summary) {
      if (value.scalar()) metrics[event.step][value.tag] = *value.scalar();
    }
  }
}

}  // namespace

EvalMetrics read_eval_metrics(const std::string& eval_dir) {
  EvalMetrics metrics;
  for (const std::string& path : list_event_files(eval_dir)) {
    try {
      read_file(path, metrics);
    } catch (const Error& error) {
      if (error.code() != Code::kDataLoss) throw;
      log(LogLevel::kWarn, str_cat("Skipping rest of the file due to encountering data corruption "
                                   "error; file path: ",
                                   path, "; original error: ", error.message()));
    }
  }
  return metrics;
}

}  // namespace runhooks
