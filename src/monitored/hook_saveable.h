// HookSaveable: stores the state of one hook in checkpoints and restores it.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "graph/saveable.h"

namespace runhooks {

// Stored under the hook's key (RunHook::state_key()). Later hooks with the same key get a number.
class HookSaveable : public StateSaveable {
 public:
  // Callbacks through which the training loop saves and restores its hook.
  struct Calls {
    // Returns false if the hook cannot be called now; the last saved state is then written again.
    std::function<bool(NamedTensors* state)> save;
    // Validates `state` and returns a function that installs it in the hook.
    std::function<std::function<void()>(const NamedTensors& state)> read;
  };
  using All = std::vector<std::shared_ptr<HookSaveable>>;
  HookSaveable(std::string hook, std::string key, int num_before_with_key, Calls calls);
  const std::string& hook() const { return hook_; }
  const std::string& key() const { return key_; }
  // Tells each hook which unnamed hooks the loop has; call once after creating all of them.
  static void set_unnamed_peers(const All& all);

  Assign read(const TensorSource& source, const ResourceManager& resources) override;
  // Passes the restored state to the hook, at most once.
  void restore_hook();
  void snapshot_state();

 protected:
  NamedTensors save_state(ResourceManager&) override;
  Assign read_state(const NamedTensors& state,
                    const std::string& where,
                    const ResourceManager& resources) override;

 private:
  bool is_unnamed() const;
  int64_t num_of_same_key() const;
  void check_unnamed(const TensorSource& source) const;

  std::string hook_, key_;
  Calls calls_;
  std::vector<std::string> unnamed_;  // keys of all unnamed hooks in the loop
  NamedTensors last_;
  std::function<void()> pending_restore_;
};

}  // namespace runhooks
