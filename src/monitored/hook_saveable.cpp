#include "monitored/hook_saveable.h"

#include "base/log.h"

namespace runhooks {

namespace {

const std::string kPrefix = "runhooks/hook_state/";

}  // namespace

HookSaveable::HookSaveable(const std::string& hook, int same_before, Calls calls)
    : StateSaveable(kPrefix + path_part(hook) +
                    (same_before ? str_cat("%", same_before) : std::string()) + "/"),
      hook_(hook),
      calls_(std::move(calls)) {}

NamedTensors HookSaveable::save_state(ResourceManager&) {
  NamedTensors state;
  if (calls_.save(&state)) last_ = std::move(state);
  return last_;
}

Saveable::Assign HookSaveable::read(const TensorSource& source) {
  // Up to version 0.1 it was an object of R, serialized: reading one can run code.
  if (source.find(kPrefix + hook_)) {
    warn("hook_state",
         str_cat("The state of hook `", hook_, "` in checkpoint ", source.path(),
                 " is in a form that is not read any more, since it may hold code. The hook begins "
                 "anew."));
  }
  return StateSaveable::read(source);
}

Saveable::Assign HookSaveable::read_state(const NamedTensors& state, const std::string&) {
  const auto take_over = calls_.read(state);
  return [this, state, take_over](ResourceManager&) {
    last_ = state;
    take_over_ = take_over;
  };
}

void HookSaveable::hand_over() {
  if (!take_over_) return;
  const auto take_over = std::move(take_over_);
  take_over_ = nullptr;
  take_over();
}

}  // namespace runhooks
