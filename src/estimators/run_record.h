// What lives here: what is kept of each training of a model's folder: RunRecord, while one runs, and the rows of all.
// Who may use it: estimators, the bindings.
// What it must not know: any particular model or hook, R.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "io/files/plain_fields.h"

namespace runhooks {

// The file of them in a model's folder: entries of plain data, which are only appended.
constexpr const char* kRunsName = "runhooks.runs";

// Why a run ended. `why` is one word of a few: "data" (they ended), "steps", "early_stopping",
// "hook" (one asked), "interrupt", "error"; of rows that nobody ended "killed", or "running".
// `reason` says it in other words: which hook, the text of the error.
struct RunEnd {
  std::string why, reason;
};

// What the input gave, and how long the steps have waited for it; rows below 0: not known.
struct RunInput {
  double rows = -1, seconds = 0, waited = 0;
};

// The row of a run: begun when one is made, completed by end(). Where nobody completes it the next
// reader sees that the process was killed. What cannot be written is a warning: the run goes on.
class RunRecord {
 public:
  // `about`: a named list of what is known at the beginning.
  RunRecord(const std::string& folder, int64_t from_step, PlainFields about);
  RunRecord(const RunRecord&) = delete;
  RunRecord& operator=(const RunRecord&) = delete;
  // More of it, known later.
  void add(PlainFields more);
  // `seeds`: those that were drawn for it; `log`: the last lines that were shown.
  void end(int64_t step,
           const RunInput& input,
           const RunEnd& end,
           const std::vector<double>& seeds,
           const std::vector<std::string>& log);

 private:
  void append(const char* kind, PlainFields fields) const;
  std::string path_, id_;
};

// Into the row of the last run of the folder, where there is one.
void record_evaluation(const std::string& folder,
                       const std::string& name,
                       int64_t step,
                       const std::vector<std::pair<std::string, double>>& metrics);

// The rows of a folder, in the order in which the runs began, each a named list. A file that a
// crash has damaged is read as far as it goes, with a warning.
std::vector<PlainData> run_rows(const std::string& folder);

// What the embedding language says of an error of its own, which is on its way through the core.
void note_foreign_error(const std::string& text);
std::string take_foreign_error();

}  // namespace runhooks
