#include "monitored/run_requests.h"

#include <algorithm>
#include <map>

#include "base/complexity_counter.h"
#include "graph/output_set.h"

namespace runhooks {

namespace {

constexpr size_t kMaxMergedRuns = 8;

// A tensor that both feed, or an invalid Output.
Output fed_by_both(const RunArgs& a, const RunArgs& b) {
  if (a.feeds.empty() || b.feeds.empty()) return Output();
  OutputSet others;
  for (const auto& feed : b.feeds) others.insert(feed.first);
  for (const auto& feed : a.feeds) {
    if (others.count(feed.first) > 0) return feed.first;
  }
  return Output();
}

}  // namespace

void RunRequests::add(const RunArgs* args) {
  requests_.push_back(args);
  if (args && !args->feeds.empty()) check_feeds_of_last();
}

void RunRequests::check_feeds_of_last() const {
  const size_t last = requests_.size() - 1;
  for (size_t i = 0; i < last; ++i) {
    const Output both = requests_[i] ? fed_by_both(*requests_[last], *requests_[i]) : Output();
    if (!both) continue;
    fail(Code::kFailedPrecondition, "Same tensor is fed by two hooks. Conflicting feed: '",
         both.name(), "' by hooks `", hooks_[i]->name(), "` and `", hooks_[last]->name(), "`.");
  }
}

void RunRequests::check_feeds_of(const RunArgs& caller) const {
  for (size_t i = 0; i < requests_.size(); ++i) {
    const Output both = requests_[i] ? fed_by_both(caller, *requests_[i]) : Output();
    if (!both) continue;
    fail(Code::kFailedPrecondition,
         "Same tensor is fed by a SessionRunHook and user. Conflicting feed: '", both.name(),
         "' by hook `", hooks_[i]->name(), "` and by the caller.");
  }
}

const MergedRun& RunRequests::merge(Session& session, const RunArgs& caller) {
  if (!caller.feeds.empty()) check_feeds_of(caller);
  auto found = merged_.begin();
  while (found != merged_.end() && !matches(**found, caller)) ++found;
  if (found == merged_.end()) {
    if (merged_.size() == kMaxMergedRuns) merged_.pop_back();
    merged_.push_back(std::make_unique<MergedRun>(make(session, caller)));
    found = merged_.end() - 1;
  }
  std::rotate(merged_.begin(), found, found + 1);
  collect_feeds(*merged_.front(), caller);
  return *merged_.front();
}

bool RunRequests::matches(const MergedRun& merged, const RunArgs& caller) const {
  if (!merged.caller.matches(&caller)) return false;
  for (size_t i = 0; i < requests_.size(); ++i) {
    if (!merged.hooks[i].matches(requests_[i])) return false;
  }
  return true;
}

MergedRun RunRequests::make(Session& session, const RunArgs& caller) const {
  std::vector<Fetch> fetches;
  std::map<std::pair<const Operation*, int>, size_t> positions;  // first occurrence in `fetches`
  std::vector<Output> feeds;
  const auto add_request = [&](const RunArgs* args, bool shares) {
    MergedRun::Request request;
    request.args = args;
    if (!args) return request;
    request.revision = args->revision;
    for (const Fetch& fetch : args->fetches) {
      ++pass_work_count();
      const auto added = positions.emplace(std::make_pair(fetch.op, fetch.index), fetches.size());
      const bool is_fetched = shares && !added.second;
      request.results.push_back(is_fetched ? added.first->second : fetches.size());
      if (!is_fetched) fetches.push_back(fetch);
    }
    for (const auto& feed : args->feeds) feeds.push_back(feed.first);
    return request;
  };
  MergedRun merged;
  merged.caller = add_request(&caller, false);
  merged.options = caller.options;
  for (const RunArgs* args : requests_) {
    merged.hooks.push_back(add_request(args, true));
    if (args) merged.options.merge(args->options);
  }
  merged.executor = session.executor(fetches, feeds);
  return merged;
}

void RunRequests::collect_feeds(MergedRun& merged, const RunArgs& caller) const {
  std::vector<Tensor>& values = merged.feed_values;
  values.clear();
  for (const auto& feed : caller.feeds) values.push_back(feed.second);
  for (const RunArgs* args : requests_) {
    if (!args) continue;
    for (const auto& feed : args->feeds) values.push_back(feed.second);
  }
}

}  // namespace runhooks
