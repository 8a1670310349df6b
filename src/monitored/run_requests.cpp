#include "monitored/run_requests.h"

#include <algorithm>
#include <map>

#include "base/complexity_counter.h"
#include "graph/output_set.h"

namespace runhooks {

namespace {

constexpr size_t kMaxCachedRuns = 8;

// Returns a tensor that both requests feed, or an invalid Output.
Output common_feed(const RunArgs& a, const RunArgs& b) {
  if (a.feeds.empty() || b.feeds.empty()) return Output();
  OutputSet other_feeds;
  for (const auto& feed : b.feeds) other_feeds.insert(feed.first);
  for (const auto& feed : a.feeds) {
    if (other_feeds.count(feed.first) > 0) return feed.first;
  }
  return Output();
}

}  // namespace

void RunRequests::add(const RunArgs* args) {
  requests_.push_back(args);
  if (args && !args->feeds.empty()) check_last_hook_feeds();
}

void RunRequests::check_last_hook_feeds() const {
  const size_t last_hook = requests_.size() - 1;
  for (size_t i = 0; i < last_hook; ++i) {
    const Output conflict =
        requests_[i] ? common_feed(*requests_[last_hook], *requests_[i]) : Output();
    if (!conflict) continue;
    fail(Code::kFailedPrecondition, "Same tensor is fed by two hooks. Conflicting feed: '",
         conflict.name(), "' by hooks `", hooks_[i]->name(), "` and `", hooks_[last_hook]->name(),
         "`.");
  }
}

void RunRequests::check_caller_feeds(const RunArgs& caller) const {
  for (size_t i = 0; i < requests_.size(); ++i) {
    const Output conflict = requests_[i] ? common_feed(caller, *requests_[i]) : Output();
    if (!conflict) continue;
    fail(Code::kFailedPrecondition,
         "Same tensor is fed by a SessionRunHook and user. Conflicting feed: '", conflict.name(),
         "' by hook `", hooks_[i]->name(), "` and by the caller.");
  }
}

const MergedRun& RunRequests::merge(Session& session, const RunArgs& caller) {
  if (!caller.feeds.empty()) check_caller_feeds(caller);
  auto cached = cached_runs_.begin();
  while (cached != cached_runs_.end() && !matches(**cached, caller)) ++cached;
  if (cached == cached_runs_.end()) {
    if (cached_runs_.size() == kMaxCachedRuns) cached_runs_.pop_back();
    cached_runs_.push_back(std::make_unique<MergedRun>(merge_requests(session, caller)));
    cached = cached_runs_.end() - 1;
  }
  std::rotate(cached_runs_.begin(), cached, cached + 1);
  collect_feeds(*cached_runs_.front(), caller);
  return *cached_runs_.front();
}

bool RunRequests::matches(const MergedRun& merged, const RunArgs& caller) const {
  if (!merged.caller.matches(&caller)) return false;
  for (size_t i = 0; i < requests_.size(); ++i) {
    if (!merged.hooks[i].matches(requests_[i])) return false;
  }
  return true;
}

MergedRun RunRequests::merge_requests(Session& session, const RunArgs& caller) const {
  std::vector<Fetch> fetches;
  std::map<std::pair<const Operation*, int>, size_t> positions;  // first occurrence in `fetches`
  std::vector<Output> feeds;
  const auto add_request = [&](const RunArgs* args, bool may_share) {
    MergedRun::Request request;
    request.args = args;
    if (!args) return request;
    request.revision = args->revision;
    for (const Fetch& fetch : args->fetches) {
      ++pass_work_count();
      const auto position =
          positions.emplace(std::make_pair(fetch.op, fetch.index), fetches.size());
      const bool is_shared = may_share && !position.second;
      request.results.push_back(is_shared ? position.first->second : fetches.size());
      if (!is_shared) fetches.push_back(fetch);
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
