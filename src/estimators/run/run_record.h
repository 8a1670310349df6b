// RunRecord: the log of trainings in a model directory, one row per run.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "io/files/plain_fields.h"

namespace runhooks {

// The log file. Entries of plain data are only appended.
constexpr const char* kRunsName = "runhooks.runs";

// Why a run ended. `why`: "data" (the input ended), "steps", "early_stopping", "hook" (a hook
// stopped it), "interrupt" or "error"; for runs without an end entry, "killed" or "running".
// `reason` adds details, such as the hook or the error message.
struct RunEnd {
  std::string why, reason;
};

// How a run read its input: number of rows (-1 if unknown), duration of the loop in seconds, and
// the seconds in which it waited for input.
struct RunInput {
  double rows = -1, seconds = 0, waited = 0;
};

// The entry of one run. The constructor begins it and end() completes it; an entry that is never
// completed means that the process was killed. Write errors do not stop the run: end() warns of
// them, unless the run has failed anyway.
class RunRecord {
 public:
  RunRecord(const std::string& folder, int64_t from_step, PlainFields fields);
  RunRecord(const RunRecord&) = delete;
  RunRecord& operator=(const RunRecord&) = delete;
  void add(PlainFields fields);
  void end(int64_t step,
           const RunInput& input,
           const RunEnd& end,
           const std::vector<double>& seeds,
           const std::vector<std::string>& log);

 private:
  void append(const char* kind, PlainFields fields);
  std::string path_, id_, problem_;
};

// Adds an evaluation to the last run of the directory, if there is one.
void record_evaluation(const std::string& folder,
                       const std::string& name,
                       int64_t step,
                       const std::vector<std::pair<std::string, double>>& metrics);

// Returns the runs of a directory in the order of their start, each as a named list. Skips damaged
// parts of the file with a warning.
std::vector<PlainData> run_rows(const std::string& folder);

// Stores the message of an R error that is leaving the core, for the `reason` of RunEnd.
void record_foreign_error(const std::string& text);
// Returns and clears the stored message.
std::string take_foreign_error();

}  // namespace runhooks
