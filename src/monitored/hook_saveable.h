// What lives here: HookSaveable, the state of one hook as checkpoints keep it.
// Who may use it: monitored.
// What it must not know: any particular hook, what a state holds, R.
#pragma once

#include <functional>
#include <string>

#include "graph/saveable.h"

namespace runhooks {

class HookSaveable : public StateSaveable {
 public:
  // How the loop reaches its hook.
  struct Calls {
    // FALSE at moments at which hooks cannot be asked: what is saved is the state as it was last.
    std::function<bool(NamedTensors* state)> save;
    // Reads and checks; what is returned lets the hook take its state over.
    std::function<std::function<void()>(const NamedTensors& state)> read;
  };
  // `same_before`: how many hooks of this name come before it.
  HookSaveable(const std::string& hook, int same_before, Calls calls);
  const std::string& hook() const { return hook_; }

  Assign read(const TensorSource& source) override;
  // What was restored goes to the hook, once.
  void hand_over();

 protected:
  NamedTensors save_state(ResourceManager&) override;
  Assign read_state(const NamedTensors& state, const std::string& where) override;

 private:
  std::string hook_;
  Calls calls_;
  NamedTensors last_;
  std::function<void()> take_over_;
};

}  // namespace runhooks
