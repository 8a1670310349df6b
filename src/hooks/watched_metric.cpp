#include "hooks/watched_metric.h"

#include <cmath>

#include "base/status.h"
#include "base/suggestions.h"
#include "io/events/event_file.h"
#include "io/files/atomic_file.h"

namespace runhooks {

void WatchedMetric::begin(bool skip_existing) {
  was_found_ = false;
  num_evaluations_ = evaluation_count();
  metrics_ = EvalMetricsReader(eval_dir_);
  if (skip_existing) metrics_.skip_existing();
  initial_sizes_ = sizes_in_other_folders();
}

std::vector<std::string> WatchedMetric::folders_with_new_evaluations() {
  std::vector<std::string> folders;
  if (!metrics_.read().empty()) return folders;
  for (const auto& file : sizes_in_other_folders()) {
    const auto initial = initial_sizes_.find(file.first);
    if (initial != initial_sizes_.end() && initial->second == file.second) continue;
    const std::string folder = parent_folder(file.first);
    if (folders.empty() || folders.back() != folder) folders.push_back(folder);
  }
  return folders;
}

WatchedMetric::FileSizes WatchedMetric::sizes_in_other_folders() const {
  FileSizes sizes;
  const std::string parent = parent_folder(strip_trailing_separators(eval_dir_));
  if (!is_directory(parent)) return sizes;
  for (const std::string& name : list_names_with_prefix(parent, "eval")) {
    const std::string folder = join_path(parent, name);
    if (folder == eval_dir_ || !is_directory(folder)) continue;
    for (const std::string& path : list_event_files(folder)) sizes[path] = file_size(path);
  }
  return sizes;
}

bool WatchedMetric::has_new_evaluations() {
  const uint64_t count = evaluation_count();
  const bool has_new = count != num_evaluations_;
  num_evaluations_ = count;
  return has_new;
}

std::vector<WatchedMetric::Evaluation> WatchedMetric::read(double from_step) {
  std::vector<Evaluation> evaluations;
  for (const auto& evaluation : metrics_.read()) {
    const bool is_missing = !was_found_ && !evaluation.second.count(name_);
    if (is_missing && evaluation.second.count(fallback_)) use_fallback();
    if (evaluation.second.count(name_)) was_found_ = true;
    if (static_cast<double>(evaluation.first) < from_step) continue;
    evaluations.push_back({evaluation.first, value_in(evaluation.second, evaluation.first)});
  }
  return evaluations;
}

double WatchedMetric::value_in(const std::map<std::string, double>& metrics, int64_t step) const {
  const auto found = metrics.find(name_);
  if (found != metrics.end()) return found->second;
  std::vector<std::string> names;
  for (const auto& metric : metrics) names.push_back(metric.first);
  std::vector<std::string> hints = did_you_mean(name_, names);
  hints.push_back(str_cat("Its metrics are: ", str_join(names, ", "), "."));
  throw Error(Code::kNotFound,
              str_cat("There is no metric '", name_, "' in the evaluation at step ", step, "."),
              hints);
}

bool is_better_metric(double value, double reference, bool higher_is_better) {
  return std::isnan(reference) || (higher_is_better ? value > reference : value < reference);
}

}  // namespace runhooks
