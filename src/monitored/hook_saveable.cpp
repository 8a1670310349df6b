#include "monitored/hook_saveable.h"

#include <algorithm>
#include <set>

#include "base/log.h"
#include "session/run_hook.h"

namespace runhooks {

namespace {

const std::string kPrefix = "runhooks/hook_state/";
// The state of an unnamed hook has an entry with this name. It counts the loop's hooks with this
// key.
const std::string kNumSameKey = "of_same_key";

std::string prefix_of(const std::string& key) { return kPrefix + escape_path_component(key); }

std::set<std::string> prefixes_with(const TensorSource& source, const std::string& begin) {
  std::set<std::string> prefixes;
  for (const std::string& name : source.names_with(begin)) {
    prefixes.insert(name.substr(0, name.find('/', kPrefix.size()) + 1));
  }
  return prefixes;
}

}  // namespace

HookSaveable::HookSaveable(std::string hook,
                           std::string key,
                           int num_earlier_with_key,
                           Callbacks callbacks)
    : StateSaveable(prefix_of(key) +
                    (num_earlier_with_key ? str_cat("%", num_earlier_with_key) : std::string()) +
                    "/"),
      hook_name_(std::move(hook)),
      key_(std::move(key)),
      callbacks_(std::move(callbacks)) {}

void HookSaveable::set_unnamed_peers(const Peers& peers) {
  std::vector<std::string> unnamed_keys;
  for (const auto& hook : peers) {
    if (hook->is_unnamed()) unnamed_keys.push_back(hook->key_);
  }
  for (const auto& hook : peers) hook->unnamed_keys_ = unnamed_keys;
}

bool HookSaveable::is_unnamed() const { return key_.rfind(RunHook::kUnnamedState, 0) == 0; }

int64_t HookSaveable::num_hooks_with_key() const {
  return std::count(unnamed_keys_.begin(), unnamed_keys_.end(), key_);
}

void HookSaveable::snapshot_state() {
  NamedTensors state;
  if (callbacks_.save(&state)) last_state_ = std::move(state);
}

NamedTensors HookSaveable::save_state(ResourceManager&) {
  snapshot_state();
  NamedTensors state = last_state_;
  if (is_unnamed() && !state.empty()) state[kNumSameKey] = Tensor::scalar(num_hooks_with_key());
  return state;
}

// The key of an unnamed hook depends on its methods only. Throws if the checkpoint and the loop
// have different numbers of hooks with this key. It is then unclear which state belongs to which
// hook. Warns if the checkpoint has a state of an unnamed hook that the loop lacks.
void HookSaveable::check_unnamed(const TensorSource& source) const {
  for (const std::string& saved : prefixes_with(source, prefix_of(key_))) {
    const std::string count = saved + kNumSameKey;
    if (!source.find(count)) continue;
    const int64_t num_saved = state_integer({{kNumSameKey, source.read(count)}}, kNumSameKey);
    if (num_saved == num_hooks_with_key()) return;
    throw Error(Code::kFailedPrecondition,
                str_cat("Cannot match hook states in checkpoint ", source.path(), ": it has ",
                        num_saved, " unnamed ", num_saved == 1 ? "hook" : "hooks", " like `",
                        hook_name_, "`, this run has ", num_hooks_with_key(), "."),
                {"Name the hooks that save a state, as in `hooks = list(counter = ...)`. A hook "
                 "with a new name starts without a saved state."});
  }
  std::set<std::string> unmatched = prefixes_with(source, prefix_of(RunHook::kUnnamedState));
  for (const std::string& key : unnamed_keys_) {
    for (const std::string& matched : prefixes_with(source, prefix_of(key)))
      unmatched.erase(matched);
  }
  // Earlier versions identified unnamed hooks by their position in the list.
  const bool has_positions = !prefixes_with(source, prefix_of(hook_name_) + "/").empty();
  if (unmatched.empty() && !has_positions) return;
  warn("hook_state",
       str_cat("Checkpoint ", source.path(),
               " has the state of a different unnamed hook, so hook `", hook_name_,
               "` starts without a saved state. Name the hooks that save a state, as in `hooks = "
               "list(counter = ...)`."));
}

Saveable::Assign HookSaveable::read(const TensorSource& source, const ResourceManager& resources) {
  // Version 0.1 stored a serialized R object. Reading one could run arbitrary code.
  if (source.find(prefix_of(hook_name_))) {
    warn("hook_state",
         str_cat("The state of hook `", hook_name_, "` in checkpoint ", source.path(),
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
  if (is_unnamed()) state.erase(kNumSameKey);
  try {
    const auto restore = callbacks_.read(state);
    return [this, state, restore](ResourceManager&) {
      last_state_ = state;
      pending_restore_ = restore;
    };
  } catch (const Error& error) {
    if (error.foreign) throw;
    throw Error(error.code(),
                str_cat("Cannot restore the state of hook `", hook_name_, "` from checkpoint ",
                        where, ": ", error.message()),
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
