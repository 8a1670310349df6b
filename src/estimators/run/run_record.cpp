#include "estimators/run/run_record.h"

#include <algorithm>
#include <cstring>

#include "base/clock.h"
#include "base/log.h"
#include "base/machine.h"
#include "estimators/run/run_folder.h"
#include "io/files/append_log.h"
#include "io/files/atomic_file.h"

namespace runhooks {

namespace {

std::string& foreign_error() {
  static auto* text = new std::string;
  return *text;
}

std::string fresh_id() {
  static int made = 0;
  return str_cat(process_id(), "-", static_cast<long long>(now_seconds() * 1e6), "-", ++made);
}

PlainData named_numbers(const std::vector<std::pair<std::string, double>>& values) {
  std::vector<std::string> names;
  std::vector<double> numbers;
  for (const auto& value : values) {
    names.push_back(value.first);
    numbers.push_back(value.second);
  }
  PlainData data = plain_numbers(numbers);
  data.attributes = {{"names", plain_strings(names)}};
  return data;
}

// --- reading: the file may contain anything, so each field is validated

struct Row {
  PlainData begun;
  std::vector<PlainData> more, evaluations;
  PlainData ended;
  std::string id;
};

bool is_named_numbers(const PlainData* data) {
  return data && data->kind == PlainData::Kind::kDouble &&
         plain_names(*data).size() == data->length();
}

// An evaluation belongs to the current or the last run.
std::vector<Row> rows_of(const std::vector<PlainData>& entries) {
  std::vector<Row> rows;
  for (const PlainData& entry : entries) {
    const std::string kind = text_field(entry, "entry", ""), id = text_field(entry, "run", "");
    if (kind == "begin") {
      rows.emplace_back();
      rows.back().id = id;
      rows.back().begun = entry;
      continue;
    }
    if (kind == "evaluation") {
      if (!rows.empty() && is_named_numbers(plain_field(entry, "metrics"))) {
        rows.back().evaluations.push_back(entry);
      }
      continue;
    }
    const auto row =
        std::find_if(rows.rbegin(), rows.rend(), [&id](const Row& one) { return one.id == id; });
    if (row == rows.rend()) continue;
    if (kind == "more") row->more.push_back(entry);
    if (kind == "end") row->ended = entry;
  }
  return rows;
}

bool is_running(const Row& row, const LockOwner& holder, bool is_held) {
  return is_held && number_field(row.begun, "process", 0) == holder.process &&
         text_field(row.begun, "host", "") == holder.host &&
         number_field(row.begun, "began", 0) >= holder.since;
}

void copy_field(PlainFields& to, const PlainData& from, const char* name, PlainData::Kind kind) {
  const PlainData* field = plain_field(from, name);
  if (field && field->kind == kind) to.add(name, *field);
}

PlainData evaluations_of(const Row& row) {
  PlainData list;
  list.kind = PlainData::Kind::kList;
  for (const PlainData& entry : row.evaluations) {
    list.items.push_back(PlainFields()
                             .add("at", number_field(entry, "at", 0))
                             .add("step", number_field(entry, "step", 0))
                             .add("name", text_field(entry, "name", ""))
                             .add("metrics", *plain_field(entry, "metrics"))
                             .take());
  }
  return list;
}

PlainData shown_row(const Row& row, const LockOwner& holder, bool is_held) {
  const double missing = -1;
  const bool is_ended = row.ended.kind == PlainData::Kind::kList;
  const bool runs = !is_ended && is_running(row, holder, is_held);
  PlainFields shown;
  shown.add("began", number_field(row.begun, "began", 0));
  shown.add("ended", number_field(row.ended, "ended", missing));
  shown.add("from", number_field(row.begun, "from", 0));
  shown.add("to", number_field(row.ended, "to", missing));
  for (const char* name : {"rows", "seconds", "waited"}) {
    shown.add(name, number_field(row.ended, name, missing));
  }
  shown.add("why", text_field(row.ended, "why", runs ? "running" : "killed"));
  shown.add("reason", text_field(row.ended, "reason",
                                 runs ? str_cat("process ", static_cast<long>(holder.process))
                                      : "the process ended without completing the run"));
  for (const char* name : {"version", "machine", "host"}) {
    shown.add(name, text_field(row.begun, name, ""));
  }
  shown.add("process", number_field(row.begun, "process", 0));
  for (const char* name : {"config", "arguments"}) {
    copy_field(shown, row.begun, name, PlainData::Kind::kList);
  }
  copy_field(shown, row.begun, "seed", PlainData::Kind::kDouble);
  copy_field(shown, row.ended, "seeds", PlainData::Kind::kDouble);
  copy_field(shown, row.ended, "log", PlainData::Kind::kCharacter);
  // All hooks of the loop if it has begun, else those passed by the caller.
  const PlainData& hooks = row.more.empty() ? row.begun : row.more.front();
  copy_field(shown, hooks, "hooks", PlainData::Kind::kCharacter);
  return shown.add("evaluations", evaluations_of(row)).take();
}

// A run adds about 1.5 kB. Only a log of more than this is read to be shortened.
constexpr uint64_t kMaxLogBytes = 200000;
constexpr size_t kMaxRuns = 50;

// Drops the records before the last kMaxRuns runs.
void shorten_log(const std::string& path) {
  if (!file_exists(path) || file_size(path) <= kMaxLogBytes) return;
  size_t damaged = 0;
  std::vector<std::string> records = read_appended_records(path, &damaged);
  std::vector<size_t> begins;
  for (size_t i = 0; i < records.size(); ++i) {
    try {
      if (text_field(read_plain_data(records[i], path), "entry", "") == "begin") begins.push_back(i);
    } catch (const Error&) {  // run_rows() reports damaged records
    }
  }
  if (begins.size() <= kMaxRuns) return;
  const size_t first = begins[begins.size() - kMaxRuns];
  records.erase(records.begin(), records.begin() + static_cast<ptrdiff_t>(first));
  write_appended_records(path, records);
}

}  // namespace

void record_foreign_error(const std::string& text) { foreign_error() = text; }

std::string take_foreign_error() {
  std::string text;
  text.swap(foreign_error());
  return text;
}

RunRecord::RunRecord(const std::string& folder, int64_t from_step, PlainFields about)
    : path_(join_path(folder, kRunsName)), id_(fresh_id()) {
  take_foreign_error();  // discards that of an earlier run
  shorten_log(path_);
  about.add("began", now_seconds())
      .add("from", static_cast<double>(from_step))
      .add("process", static_cast<double>(process_id()))
      .add("host", host_name())
      .add("machine", machine_description());
  append("begin", std::move(about));
}

void RunRecord::add(PlainFields more) { append("more", std::move(more)); }

void RunRecord::end(int64_t step,
                    const RunInput& input,
                    const RunEnd& end,
                    const std::vector<double>& seeds,
                    const std::vector<std::string>& log) {
  PlainFields fields;
  fields.add("ended", now_seconds())
      .add("to", static_cast<double>(step))
      .add("rows", input.rows)
      .add("seconds", input.seconds)
      .add("waited", input.waited)
      .add("why", end.why)
      .add("reason", end.reason)
      .add("seeds", plain_numbers(seeds))
      .add("log", plain_strings(log));
  append("end", std::move(fields));
  if (problem_.empty() || end.why == "error") return;
  warn("run_record", "Could not write the record of this run. " + problem_);
}

void RunRecord::append(const char* kind, PlainFields fields) {
  fields.add("entry", kind).add("run", id_);
  try {
    append_record_to(path_, write_plain_data(fields.take()));
  } catch (const Error& error) {
    problem_ = error.message();
  }
}

void record_evaluation(const std::string& folder,
                       const std::string& name,
                       int64_t step,
                       const std::vector<std::pair<std::string, double>>& metrics) {
  const std::string path = join_path(folder, kRunsName);
  if (!file_exists(path)) return;
  PlainFields fields;
  fields.add("entry", "evaluation")
      .add("at", now_seconds())
      .add("name", name)
      .add("step", static_cast<double>(step))
      .add("metrics", named_numbers(metrics));
  append_record_to(path, write_plain_data(fields.take()));
}

std::vector<PlainData> run_rows(const std::string& folder) {
  const std::string path = join_path(folder, kRunsName);
  size_t damaged = 0;
  std::vector<PlainData> entries;
  for (const std::string& bytes : read_appended_records(path, &damaged)) {
    try {
      entries.push_back(read_plain_data(bytes, path));
    } catch (const Error&) {
      damaged += bytes.size();
    }
  }
  if (damaged) {
    warn("data_loss", str_cat("'", path, "' is damaged: ", static_cast<unsigned long>(damaged),
                              " bytes are not readable as run records and were skipped."));
  }
  LockOwner holder;
  const bool is_held = DirectoryLock::is_held(join_path(folder, kLockName), &holder);
  std::vector<PlainData> rows;
  for (const Row& row : rows_of(entries)) rows.push_back(shown_row(row, holder, is_held));
  return rows;
}

}  // namespace runhooks
