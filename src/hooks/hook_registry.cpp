#include "hooks/hook_registry.h"

#include "base/log.h"
#include "graph/endpoints.h"

namespace runhooks {

HookPtr make_hook(const std::string& type, const Args& args) {
  return Factory<RunHook>::instance().make("hook", type, args);
}

void GlobalStep::find(Graph& graph, const std::string& hook_name) {
  variable_ = global_step(graph);
  if (!variable_) {
    fail(Code::kFailedPrecondition, "Global step should be created to use ", hook_name, ".");
  }
  tensor_ = global_step_read(graph);
}

namespace {

// Returns `output`; throws if it belongs to another graph.
Output check_graph(const Graph& graph, const Output& output) {
  if (&output.graph() == &graph) return output;
  invalid_argument("Tensor ", output.name(), " is not an element of this graph.");
}

[[noreturn]] void throw_ambiguous(const std::string& name,
                                  const EndpointTensors& endpoint_tensors) {
  std::vector<std::string> names;
  for (const auto& endpoint_tensor : endpoint_tensors)
    names.push_back(str_cat("'", name, "/", endpoint_tensor.first, "'"));
  throw Error(
      Code::kInvalidArgument,
      str_cat("'", name, "' names ", endpoint_tensors.size(), " tensors; exactly one is needed."),
      {str_cat("Use one of: ", str_join(names, ", "), ".")});
}

// Finds a tensor by its name ("loss:0"), or by the name of an endpoint of the model or of an
// operation with one output ("loss").
Output tensor_named(Graph& graph, const std::string& name) {
  if (name.find(':') != std::string::npos) return graph.tensor(name);
  const EndpointTensors& endpoint_tensors = endpoint(graph, name);
  if (endpoint_tensors.size() == 1) return endpoint_tensors.front().second;
  if (endpoint_tensors.size() > 1) throw_ambiguous(name, endpoint_tensors);
  const Operation* op = graph.find_operation(name);
  if (op && op->num_outputs() > 1) {
    invalid_argument("Name ", name,
                     " is ambiguous, as this `Operation` has multiple outputs (at least 2).");
  }
  if (op) return graph.tensor(name + ":0");
  const size_t slash = name.rfind('/');
  const std::string key = slash == std::string::npos ? "" : name.substr(slash + 1);
  for (const auto& endpoint_tensor : endpoint(graph, name.substr(0, slash))) {
    if (endpoint_tensor.first == key) return endpoint_tensor.second;
  }
  return graph.tensor(name + ":0");  // throws an error that lists similar names
}

}  // namespace

Output tensor_argument(Graph& graph, const Value& value) {
  if (const auto* output = value.get_if<Output>()) return check_graph(graph, *output);
  if (const auto* variable = value.get_if<VariablePtr>()) {
    return check_graph(graph, (*variable)->snapshot);
  }
  if (const auto* name = value.get_if<std::string>()) return tensor_named(graph, *name);
  invalid_argument("Expected a tensor or the name of one, not ", value.kind(), ".");
}

ValueList values_of(const Value* value) {
  ValueList values;
  if (!value) return values;
  if (const auto* list = value->get_if<std::shared_ptr<ValueList>>()) return **list;
  const auto* named = value->get_if<std::shared_ptr<Args>>();
  if (!named) return {*value};
  for (const auto& item : (*named)->items()) values.push_back(item.second);
  return values;
}

Fetch fetch_argument(Graph& graph, const Value& value) {
  if (auto* const* op = value.get_if<Operation*>()) return Fetch(*op);
  const auto* name = value.get_if<std::string>();
  if (!name) return tensor_argument(graph, value);
  if (!endpoint(graph, *name).empty()) return tensor_named(graph, *name);
  const auto element = graph.element(*name);
  if (const auto* output = std::get_if<Output>(&element)) return *output;
  return std::get<Operation*>(element);
}

std::shared_ptr<FeedSource> feed_source_argument(const Args& args, const std::string& name) {
  const std::shared_ptr<Callable> function = args.callable(name);
  auto source = std::dynamic_pointer_cast<FeedSource>(function);
  if (function && !source) {
    invalid_argument("`", name, "` of ", args.owner(), " must be a function that returns feeds.");
  }
  return source;
}

Trigger trigger_of(const Args& args, const char* steps_name, const char* secs_name) {
  if (args.has(secs_name)) return Trigger::every_secs(args.number(secs_name));
  if (args.has(steps_name)) return Trigger::every_steps(args.integer(steps_name));
  return Trigger();
}

Trigger required_trigger_of(const Args& args, const char* steps_name, const char* secs_name) {
  if (!args.has(steps_name) && !args.has(secs_name)) {
    invalid_argument("Either every_secs or every_steps should be provided.");
  }
  return trigger_of(args, steps_name, secs_name);
}

void notify_user(const std::shared_ptr<Callable>& notify,
                 const std::string& kind,
                 const std::string& text) {
  if (notify) {
    notify->call({Value::of(kind), Value::of(text)});
  } else {
    log(kind == "warning" ? LogLevel::kWarn : LogLevel::kInfo, text);
  }
}

double sum_of(const Tensor& tensor) {
  double total = 0;
  for (int64_t i = 0; i < tensor.num_elements(); ++i) total += tensor.number_at(i);
  return total;
}

double mean_of(const Tensor& tensor) {
  return sum_of(tensor) / static_cast<double>(tensor.num_elements());
}

}  // namespace runhooks
