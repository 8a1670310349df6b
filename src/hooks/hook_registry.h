// Registers built-in hooks, and provides helpers that several hooks use.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "graph/factory.h"
#include "hooks/trigger.h"
#include "session/run_hook.h"

namespace runhooks {

HookPtr make_hook(const std::string& type, const Args& args);

// Registers a hook class with the names of its R function and of its member of `tf` ("hook_x,
// train.XHook"), and its arguments as ArgSpec declarations. The constructor must have no side
// effect, because hooks are also constructed only to check their arguments.
#define RUNHOOKS_REGISTER_HOOK(Class, ...)                                            \
  [[maybe_unused]] static const bool RUNHOOKS_CONCAT(hook_registered_, __COUNTER__) = \
      ::runhooks::Factory<::runhooks::RunHook>::instance().add(                       \
          #Class,                                                                     \
          [](const ::runhooks::Args& args) -> std::shared_ptr<::runhooks::RunHook> {  \
            return std::make_shared<Class>(args);                                     \
          },                                                                          \
          __VA_ARGS__)

// Gives a hook access to the global step of its graph.
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

// Converts an argument to a tensor. It may be a tensor, a variable, or a name: that of a tensor
// ("loss:0"), of an endpoint of the model, or of an operation with one output ("loss").
Output tensor_argument(Graph& graph, const Value& value);

// Returns the elements of a named or unnamed list; a single value becomes a list of one, NULL an
// empty one.
ValueList values_of(const Value* value);

// Like tensor_argument(), but the argument may also be an operation or its name.
Fetch fetch_argument(Graph& graph, const Value& value);

// An R function that returns the feeds of a run. Only the bindings can create one, so the core gets
// it as a Callable.
class FeedSource : public Callable {
 public:
  virtual Feeds feeds(Graph& graph) = 0;
};
std::shared_ptr<FeedSource> feed_source_argument(const Args& args, const std::string& name);

// Creates a trigger from the argument called `steps_name` or `secs_name`. The trigger never fires
// if both are missing.
Trigger trigger_of(const Args& args, const char* steps_name, const char* secs_name);
// Like trigger_of(), but throws TensorFlow's error if both arguments are missing.
Trigger required_trigger_of(const Args& args, const char* steps_name, const char* secs_name);

// Calls notify(kind, text) with kind "message" or "warning". Logs the text if `notify` is NULL.
void notify_user(const std::shared_ptr<Callable>& notify,
                 const std::string& kind,
                 const std::string& text);

double sum_of(const Tensor& tensor);
double mean_of(const Tensor& tensor);

}  // namespace runhooks
