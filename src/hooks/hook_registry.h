// Registration of built-in hooks, and the arguments and helpers that several of them share.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "graph/factory.h"
#include "hooks/trigger.h"
#include "session/run_hook.h"

namespace runhooks {

HookPtr make_hook(const std::string& type, const Args& args);

// Registers a class with its public constructor names ("hook_x, train.XHook") and its arguments as
// ArgSpec declarations. The constructor checks rules between arguments. It must have no other side
// effect, because hooks are also constructed only to validate them.
#define RUNHOOKS_REGISTER_HOOK(Class, ...)                                            \
  [[maybe_unused]] static const bool RUNHOOKS_CONCAT(hook_registered_, __COUNTER__) = \
      ::runhooks::Factory<::runhooks::RunHook>::instance().add(                       \
          #Class,                                                                     \
          [](const ::runhooks::Args& args) -> std::shared_ptr<::runhooks::RunHook> {  \
            return std::make_shared<Class>(args);                                     \
          },                                                                          \
          __VA_ARGS__)

class GlobalStep {
 public:
  // Call in begin(). Throws TensorFlow's error if the graph has no global step.
  void find(Graph& graph, const std::string& hook_name);
  const Output& tensor() const { return tensor_; }
  const Variable& variable() const { return *variable_; }
  int64_t now(const Session& session) const { return *session.value(*variable_).data<int64_t>(); }

 private:
  VariablePtr variable_;
  Output tensor_;
};

// Converts an argument to a tensor: a tensor, a variable, or a name such as "loss:0" or "loss" (the
// first output).
Output tensor_argument(Graph& graph, const Value& value);

// The elements of a named or unnamed list; a single value becomes a list of one, NULL an empty one.
ValueList values_of(const Value* value);

Fetch fetch_argument(Graph& graph, const Value& value);

// An R function that returns the feeds of a run. Arguments carry it as a Callable, because only the
// bindings can create it.
class FeedSource : public Callable {
 public:
  virtual Feeds feeds(Graph& graph) = 0;
};
std::shared_ptr<FeedSource> feed_source_argument(const Args& args, const std::string& name);

Trigger trigger_of(const Args& args, const char* steps_name, const char* secs_name);

}  // namespace runhooks
