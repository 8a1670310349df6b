#include "graph/variable.h"

#include <cstring>

#include "graph/collection_item.h"
#include "tensor/variable_arena.h"

namespace runhooks {

namespace {

Tensor persistent_copy(const Tensor& value) {
  const PersistentAllocScope persistent;
  return value.copy();
}

}  // namespace

void VariableState::assign(const Tensor& value) {
  if (value.dtype() != dtype_) {
    invalid_argument("A value of type ", dtype_name(value.dtype()),
                     " cannot be assigned to variable ", name_, " of type ", dtype_name(dtype_),
                     ".");
  }
  if (value_.is_valid() && value_.shape() == value.shape()) {
    if (!value_.shares_buffer_with(value)) {
      std::memcpy(value_.raw(), value.raw(), value.num_bytes());
      if (value.dtype() == DType::kString) value_.set_dictionary(value.dictionary());
    }
  } else {
    adopt_buffer(persistent_copy(value));
  }
}

void VariableState::take(Tensor value) {
  if (value.dtype() != dtype_ || value.buffer_is_shared()) return assign(value);
  const bool exceeds_arena = value.num_bytes() > kMaxArenaBytes;
  adopt_buffer(exceeds_arena ? std::move(value) : persistent_copy(value));
}

void VariableState::adopt_buffer(Tensor value) {
  value_ = std::move(value);
  relocation_count_.fetch_add(1, std::memory_order_relaxed);
}

std::atomic<uint64_t> VariableState::relocation_count_{1};

Tensor filled_tensor(DType dtype, const Shape& shape, double value) {
  if (value == 0) return Tensor::zeros(dtype, shape);
  Tensor tensor(dtype, shape);
  const Tensor element = Tensor::number(dtype, value);
  auto* to = static_cast<char*>(tensor.raw());
  for (int64_t i = 0; i < tensor.num_elements(); ++i, to += dtype_size(dtype)) {
    std::memcpy(to, element.raw(), dtype_size(dtype));
  }
  return tensor;
}

Initializer constant_initializer(double value, const char* name) {
  if (!name) name = value == 0 ? "zeros" : "Const";
  return [value, name](Graph& graph, const Shape& shape, DType dtype) -> Output {
    return graph.constant(filled_tensor(dtype, shape, value), name);
  };
}

Initializer& default_initializer() {
  static auto* initializer = new Initializer;
  return *initializer;
}

Initializer zeros_initializer() { return constant_initializer(0); }

VariableState* find_variable_state(const ResourceManager& resources, const Operation& handle) {
  return resources.find<VariableState>(handle.name());
}

VariableState& initialized_variable(KernelContext& c, int i) {
  auto& state = c.input_resource<VariableState>(i);
  if (!state.is_initialized()) {
    fail(Code::kFailedPrecondition, "Attempting to use uninitialized value ", state.name(), ".");
  }
  return state;
}

void forward_variable(KernelContext& c) {
  if (c.num_outputs() == 0) return;
  auto& state = c.input_resource<VariableState>(0);
  c.set_output_resource(0, &state);
  c.alias_output(0, state.value());
}

Shape declared_shape(const Operation& handle) {
  const AttrValue* value = handle.attrs().find("shape");
  const auto* shape = value ? std::get_if<Shape>(value) : nullptr;
  return shape ? *shape : Shape::unknown();
}

namespace {

void add_resource_ops(Graph& graph, Variable& variable, const std::string& base) {
  variable.handle = graph.op("VarHandleOp")
                        .attr("dtype", variable.dtype)
                        .attr("shape", variable.shape)
                        .attr("shared_name", variable.shared_name)
                        .named(base + "/");
  variable.initializer = graph.op("AssignVariableOp", {variable.handle, variable.initial_value})
                             .named(base + "/Assign/");
  variable.snapshot = graph.op("ReadVariableOp", {variable.handle})
                          .attr("dtype", variable.dtype)
                          .named(base + "/Read/ReadVariableOp/");
}

void add_reference_ops(Graph& graph, Variable& variable, const std::string& base) {
  variable.handle = graph.op("VariableV2")
                        .attr("dtype", variable.dtype)
                        .attr("shape", variable.shape)
                        .named(base + "/");
  variable.initializer =
      graph.op("Assign", {variable.handle, variable.initial_value}).named(base + "/Assign/");
  variable.snapshot = graph.op("Identity", {variable.handle}).named(base + "/read/");
}

VariablePtr make_variable_in_scope(Graph& graph,
                                   const std::string& base,
                                   const std::function<Output()>& initial_value,
                                   const VariableOptions& options,
                                   const std::string& shared_name) {
  // The caller's control dependencies must not apply: a variable is initialized before any step.
  ControlDependencies none(graph, {}, true);
  auto variable = std::make_shared<Variable>();
  {
    NameScope initializer_scope(graph, base + "/Initializer/");
    variable->initial_value = initial_value();
  }
  variable->dtype = variable->initial_value.dtype();
  variable->shape = variable->initial_value.shape();
  if (!variable->shape.is_fully_defined()) {
    invalid_argument("initial_value must have a shape specified; variable '", base, "' got ",
                     variable->shape, ".");
  }
  variable->shared_name = shared_name.empty() ? base : shared_name;
  variable->trainable = options.trainable;
  variable->is_resource = options.use_resource;
  variable->constraint = options.constraint;
  if (options.use_resource) {
    add_resource_ops(graph, *variable, base);
  } else {
    add_reference_ops(graph, *variable, base);
  }
  for (const std::string& collection : options.collections) {
    graph.add_to_collection(collection, variable);
  }
  if (options.trainable) graph.add_to_collection(collection_keys::kTrainableVariables, variable);
  return variable;
}

}  // namespace

VariablePtr make_variable(Graph& graph,
                          Output initial_value,
                          const std::string& name,
                          const VariableOptions& options,
                          const std::string& shared_name) {
  if (graph.is_function()) {
    // The variable belongs to the root graph, which cannot use tensors of a function.
    if (initial_value.graph().is_function() && !initial_value.op->def().is_constant) {
      throw Error(Code::kInvalidArgument,
                  str_cat("The initial value of variable '", name, "', '", initial_value.name(),
                          "', belongs to a function of tf$cond() or tf$while_loop()."),
                  {"Create the variable outside the function, or with tf$get_variable()."});
    }
    const NameScope scope(graph.root(), graph.current_name_scope());
    if (initial_value.graph().is_function()) {
      initial_value =
          graph.root().constant(initial_value.op->attr<Tensor>("value"), "initial_value");
    }
    return make_variable(graph.root(), initial_value, name, options, shared_name);
  }
  const bool is_full_name = !name.empty() && name.back() == '/';
  const std::string base = is_full_name ? name.substr(0, name.size() - 1) : graph.unique_name(name);
  return make_variable_in_scope(
      graph, base, [initial_value] { return initial_value; }, options, shared_name);
}

VariablePtr VariableStore::find(const std::string& name) const {
  auto found = by_name_.find(name);
  return found == by_name_.end() ? nullptr : found->second;
}

bool VariableStore::has_scope(const std::string& name) const {
  const std::string prefix = full_name(name) + "/";
  auto next = by_name_.lower_bound(prefix);
  return next != by_name_.end() && next->first.compare(0, prefix.size(), prefix) == 0;
}

VariablePtr VariableStore::get(const std::string& name,
                               const Shape& shape,
                               const VariableOptions& options) {
  const std::string full = full_name(name);
  if (VariablePtr existing = find(full)) {
    if (current_.reuse == Reuse::kNever) {
      throw Error(
          Code::kAlreadyExists, str_cat("Variable ", full, " already exists, disallowed."),
          {"Did you mean to set reuse = TRUE or reuse = tf$AUTO_REUSE in the variable scope?"});
    }
    if (!existing->shape.is_compatible_with(shape)) {
      invalid_argument("Trying to share variable ", full, ", but specified shape ", shape,
                       " and found shape ", existing->shape, ".");
    }
    return existing;
  }
  if (current_.reuse == Reuse::kAlways) {
    throw Error(
        Code::kNotFound,
        str_cat("Variable ", full, " does not exist, or was not created with get_variable()."));
  }
  if (!shape.is_fully_defined()) {
    invalid_argument("Shape of a new variable (", full, ") must be fully defined, but instead was ",
                     shape, ".");
  }
  const VariableTransform& regularizer =
      options.regularizer ? options.regularizer : current_.regularizer;
  Initializer initializer = options.initializer ? options.initializer : current_.initializer;
  if (!initializer) {
    initializer = is_floating(options.dtype) ? default_initializer() : zeros_initializer();
  }
  VariableOptions merged_options = options;
  merged_options.use_resource = options.use_resource || current_.use_resource;
  NameScope root(graph_, "");
  VariablePtr variable = make_variable_in_scope(
      graph_, graph_.unique_name(full), [&] { return initializer(graph_, shape, options.dtype); },
      merged_options, full);
  by_name_[full] = variable;
  variable->constraint = options.constraint ? options.constraint : current_.constraint;
  if (regularizer) {
    const NameScope scope(graph_, variable->op_name() + "/Regularizer/");
    const Output loss = regularizer(graph_, variable->snapshot);
    if (loss) graph_.add_to_collection(collection_keys::kRegularizationLosses, loss);
  }
  return variable;
}

VariablePtr VariableStore::get_by_full_name(const std::string& name,
                                    const Shape& shape,
                                    const VariableOptions& options) {
  struct RestoreScope {
    Scope& scope;
    Scope saved;
    ~RestoreScope() { scope = std::move(saved); }
  } restore{current_, current_};
  current_.name.clear();
  current_.getter = nullptr;
  return get(name, shape, options);
}

VariableGetterResult VariableStore::obtain(const std::string& name,
                                           const Shape& shape,
                                           const VariableOptions& options) {
  if (current_.getter) return current_.getter(graph_, full_name(name), shape, options);
  const VariablePtr variable = get(name, shape, options);
  return {variable, variable->snapshot};
}

std::vector<VariablePtr> VariableStore::get_partitioned(const std::string& name,
                                                        const Shape& shape,
                                                        const VariableOptions& options) {
  if (!current_.partitioner) return {get(name, shape, options)};
  const std::vector<int64_t> parts = current_.partitioner(shape, options.dtype);
  int axis = 0;
  for (int i = 0; i < shape.rank(); ++i) {
    if (parts[static_cast<size_t>(i)] > 1) axis = i;
  }
  const int64_t n = shape.rank() == 0 ? 1 : parts[static_cast<size_t>(axis)];
  const std::string full = full_name(name);
  std::vector<VariablePtr> variables;
  int64_t offset = 0;
  for (int64_t part = 0; part < n; ++part) {
    Shape part_shape = shape;
    if (shape.rank() > 0) {
      // If n does not divide the size, the first parts get one more row.
      const int64_t size = shape.dim(axis) / n + (part < shape.dim(axis) % n ? 1 : 0);
      part_shape.set_dim(axis, size);
    }
    VariablePtr variable = get(str_cat(name, "/part_", part), part_shape, options);
    if (!variable->slice) {
      auto slice = std::make_shared<SaveSliceInfo>();
      slice->full_name = full;
      slice->full_shape = shape;
      slice->offset.assign(static_cast<size_t>(shape.rank()), 0);
      if (shape.rank() > 0) slice->offset[static_cast<size_t>(axis)] = offset;
      slice->shape = part_shape;
      variable->slice = slice;
    }
    if (shape.rank() > 0) offset += part_shape.dim(axis);
    variables.push_back(variable);
  }
  return variables;
}

VariableScope::VariableScope(Graph& graph, const std::string& name)
    : graph_(graph), outer_(graph.variables().current()), name_scope_(graph, name) {
  VariableStore::Scope& scope = graph.variables().current();
  scope.name = outer_.name.empty() ? name : outer_.name + "/" + name;
}

VariableScope::~VariableScope() { graph_.variables().current() = outer_; }

std::vector<VariablePtr> variables_in(const Graph& graph, const std::string& collection) {
  std::vector<VariablePtr> variables;
  for (const CollectionItem& item : graph.collection(collection)) {
    if (const auto* variable = std::get_if<VariablePtr>(&item)) variables.push_back(*variable);
  }
  return variables;
}

VariablePtr global_step(const Graph& graph) {
  const auto variables = variables_in(graph, collection_keys::kGlobalStep);
  return variables.empty() ? nullptr : variables.front();
}

VariablePtr get_or_create_global_step(Graph& graph_or_function) {
  Graph& graph = graph_or_function.root();
  if (VariablePtr step = global_step(graph)) return step;
  VariableOptions options;
  options.dtype = DType::kInt64;
  options.initializer = zeros_initializer();
  options.trainable = false;
  options.collections = {collection_keys::kGlobalVariables, collection_keys::kGlobalStep};
  NameScope root(graph, "");
  return make_variable_in_scope(
      graph, graph.unique_name("global_step"),
      [&] { return options.initializer(graph, Shape(), DType::kInt64); }, options, "global_step");
}

Output global_step_read(Graph& graph) {
  const char* const key = "global_step_read_op_cache";
  const std::vector<CollectionItem> cached = graph.collection(key);
  if (!cached.empty()) return collection_item<Output>(cached.front(), key);
  const VariablePtr step = global_step(graph);
  if (!step) return Output();
  // TensorFlow also creates this tensor without control dependencies, and under this name.
  ControlDependencies none(graph, {}, true);
  NameScope scope(graph, step->op_name() + "/");
  const Output zero = graph.scalar(step->dtype, 0, "add/y");
  const Output read = graph.op("AddV2", {step->snapshot, zero}).named("add");
  graph.add_to_collection(key, read);
  return read;
}

}  // namespace runhooks
