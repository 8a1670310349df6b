#include "base/suggestions.h"

#include <algorithm>

#include "base/ascii.h"
#include "base/status.h"

namespace runhooks {

namespace {

// Edit distance with transpositions; `limit + 1` if it exceeds `limit`.
size_t distance(const std::string& a, const std::string& b, size_t limit) {
  if (std::max(a.size(), b.size()) - std::min(a.size(), b.size()) > limit) return limit + 1;
  std::vector<size_t> before, last(b.size() + 1), now(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) last[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    now[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t cost = a[i - 1] == b[j - 1] ? 0 : 1;
      now[j] = std::min({last[j] + 1, now[j - 1] + 1, last[j - 1] + cost});
      const bool is_swap = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (is_swap) now[j] = std::min(now[j], before[j - 2] + 1);
    }
    before = last;
    last = now;
  }
  return last[b.size()];
}

// Whether `name` is a component of `path`, as "wt" is of "linear/linear_model/wt/weights".
bool is_part_of(const std::string& name, const std::string& path) {
  return ("/" + path + "/").find("/" + name + "/") != std::string::npos;
}

}  // namespace

std::vector<std::string> closest_matches(const std::string& name,
                                         const std::vector<std::string>& known,
                                         size_t most) {
  if (name.empty()) return {};
  const std::string wanted = ascii_lower(name);
  // Tolerate errors in a third of the letters, but at most three.
  const size_t limit = std::min<size_t>(3, std::max<size_t>(1, wanted.size() / 3));
  std::vector<std::pair<size_t, size_t>> found;
  for (size_t i = 0; i < known.size(); ++i) {
    const std::string candidate = ascii_lower(known[i]);
    size_t far = distance(wanted, candidate, limit);
    if (far > limit && is_part_of(wanted, candidate)) far = limit;
    // another letter is no misspelling of a name of one letter
    const bool is_other = far >= std::max(wanted.size(), candidate.size());
    if (far <= limit && !is_other) found.emplace_back(far, i);
  }
  std::stable_sort(found.begin(), found.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<std::string> names;
  for (const auto& one : found) {
    const std::string& candidate = known[one.second];
    const bool is_new = std::find(names.begin(), names.end(), candidate) == names.end();
    if (is_new && names.size() < most) names.push_back(candidate);
  }
  return names;
}

std::vector<std::string> did_you_mean(const std::string& name,
                                      const std::vector<std::string>& known) {
  const std::vector<std::string> near = closest_matches(name, known);
  if (near.empty()) return {};
  std::string text = "Did you mean ";
  for (size_t i = 0; i < near.size(); ++i) {
    if (i > 0) text += i + 1 == near.size() ? " or " : ", ";
    text += "'" + near[i] + "'";
  }
  return {text + "?"};
}

}  // namespace runhooks
