// What lives here: how built-in hooks are registered and made from their arguments, and what several of them need.
// Who may use it: one file a hook, estimators, the bindings.
// What it must not know: any particular hook, R.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "graph/factory.h"
#include "hooks/trigger.h"
#include "session/run_hook.h"

namespace runhooks {

// Makes a hook by its class name ("StopAtStepHook") from its arguments.
HookPtr make_hook(const std::string& type, const Args& args);

// Class, how scripts call its constructor ("hook_x, train.XHook"), and its arguments as ArgSpec has
// them. Rules between arguments are the constructor's: it throws, and has no other effect, because
// a hook is also made to see whether it can be.
#define RUNHOOKS_REGISTER_HOOK(Class, ...)                                            \
  [[maybe_unused]] static const bool RUNHOOKS_CONCAT(hook_registered_, __COUNTER__) = \
      ::runhooks::Factory<::runhooks::RunHook>::instance().add(                       \
          #Class,                                                                     \
          [](const ::runhooks::Args& args) -> std::shared_ptr<::runhooks::RunHook> {  \
            return std::make_shared<Class>(args);                                     \
          },                                                                          \
          __VA_ARGS__)

// The global step as hooks use it: a tensor to fetch, and the value at this moment.
class GlobalStep {
 public:
  // In begin(); throws in the words of TensorFlow where the graph has none.
  void find(Graph& graph, const std::string& hook_name);
  const Output& tensor() const { return tensor_; }
  const Variable& variable() const { return *variable_; }
  int64_t now(const Session& session) const { return *session.value(*variable_).data<int64_t>(); }

 private:
  VariablePtr variable_;
  Output tensor_;
};

// A tensor or operation that an argument names or is: "loss:0", "loss" (its first output), a
// tensor, a variable.
Output tensor_argument(Graph& graph, const Value& value);

// The elements of a list, with names or without; one value is a list of itself, NULL is none.
ValueList values_of(const Value* value);

// The same as tensor_argument() where an operation will do as well.
Fetch fetch_argument(Graph& graph, const Value& value);

// A function of the embedding language that says what to feed; it is asked anew for each run. It is
// handed over as a callable, which only the binding knows to be one of these.
class FeedSource : public Callable {
 public:
  virtual Feeds feeds(Graph& graph) = 0;
};
// NULL where the argument is missing.
std::shared_ptr<FeedSource> feed_source_argument(const Args& args, const std::string& name);

// The interval of a hook, by whichever of the two arguments is given.
Trigger trigger_of(const Args& args, const char* steps_name, const char* secs_name);

}  // namespace runhooks
