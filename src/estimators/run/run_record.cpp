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

std::string unique_run_id() {
  static int counter = 0;
  return str_cat(process_id(), "-", static_cast<long long>(now_seconds() * 1e6), "-", ++counter);
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

// --- Reading. Validates each field, because the file may contain anything.

// The log entries of one run.
struct RunEntries {
  PlainData begin_entry;
  std::vector<PlainData> additions, evaluations;
  PlainData end_entry;
  std::string id;
};

bool is_named_numbers(const PlainData* data) {
  return data && data->kind == PlainData::Kind::kDouble &&
         plain_names(*data).size() == data->length();
}

// Groups entries by run. An evaluation belongs to the latest run that began before it.
std::vector<RunEntries> group_by_run(const std::vector<PlainData>& entries) {
  std::vector<RunEntries> runs;
  for (const PlainData& entry : entries) {
    const std::string kind = text_field(entry, "entry", ""), id = text_field(entry, "run", "");
    if (kind == "begin") {
      runs.emplace_back();
      runs.back().id = id;
      runs.back().begin_entry = entry;
      continue;
    }
    if (kind == "evaluation") {
      if (!runs.empty() && is_named_numbers(plain_field(entry, "metrics"))) {
        runs.back().evaluations.push_back(entry);
      }
      continue;
    }
    const auto run = std::find_if(runs.rbegin(), runs.rend(),
                                  [&id](const RunEntries& other) { return other.id == id; });
    if (run == runs.rend()) continue;
    if (kind == "more") run->additions.push_back(entry);
    if (kind == "end") run->end_entry = entry;
  }
  return runs;
}

bool is_running(const RunEntries& run, const LockOwner& owner, bool is_locked) {
  return is_locked && number_field(run.begin_entry, "process", 0) == owner.process &&
         text_field(run.begin_entry, "host", "") == owner.host &&
         number_field(run.begin_entry, "began", 0) >= owner.since;
}

void copy_field(PlainFields& to, const PlainData& from, const char* name, PlainData::Kind kind) {
  const PlainData* field = plain_field(from, name);
  if (field && field->kind == kind) to.add(name, *field);
}

PlainData evaluations_of(const RunEntries& run) {
  PlainData list;
  list.kind = PlainData::Kind::kList;
  for (const PlainData& entry : run.evaluations) {
    list.items.push_back(PlainFields()
                             .add("at", number_field(entry, "at", 0))
                             .add("step", number_field(entry, "step", 0))
                             .add("name", text_field(entry, "name", ""))
                             .add("metrics", *plain_field(entry, "metrics"))
                             .take());
  }
  return list;
}

PlainData run_row(const RunEntries& run, const LockOwner& owner, bool is_locked) {
  const double missing = -1;
  const bool has_ended = run.end_entry.kind == PlainData::Kind::kList;
  const bool is_active = !has_ended && is_running(run, owner, is_locked);
  PlainFields fields;
  fields.add("began", number_field(run.begin_entry, "began", 0));
  fields.add("ended", number_field(run.end_entry, "ended", missing));
  fields.add("from", number_field(run.begin_entry, "from", 0));
  fields.add("to", number_field(run.end_entry, "to", missing));
  for (const char* name : {"rows", "seconds", "waited"}) {
    fields.add(name, number_field(run.end_entry, name, missing));
  }
  fields.add("why", text_field(run.end_entry, "why", is_active ? "running" : "killed"));
  fields.add("reason", text_field(run.end_entry, "reason",
                                  is_active ? str_cat("process ", static_cast<long>(owner.process))
                                            : "the process ended without completing the run"));
  for (const char* name : {"version", "machine", "host"}) {
    fields.add(name, text_field(run.begin_entry, name, ""));
  }
  fields.add("process", number_field(run.begin_entry, "process", 0));
  for (const char* name : {"config", "arguments"}) {
    copy_field(fields, run.begin_entry, name, PlainData::Kind::kList);
  }
  copy_field(fields, run.begin_entry, "seed", PlainData::Kind::kDouble);
  copy_field(fields, run.end_entry, "seeds", PlainData::Kind::kDouble);
  copy_field(fields, run.end_entry, "log", PlainData::Kind::kCharacter);
  // All hooks of the loop if the loop has begun; otherwise the hooks that the caller passed.
  const PlainData& hooks = run.additions.empty() ? run.begin_entry : run.additions.front();
  copy_field(fields, hooks, "hooks", PlainData::Kind::kCharacter);
  return fields.add("evaluations", evaluations_of(run)).take();
}

// A log up to this size is not shortened. A run adds about 1.5 kB.
constexpr uint64_t kMaxLogBytes = 200000;
constexpr size_t kMaxRuns = 50;

// Drops all records before the last kMaxRuns runs.
void shorten_log(const std::string& path) {
  if (!file_exists(path) || file_size(path) <= kMaxLogBytes) return;
  size_t damaged = 0;
  std::vector<std::string> records = read_appended_records(path, &damaged);
  std::vector<size_t> begins;
  for (size_t i = 0; i < records.size(); ++i) {
    try {
      if (text_field(read_plain_data(records[i], path), "entry", "") == "begin")
        begins.push_back(i);
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

RunRecord::RunRecord(const std::string& folder, int64_t from_step, PlainFields fields)
    : path_(join_path(folder, kRunsName)), id_(unique_run_id()) {
  take_foreign_error();  // discards the error of an earlier run
  shorten_log(path_);
  fields.add("began", now_seconds())
      .add("from", static_cast<double>(from_step))
      .add("process", static_cast<double>(process_id()))
      .add("host", host_name())
      .add("machine", machine_description());
  append("begin", std::move(fields));
}

void RunRecord::add(PlainFields fields) { append("more", std::move(fields)); }

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
  LockOwner owner;
  const bool is_locked = DirectoryLock::is_held(join_path(folder, kLockName), &owner);
  std::vector<PlainData> rows;
  for (const RunEntries& run : group_by_run(entries))
    rows.push_back(run_row(run, owner, is_locked));
  return rows;
}

}  // namespace runhooks
