// HookSaveable: stores the state of one hook in checkpoints and restores it.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "graph/saveable.h"

namespace runhooks {

// Names of the state in a checkpoint begin with the hook's key, RunHook::state_key(). If several
// hooks have the same key, a number is added from the second hook on.
class HookSaveable : public StateSaveable {
 public:
  // The training loop passes these functions, which save and restore the state of the hook.
  struct Callbacks {
    // Returns false if the hook cannot be called now; the last saved state is then written again.
    std::function<bool(NamedTensors* state)> save;
    // Checks `state` and returns a function that restores it in the hook.
    std::function<std::function<void()>(const NamedTensors& state)> read;
  };
  using Peers = std::vector<std::shared_ptr<HookSaveable>>;
  HookSaveable(std::string hook, std::string key, int num_earlier_with_key, Callbacks callbacks);
  const std::string& hook() const { return hook_name_; }
  const std::string& key() const { return key_; }
  // Gives each object the keys of all unnamed hooks of the loop. Called once, after all objects
  // were created.
  static void set_unnamed_peers(const Peers& peers);

  Assign read(const TensorSource& source, const ResourceManager& resources) override;
  // Restores the hook if a state was read since the last call.
  void restore_hook();
  // Gets the current state from the hook and keeps it. save_state() returns it if the hook cannot
  // be called later.
  void snapshot_state();

 protected:
  NamedTensors save_state(ResourceManager&) override;
  Assign read_state(const NamedTensors& state,
                    const std::string& where,
                    const ResourceManager& resources) override;

 private:
  bool is_unnamed() const;
  int64_t num_hooks_with_key() const;
  void check_unnamed(const TensorSource& source) const;

  std::string hook_name_, key_;
  Callbacks callbacks_;
  std::vector<std::string> unnamed_keys_;  // keys of all unnamed hooks in the loop
  NamedTensors last_state_;
  std::function<void()> pending_restore_;
};

}  // namespace runhooks
