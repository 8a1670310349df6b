// What lives here: HookSaveable, the state of one hook as checkpoints keep it.
// Who may use it: monitored.
// What it must not know: any particular hook, what a state holds, R.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "graph/saveable.h"

namespace runhooks {

// Below its key (RunHook::state_key()); of several with one key the later ones have a number more.
class HookSaveable : public StateSaveable {
 public:
  // How the loop reaches its hook.
  struct Calls {
    // FALSE at moments at which hooks cannot be asked: what is saved is the state as it was last.
    std::function<bool(NamedTensors* state)> save;
    // Reads and checks; what is returned lets the hook take its state over.
    std::function<std::function<void()>(const NamedTensors& state)> read;
  };
  using All = std::vector<std::shared_ptr<HookSaveable>>;
  // `same_before`: how many hooks of this key come before it.
  HookSaveable(std::string hook, std::string key, int same_before, Calls calls);
  const std::string& hook() const { return hook_; }
  const std::string& key() const { return key_; }
  // What its hooks without a name are told apart by; called once all are made.
  static void set_unnamed_peers(const All& all);

  Assign read(const TensorSource& source, const ResourceManager& resources) override;
  // What was restored goes to the hook, once.
  void hand_over();
  // Asks the hook, so that what is saved from here on is its state of this moment.
  void note_state();

 protected:
  NamedTensors save_state(ResourceManager&) override;
  Assign read_state(const NamedTensors& state,
                    const std::string& where,
                    const ResourceManager& resources) override;

 private:
  bool is_unnamed() const;
  int64_t of_same_key() const;
  void check_unnamed(const TensorSource& source) const;

  std::string hook_, key_;
  Calls calls_;
  std::vector<std::string> unnamed_;  // the keys of all in the loop that have no name
  NamedTensors last_;
  std::function<void()> take_over_;
};

}  // namespace runhooks
