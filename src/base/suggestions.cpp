#include "base/suggestions.h"

#include <algorithm>

#include "base/ascii.h"
#include "base/status.h"

namespace runhooks {

namespace {

// Returns the edit distance, counting a swap of two letters as 1; `limit + 1` if it is larger.
size_t edit_distance(const std::string& a, const std::string& b, size_t limit) {
  if (std::max(a.size(), b.size()) - std::min(a.size(), b.size()) > limit) return limit + 1;
  std::vector<size_t> row_before_last, last_row(b.size() + 1), row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) last_row[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t cost = a[i - 1] == b[j - 1] ? 0 : 1;
      row[j] = std::min({last_row[j] + 1, row[j - 1] + 1, last_row[j - 1] + cost});
      const bool is_swap = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (is_swap) row[j] = std::min(row[j], row_before_last[j - 2] + 1);
    }
    row_before_last = last_row;
    last_row = row;
  }
  return last_row[b.size()];
}

// Whether `name` is a component of `path`, as "wt" is of "linear/linear_model/wt/weights".
bool is_part_of(const std::string& name, const std::string& path) {
  return ("/" + path + "/").find("/" + name + "/") != std::string::npos;
}

}  // namespace

std::vector<std::string> closest_matches(const std::string& name,
                                         const std::vector<std::string>& candidates,
                                         size_t max_matches) {
  if (name.empty()) return {};
  const std::string target = ascii_lower(name);
  // Tolerate errors in a third of the letters, but at most three.
  const size_t limit = std::min<size_t>(3, std::max<size_t>(1, target.size() / 3));
  std::vector<std::pair<size_t, size_t>> matches;
  for (size_t i = 0; i < candidates.size(); ++i) {
    const std::string candidate = ascii_lower(candidates[i]);
    size_t cost = edit_distance(target, candidate, limit);
    if (cost > limit && is_part_of(target, candidate)) cost = limit;
    // another letter is no misspelling of a name of one letter
    const bool is_other = cost >= std::max(target.size(), candidate.size());
    if (cost <= limit && !is_other) matches.emplace_back(cost, i);
  }
  std::stable_sort(matches.begin(), matches.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<std::string> names;
  for (const auto& match : matches) {
    const std::string& candidate = candidates[match.second];
    const bool is_new = std::find(names.begin(), names.end(), candidate) == names.end();
    if (is_new && names.size() < max_matches) names.push_back(candidate);
  }
  return names;
}

std::vector<std::string> did_you_mean(const std::string& name,
                                      const std::vector<std::string>& candidates) {
  const std::vector<std::string> names = closest_matches(name, candidates);
  if (names.empty()) return {};
  std::string text = "Did you mean ";
  for (size_t i = 0; i < names.size(); ++i) {
    if (i > 0) text += i + 1 == names.size() ? " or " : ", ";
    text += "'" + names[i] + "'";
  }
  return {text + "?"};
}

}  // namespace runhooks
