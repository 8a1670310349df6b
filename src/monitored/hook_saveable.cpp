#include "monitored/hook_saveable.h"

#include <algorithm>
#include <set>

#include "base/log.h"
#include "session/run_hook.h"

namespace runhooks {

namespace {

const std::string kPrefix = "runhooks/hook_state/";
// Entry in the state of an unnamed hook: the number of hooks in its loop with the same key.
const std::string kOfSameKey = "of_same_key";

std::string prefix_of(const std::string& key) { return kPrefix + path_part(key); }

std::set<std::string> prefixes_with(const TensorSource& source, const std::string& begin) {
  std::set<std::string> prefixes;
  for (const std::string& name : source.names_with(begin)) {
    prefixes.insert(name.substr(0, name.find('/', kPrefix.size()) + 1));
  }
  return prefixes;
}

}  // namespace

HookSaveable::HookSaveable(std::string hook, std::string key, int num_before_with_key, Calls calls)
    : StateSaveable(prefix_of(key) +
                    (num_before_with_key ? str_cat("%", num_before_with_key) : std::string()) +
                    "/"),
      hook_(std::move(hook)),
      key_(std::move(key)),
      calls_(std::move(calls)) {}

void HookSaveable::set_unnamed_peers(const All& all) {
  std::vector<std::string> unnamed;
  for (const auto& one : all) {
    if (one->is_unnamed()) unnamed.push_back(one->key_);
  }
  for (const auto& one : all) one->unnamed_ = unnamed;
}

bool HookSaveable::is_unnamed() const { return key_.rfind(RunHook::kUnnamedState, 0) == 0; }

int64_t HookSaveable::num_of_same_key() const {
  return std::count(unnamed_.begin(), unnamed_.end(), key_);
}

void HookSaveable::snapshot_state() {
  NamedTensors state;
  if (calls_.save(&state)) last_ = std::move(state);
}

NamedTensors HookSaveable::save_state(ResourceManager&) {
  snapshot_state();
  NamedTensors state = last_;
  if (is_unnamed() && !state.empty()) state[kOfSameKey] = Tensor::scalar(num_of_same_key());
  return state;
}

// An unnamed hook is identified by its methods. If that is ambiguous, no hook gets the state.
void HookSaveable::check_unnamed(const TensorSource& source) const {
  for (const std::string& saved : prefixes_with(source, prefix_of(key_))) {
    const std::string count = saved + kOfSameKey;
    if (!source.find(count)) continue;
    const int64_t num_saved = state_integer({{kOfSameKey, source.read(count)}}, kOfSameKey);
    if (num_saved == num_of_same_key()) return;
    throw Error(Code::kFailedPrecondition,
                str_cat("Cannot match hook states in checkpoint ", source.path(), ": it has ",
                        num_saved, " unnamed ", num_saved == 1 ? "hook" : "hooks", " like `", hook_,
                        "`, this run has ", num_of_same_key(), "."),
                {"Name the hooks that save a state, as in `hooks = list(counter = ...)`. A hook "
                 "with a new name starts without a saved state."});
  }
  std::set<std::string> others = prefixes_with(source, prefix_of(RunHook::kUnnamedState));
  for (const std::string& key : unnamed_) {
    for (const std::string& matched : prefixes_with(source, prefix_of(key))) others.erase(matched);
  }
  // Earlier versions identified unnamed hooks by their position in the list.
  const bool has_positions = !prefixes_with(source, prefix_of(hook_) + "/").empty();
  if (others.empty() && !has_positions) return;
  warn("hook_state",
       str_cat("Checkpoint ", source.path(),
               " has the state of a different unnamed hook, so hook `", hook_,
               "` starts without a saved state. Name the hooks that save a state, as in `hooks = "
               "list(counter = ...)`."));
}

Saveable::Assign HookSaveable::read(const TensorSource& source, const ResourceManager& resources) {
  // Version 0.1 stored a serialized R object. Reading one could run arbitrary code.
  if (source.find(prefix_of(hook_))) {
    warn("hook_state",
         str_cat("The state of hook `", hook_, "` in checkpoint ", source.path(),
                 " has an old format that is no longer read because it can contain code. The hook "
                 "starts without a saved state."));
  }
  if (is_unnamed()) check_unnamed(source);
  return StateSaveable::read(source, resources);
}

Saveable::Assign HookSaveable::read_state(const NamedTensors& saved,
                                          const std::string& where,
                                          const ResourceManager&) {
  NamedTensors state = saved;
  if (is_unnamed()) state.erase(kOfSameKey);
  try {
    const auto restore = calls_.read(state);
    return [this, state, restore](ResourceManager&) {
      last_ = state;
      pending_restore_ = restore;
    };
  } catch (const Error& error) {
    if (error.foreign) throw;
    throw Error(error.code(),
                str_cat("Cannot restore the state of hook `", hook_, "` from checkpoint ", where,
                        ": ", error.message()),
                error.hints());
  }
}

void HookSaveable::restore_hook() {
  if (!pending_restore_) return;
  const auto restore = std::move(pending_restore_);
  pending_restore_ = nullptr;
  restore();
}

}  // namespace runhooks
