#include "monitored/hook_saveable.h"

#include <algorithm>
#include <set>

#include "base/log.h"
#include "session/run_hook.h"

namespace runhooks {

namespace {

const std::string kPrefix = "runhooks/hook_state/";
// How many of its loop had the same key, in the state of a hook without a name.
const std::string kOfSameKey = "of_same_key";

std::string prefix_of(const std::string& key) { return kPrefix + path_part(key); }

// The prefixes of states in a checkpoint that begin so.
std::set<std::string> prefixes_with(const TensorSource& source, const std::string& begin) {
  std::set<std::string> prefixes;
  for (const std::string& name : source.names_with(begin)) {
    prefixes.insert(name.substr(0, name.find('/', kPrefix.size()) + 1));
  }
  return prefixes;
}

}  // namespace

HookSaveable::HookSaveable(std::string hook, std::string key, int same_before, Calls calls)
    : StateSaveable(prefix_of(key) + (same_before ? str_cat("%", same_before) : std::string()) +
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

int64_t HookSaveable::of_same_key() const {
  return std::count(unnamed_.begin(), unnamed_.end(), key_);
}

void HookSaveable::note_state() {
  NamedTensors state;
  if (calls_.save(&state)) last_ = std::move(state);
}

NamedTensors HookSaveable::save_state(ResourceManager&) {
  note_state();
  NamedTensors state = last_;
  if (is_unnamed() && !state.empty()) state[kOfSameKey] = Tensor::scalar(of_same_key());
  return state;
}

// A hook without a name is known by what it does. Where that is not enough nobody gets the state.
void HookSaveable::check_unnamed(const TensorSource& source) const {
  for (const std::string& saved : prefixes_with(source, prefix_of(key_))) {
    const std::string count = saved + kOfSameKey;
    if (!source.find(count)) continue;
    const int64_t before = state_integer({{kOfSameKey, source.read(count)}}, kOfSameKey);
    if (before == of_same_key()) return;
    throw Error(Code::kFailedPrecondition,
                str_cat("Whose the states of hooks in checkpoint ", source.path(),
                        " are cannot be told: of hooks without a name that do what `", hook_,
                        "` does it knows ", before, ", and there are ", of_same_key(), "."),
                {"Name hooks that save a state, as in `hooks = list(counter = ...)`: it goes by "
                 "the name. Under a new name a hook begins anew."});
  }
  std::set<std::string> others = prefixes_with(source, prefix_of(RunHook::kUnnamedState));
  for (const std::string& key : unnamed_) {
    for (const std::string& known : prefixes_with(source, prefix_of(key))) others.erase(known);
  }
  // earlier versions wrote by places
  const bool has_place = !prefixes_with(source, prefix_of(hook_) + "/").empty();
  if (others.empty() && !has_place) return;
  warn("hook_state",
       str_cat("Checkpoint ", source.path(),
               " has the state of a hook without a name that did something else than `", hook_,
               "`, which begins anew. Name hooks that save a state, as in `hooks = list(counter = "
               "...)`: it goes by the name."));
}

Saveable::Assign HookSaveable::read(const TensorSource& source, const ResourceManager& resources) {
  // Up to version 0.1 it was an object of R, serialized: reading one can run code.
  if (source.find(prefix_of(hook_))) {
    warn("hook_state",
         str_cat("The state of hook `", hook_, "` in checkpoint ", source.path(),
                 " is in a form that is not read any more, since it may hold code. The hook begins "
                 "anew."));
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
    const auto take_over = calls_.read(state);
    return [this, state, take_over](ResourceManager&) {
      last_ = state;
      take_over_ = take_over;
    };
  } catch (const Error& error) {
    if (error.foreign) throw;
    throw Error(error.code(),
                str_cat("The state of hook `", hook_, "` in checkpoint ", where,
                        " cannot be taken up: ", error.message()),
                error.hints());
  }
}

void HookSaveable::hand_over() {
  if (!take_over_) return;
  const auto take_over = std::move(take_over_);
  take_over_ = nullptr;
  take_over();
}

}  // namespace runhooks
