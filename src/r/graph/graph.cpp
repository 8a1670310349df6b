// Handles of graphs, tensors, operations and variables, and operations that R adds to a graph.
#include <algorithm>

#include "base/memory.h"
#include "graph/func_graph.h"
#include "graph/graph_function.h"
#include "r/data/input.h"
#include "r/files/saver.h"
#include "r/graph/gc_pressure.h"
#include "r/graph/graph_closure.h"
#include "r/graph/handle_methods.h"
#include "r/graph/handles_of_graph.h"
#include "r/values/classed.h"
#include "r/values/convert.h"
#include "r/values/finalizers.h"
#include "r/values/named_values.h"

namespace runhooks {
namespace r {

namespace {

// The R object of a graph. The weak reference returns it as long as R refers to it.
struct GraphBinding {
  SEXP weak_ref = R_NilValue;
  SEXP pointer = R_NilValue;     // the external pointer in the R object
  int collections_version = -1;  // collections_version() of the cached results
  int sessions = 0;              // see r_sessions_of()
  std::vector<std::unique_ptr<GraphClosure>> closures;
  ~GraphBinding() {
    if (weak_ref != R_NilValue) R_ReleaseObject(weak_ref);
  }
};

SEXP graph_pointer(SEXP graph) {
  static SEXP name = Rf_install(".pointer");
  return frame_variable(graph, name);
}

GraphBinding& binding_of(const Graph& graph) {
  return *static_cast<GraphBinding*>(graph.foreign.get());
}

// Elements of the list that a graph's external pointer protects, where R's collector finds them:
// handles by operation, collections, the outer graph of a FuncGraph, and a pairlist of functions.
enum PreservedElement { kHandles, kCollections, kOuter, kFunctions, kNumPreserved };

SEXP preserved_of(const Graph& graph) { return R_ExternalPtrProtected(binding_of(graph).pointer); }

// Returns the handles of an operation: a list of operation, variable, output 0, output 1, ...
SEXP handles_of(const Operation& op) {
  SEXP by_operation = VECTOR_ELT(preserved_of(op.graph()), kHandles);
  const R_xlen_t id = op.id();
  if (Rf_xlength(by_operation) <= id) {
    Rcpp::Shield<SEXP> larger(allocate_vector(VECSXP, 2 * id + 64));
    for (R_xlen_t i = 0; i < Rf_xlength(by_operation); ++i)
      SET_VECTOR_ELT(larger, i, VECTOR_ELT(by_operation, i));
    SET_VECTOR_ELT(preserved_of(op.graph()), kHandles, larger);
    by_operation = larger;
  }
  if (VECTOR_ELT(by_operation, id) == R_NilValue) {
    SET_VECTOR_ELT(by_operation, id, allocate_vector(VECSXP, op.num_outputs() + 2));
  }
  return VECTOR_ELT(by_operation, id);
}

void set_classes(SEXP handle, const char* class1, const char* class2) {
  Rcpp::Shield<SEXP> classes(allocate_vector(STRSXP, 2));
  SET_STRING_ELT(classes, 0, utf8_element(class1));
  SET_STRING_ELT(classes, 1, utf8_element(class2));
  Rf_setAttrib(handle, R_ClassSymbol, classes);
}

SEXP make_element(void* address,
                  const HandleKind& kind,
                  SEXP graph,
                  int index,
                  const char* class1,
                  const char* class2) {
  Rcpp::Shield<SEXP> owner(Rf_cons(graph, Rf_ScalarInteger(index)));
  Rcpp::Shield<SEXP> handle(R_MakeExternalPtr(address, kind.tag(), owner));
  set_classes(handle, class1, class2);
  return handle;
}

SEXP item_to_r(const CollectionItem& item) {
  if (const auto* output = std::get_if<Output>(&item)) return tensor_handle(*output);
  if (auto* const* op = std::get_if<Operation*>(&item)) return operation_handle(*op);
  if (const auto* variable = std::get_if<VariablePtr>(&item)) return variable_handle(*variable);
  if (const auto* text = std::get_if<std::string>(&item)) return Rcpp::wrap(*text);
  if (const auto* saveable = std::get_if<SaveablePtr>(&item))
    return Rcpp::wrap((*saveable)->name());
  // The only other type of item is a saver.
  return saver_handle(std::static_pointer_cast<Saver>(std::get<std::shared_ptr<void>>(item)));
}

// The number of graphs created since the last garbage collection, weighted by their size.
constexpr int kLargeGraphWeight = 4, kSmallGraphWeight = 1;
int graph_weight_since_gc = 0;
bool is_gc_watched = false;

void watch_gc() {
  if (is_gc_watched) return;
  is_gc_watched = true;
  on_next_gc([] {
    graph_weight_since_gc = 0;
    is_gc_watched = false;
  });
}

// Runs a minor garbage collection, because a full one takes longer than many calls. R may still
// decide to run a full one.
void collect_minor() {
  Rcpp::Shield<SEXP> call(Rf_lang2(Rf_install("gc"), Rf_ScalarLogical(FALSE)));
  SET_TAG(CDR(call), Rf_install("full"));
  eval_r(call, R_BaseEnv);
}

// R's garbage collector cannot measure the memory of graphs. Runs a minor collection after a number
// of graphs, and a full collection after the process has allocated much memory.
void collect_if_needed() {
  constexpr int kMaxGraphWeight = 32 * kLargeGraphWeight;
  constexpr uint64_t kMaxNewBytes = uint64_t{256} << 20;
  static uint64_t memory_at_last_gc = 0;
  watch_gc();
  graph_weight_since_gc += kLargeGraphWeight;
  const bool has_allocated_much = reserved_memory() >= memory_at_last_gc + kMaxNewBytes;
  if (!has_allocated_much && graph_weight_since_gc < kMaxGraphWeight) return;
  graph_weight_since_gc = 0;
  if (has_allocated_much) {
    R_gc();
    memory_at_last_gc = reserved_memory();
  } else {
    collect_minor();
  }
}

}  // namespace

void count_small_graph() {
  graph_weight_since_gc =
      std::max(0, graph_weight_since_gc - (kLargeGraphWeight - kSmallGraphWeight));
}

SEXP graph_handle(const std::shared_ptr<Graph>& graph) {
  if (graph->foreign) {
    SEXP existing = key_of(binding_of(*graph).weak_ref);
    if (existing != R_NilValue) return existing;
  }
  collect_if_needed();
  Rcpp::Shield<SEXP> pointer(make_handle(graph, kGraph));
  Rcpp::Shield<SEXP> preserved(allocate_vector(VECSXP, kNumPreserved));
  SET_VECTOR_ELT(preserved, kHandles, allocate_vector(VECSXP, graph->version() + 64));
  if (auto* function = dynamic_cast<FuncGraph*>(graph.get())) {
    SET_VECTOR_ELT(preserved, kOuter, graph_handle(function->outer().shared_from_this()));
  }
  R_SetExternalPtrProtected(pointer, preserved);
  Rcpp::Shield<SEXP> object(call_internal("new_graph", {pointer}));
  auto binding = std::make_shared<GraphBinding>();
  binding->weak_ref = R_MakeWeakRef(object, R_NilValue, R_NilValue, FALSE);
  R_PreserveObject(binding->weak_ref);
  binding->pointer = pointer;
  if (graph->foreign) {
    binding->sessions = binding_of(*graph).sessions;
    binding->closures = std::move(binding_of(*graph).closures);
  }
  graph->foreign = binding;
  return object;
}

bool has_object(const Graph& graph) {
  return graph.foreign && key_of(binding_of(graph).weak_ref) != R_NilValue;
}

void attach_to_graph(Graph& graph, SEXP object) {
  Rcpp::Shield<SEXP> cell(Rf_cons(object, VECTOR_ELT(preserved_of(graph), kFunctions)));
  SET_VECTOR_ELT(preserved_of(graph), kFunctions, cell);
}

int& r_sessions_of(const Graph& graph) { return binding_of(graph).sessions; }

std::vector<std::unique_ptr<GraphClosure>>& closures_of(Graph& graph) {
  return binding_of(graph).closures;
}

std::shared_ptr<Graph> graph_of(SEXP handle) {
  SEXP pointer = TYPEOF(handle) == ENVSXP ? graph_pointer(handle) : handle;
  return from_handle<Graph>(pointer, kGraph);
}

SEXP tensor_handle(const Output& output) {
  register_tensor_methods();
  Rcpp::Shield<SEXP> graph(graph_handle(output.graph().shared_from_this()));
  SEXP handles = handles_of(*output.op);
  const R_xlen_t slot = output.index + 2;
  if (VECTOR_ELT(handles, slot) == R_NilValue) {
    SET_VECTOR_ELT(handles, slot,
                   make_element(output.op, kTensor, graph, output.index, "tensorflow.tensor",
                                "tensorflow.python.framework.ops.Tensor"));
    mark_as_s4(VECTOR_ELT(handles, slot));
  }
  return VECTOR_ELT(handles, slot);
}

SEXP operation_handle(Operation* op) {
  Rcpp::Shield<SEXP> graph(graph_handle(op->graph().shared_from_this()));
  SEXP handles = handles_of(*op);
  if (VECTOR_ELT(handles, 0) == R_NilValue) {
    SET_VECTOR_ELT(handles, 0,
                   make_element(op, kOperation, graph, 0, "tensorflow.operation",
                                "tensorflow.python.framework.ops.Operation"));
  }
  return VECTOR_ELT(handles, 0);
}

SEXP variable_handle(const VariablePtr& variable) {
  register_tensor_methods();
  Rcpp::Shield<SEXP> graph(graph_handle(variable->graph().shared_from_this()));
  SEXP handles = handles_of(*variable->handle.op);
  if (VECTOR_ELT(handles, 1) == R_NilValue) {
    Rcpp::Shield<SEXP> handle(make_handle(variable, kVariable));
    R_SetExternalPtrProtected(handle, graph);
    set_classes(handle, "tensorflow.variable", "tensorflow.python.ops.variables.Variable");
    mark_as_s4(handle);
    SET_VECTOR_ELT(handles, 1, handle);
  }
  return VECTOR_ELT(handles, 1);
}

bool is_tensor(SEXP x) { return is_handle(x, kTensor); }
bool is_operation(SEXP x) { return is_handle(x, kOperation); }
bool is_variable(SEXP x) { return is_handle(x, kVariable); }

Output tensor_of(SEXP x) {
  auto* op = static_cast<Operation*>(handle_address(x, kTensor));
  return Output(op, INTEGER(CDR(R_ExternalPtrProtected(x)))[0]);
}

SEXP tensors_to_r(const std::vector<Output>& outputs) { return list_to_r(outputs, tensor_handle); }

std::vector<Output> tensors_from_r(SEXP list, const char* label) {
  std::vector<Output> tensors;
  const RList handles(list, label);
  for (R_xlen_t i = 0; i < handles.size(); ++i) tensors.push_back(tensor_of(handles[i]));
  return tensors;
}

Operation* operation_of(SEXP x) { return static_cast<Operation*>(handle_address(x, kOperation)); }

VariablePtr variable_of(SEXP x) { return from_handle<Variable>(x, kVariable); }

}  // namespace r
}  // namespace runhooks

using namespace runhooks;
using namespace runhooks::r;

// [[Rcpp::export(rng = false)]]
SEXP cpp_graph_new() {
  return guarded_entry([&] { return graph_handle(std::make_shared<Graph>()); });
}

// [[Rcpp::export(rng = false)]]
std::string cpp_graph_unique_name(SEXP graph, Text name, bool mark_as_used) {
  return guarded_entry([&] { return graph_of(graph)->unique_name(name, mark_as_used); });
}

namespace {

SEXP collection_to_r(const std::vector<CollectionItem>& items) {
  return list_to_r(items, item_to_r);
}

}  // namespace

// Caches the results, because hooks request the same collection in every step. The cache is a
// pairlist that the graph's external pointer protects.
// [[Rcpp::export(rng = false)]]
SEXP cpp_graph_get_collection(SEXP graph, SEXP name, SEXP scope) {
  return guarded_entry([&]() -> SEXP {
    const auto& target = from_handle<Graph>(graph, kGraph);
    if (scope != R_NilValue || TYPEOF(name) != STRSXP || Rf_xlength(name) != 1) {
      const std::string prefix = scope == R_NilValue ? "" : string_from_r(scope);
      return collection_to_r(target->collection(string_from_r(name), prefix));
    }
    GraphBinding& binding = binding_of(*target);
    if (binding.collections_version != target->collections_version()) {
      SET_VECTOR_ELT(preserved_of(*target), kCollections, R_NilValue);
      binding.collections_version = target->collections_version();
    }
    for (SEXP cell = VECTOR_ELT(preserved_of(*target), kCollections); cell != R_NilValue;
         cell = CDR(cell)) {
      if (STRING_ELT(TAG(cell), 0) == STRING_ELT(name, 0)) return CAR(cell);
    }
    Rcpp::Shield<SEXP> list(collection_to_r(target->collection(string_from_r(name))));
    MARK_NOT_MUTABLE(list);
    Rcpp::Shield<SEXP> cell(Rf_cons(list, VECTOR_ELT(preserved_of(*target), kCollections)));
    SET_TAG(cell, name);
    SET_VECTOR_ELT(preserved_of(*target), kCollections, cell);
    return list;
  });
}

// [[Rcpp::export(rng = false)]]
void cpp_graph_add_to_collection(SEXP graph, Text name, SEXP value) {
  guarded_entry([&] {
    auto target = graph_of(graph);
    if (is_tensor(value))
      target->add_to_collection(name, tensor_of(value));
    else if (is_operation(value))
      target->add_to_collection(name, operation_of(value));
    else if (is_variable(value))
      target->add_to_collection(name, variable_of(value));
    else if (is_saver(value))
      target->add_to_collection(name, std::shared_ptr<void>(saver_of(value)));
    else if (const SaveablePtr saveable = saveable_of(value))
      target->add_to_collection(name, saveable);
    else
      target->add_to_collection(name, string_from_r(value));
  });
}

// [[Rcpp::export(rng = false)]]
SEXP cpp_graph_collection_names(SEXP graph) {
  return guarded_entry([&]() -> SEXP { return Rcpp::wrap(graph_of(graph)->collection_names()); });
}

// [[Rcpp::export(rng = false)]]
SEXP cpp_graph_get_tensor(SEXP graph, Text name) {
  return guarded_entry([&] { return tensor_handle(graph_of(graph)->tensor(name)); });
}

// [[Rcpp::export(rng = false)]]
SEXP cpp_graph_get_operation(SEXP graph, Text name) {
  return guarded_entry([&] { return operation_handle(graph_of(graph)->operation(name)); });
}

// [[Rcpp::export(rng = false)]]
SEXP cpp_graph_get_operations(SEXP graph) {
  return guarded_entry([&]() -> SEXP {
    return list_to_r(graph_of(graph)->operations(),
                     [](const auto& op) { return operation_handle(op.get()); });
  });
}

// [[Rcpp::export(rng = false)]]
void cpp_graph_finalize(SEXP graph) {
  guarded_entry([&] { graph_of(graph)->finalize(); });
}

// [[Rcpp::export(rng = false)]]
bool cpp_graph_is_finalized(SEXP graph) {
  return guarded_entry([&] { return graph_of(graph)->finalized(); });
}

// [[Rcpp::export(rng = false)]]
SEXP cpp_graph_seed(SEXP graph, SEXP seed) {
  return guarded_entry([&]() -> SEXP {
    auto target = graph_of(graph);
    if (seed != R_NilValue) target->set_seed(whole_from_r(seed, "the seed"));
    if (!target->has_seed()) return R_NilValue;
    return Rf_ScalarReal(static_cast<double>(target->seed()));
  });
}

namespace {

bool is_list_arg(const ArgDef& arg) {
  return !arg.number_attr.empty() || !arg.type_list_attr.empty();
}

// Returns the declared argument of input i. A list argument takes all inputs except those of later
// arguments. If all arguments are lists of the same length, each takes an equal number of inputs.
const ArgDef& arg_of_input(const OpDef& def, size_t i, size_t num_inputs) {
  const std::string number = def.inputs.empty() ? "" : def.inputs[0].number_attr;
  const bool are_equal_lists =
      !number.empty() && num_inputs % def.inputs.size() == 0 &&
      std::all_of(def.inputs.begin(), def.inputs.end(),
                  [&](const ArgDef& arg) { return arg.number_attr == number; });
  if (are_equal_lists) return def.inputs[i / (num_inputs / def.inputs.size())];
  for (size_t a = 0; a < def.inputs.size(); ++a) {
    if (!is_list_arg(def.inputs[a])) {
      if (i == a) return def.inputs[a];
      continue;
    }
    const size_t after = def.inputs.size() - a - 1;
    return i < num_inputs - after ? def.inputs[a]
                                  : def.inputs[def.inputs.size() - (num_inputs - i)];
  }
  invalid_argument("Op '", def.type, "' takes ", def.inputs.size(), " inputs; got ", num_inputs,
                   ".");
}

// Returns the default type of an integer input, such as an axis or a shape; otherwise kInvalid. R
// passes such numbers as doubles.
DType default_integer_dtype(const OpDef& def, const ArgDef& arg) {
  const AttrDef* attr = arg.type_attr.empty() ? nullptr : def.find_attr(arg.type_attr);
  const auto* dtype = attr ? std::get_if<DType>(&attr->default_value) : nullptr;
  return dtype && is_integer(*dtype) ? *dtype : DType::kInvalid;
}

// Returns float32 for doubles without dimensions and for doubles with the attribute "is_plain".
// Otherwise returns the type that np_array() has declared, or kInvalid.
DType default_input_dtype(SEXP x) {
  if (holds_integer64(x)) return DType::kInt64;
  const bool is_plain = Rf_getAttrib(x, R_DimSymbol) == R_NilValue ||
                        Rf_getAttrib(x, Rf_install("is_plain")) != R_NilValue;
  return TYPEOF(x) == REALSXP && is_plain ? DType::kFloat32 : declared_dtype(x);
}

Output input_from_r(SEXP x,
                    Graph& graph,
                    const OpDef& def,
                    const ArgDef& arg,
                    const std::map<std::string, DType>& types) {
  if (is_tensor(x)) return tensor_of(x);
  if (is_variable(x)) {
    const bool by_handle = arg.is_ref || arg.dtype == DType::kResource;
    return by_handle ? variable_of(x)->handle : variable_value(graph, *variable_of(x));
  }
  DType input_dtype = arg.dtype;
  const auto type_of_attr = types.find(arg.type_attr);
  if (!arg.type_attr.empty() && type_of_attr != types.end()) input_dtype = type_of_attr->second;
  if (input_dtype == DType::kInvalid && TYPEOF(x) == REALSXP)
    input_dtype = default_integer_dtype(def, arg);
  if (input_dtype == DType::kInvalid) input_dtype = default_input_dtype(x);
  const Tensor value = tensor_from_r(x, input_dtype);
  // R has no scalars: a single number becomes a vector if the op requires a vector.
  const bool is_vector = value.shape().rank() == 0 && arg.min_rank == 1;
  return graph.constant(is_vector ? value.reshaped(Shape{1}) : value);
}

double number_at(SEXP x, R_xlen_t i, const std::string& label) {
  if (holds_integer64(x)) return static_cast<double>(integer64_at(x, i));
  if (TYPEOF(x) == REALSXP) return REAL(x)[i];
  if (TYPEOF(x) == INTSXP || TYPEOF(x) == LGLSXP) return INTEGER(x)[i];
  return number_from_r(RList(x, label.c_str())[i], label.c_str());
}

AttrValue attr_from_r(const OpDef& def, const AttrDef& attr, SEXP x) {
  if (attr.type == "bool") return number_from_r(x, attr.name.c_str()) != 0;
  // R passes integers beyond 2^53 as text.
  if (attr.type == "int" && TYPEOF(x) == STRSXP) {
    return static_cast<int64_t>(std::strtoull(string_from_r(x).c_str(), nullptr, 10));
  }
  if (attr.type == "int") return whole_from_r(x, attr.name.c_str());
  if (attr.type == "list(int)" || attr.type == "list(float)") {
    std::vector<int64_t> integers;
    std::vector<float> numbers;
    for (R_xlen_t i = 0; i < Rf_xlength(x); ++i) {
      const double number = number_at(x, i, attr.name);
      numbers.push_back(static_cast<float>(number));
      if (attr.type == "list(int)") integers.push_back(whole_from_r(number, attr.name.c_str()));
    }
    if (attr.type == "list(int)") return integers;
    return numbers;
  }
  if (attr.type == "float") return static_cast<float>(number_from_r(x, attr.name.c_str()));
  if (attr.type == "string") return string_from_r(x);
  if (attr.type == "type") return dtype_from_r(x);
  if (attr.type == "shape") return shape_from_r(x);
  invalid_argument("Attribute '", attr.name, "' of '", def.type, "' cannot be set from R.");
}

}  // namespace

namespace runhooks {
namespace r {

AttrMap attrs_from_r(const OpDef& def, SEXP list) {
  AttrMap attrs;
  const RList attr_list(list, "the attributes of an op");
  for (R_xlen_t i = 0; i < attr_list.size(); ++i) {
    const std::string name = attr_list.name(i);
    const AttrDef* attr = def.find_attr(name);
    if (!attr) invalid_argument("Op '", def.type, "' has no attribute '", name, "'.");
    attrs.set(name, attr_from_r(def, *attr, attr_list[i]));
  }
  return attrs;
}

SEXP create_op_from_r(const OpDef& def, SEXP inputs, SEXP attrs, SEXP name) {
  std::shared_ptr<Graph> graph;
  std::map<std::string, DType> types;
  const RList input_list(inputs, "the inputs of an op");
  const auto n = static_cast<size_t>(input_list.size());
  for (size_t i = 0; i < n; ++i) {
    SEXP x = input_list[static_cast<R_xlen_t>(i)];
    if (!is_tensor(x) && !is_variable(x)) continue;
    const Output output = is_tensor(x) ? tensor_of(x) : variable_of(x)->snapshot;
    if (!graph) graph = graph_for(output.graph());
    types.emplace(arg_of_input(def, i, n).type_attr, output.dtype());
  }
  if (!graph) graph = default_graph();
  std::vector<Output> outputs;
  for (size_t i = 0; i < n; ++i) {
    SEXP x = input_list[static_cast<R_xlen_t>(i)];
    outputs.push_back(input_from_r(x, *graph, def, arg_of_input(def, i, n), types));
  }
  Operation* op = graph->create_op(def.type, outputs, attrs_from_r(def, attrs),
                                   name == R_NilValue ? "" : string_from_r(name));
  if (op->num_outputs() == 0) return operation_handle(op);
  if (op->num_outputs() == 1) return tensor_handle(op->output(0));
  Rcpp::List list(tensors_to_r(op->outputs()));
  // The outputs get the names in the op definition, unless one of its outputs is a list.
  Rcpp::CharacterVector names;
  if (def.outputs.size() != static_cast<size_t>(op->num_outputs())) return list;
  for (const ArgDef& output : def.outputs) names.push_back(output.name);
  list.names() = names;
  return list;
}

}  // namespace r
}  // namespace runhooks

// [[Rcpp::export(rng = false)]]
SEXP cpp_op_create(Text type, SEXP inputs, SEXP attrs, SEXP name) {
  return guarded_entry([&] { return create_op_from_r(find_op(type), inputs, attrs, name); });
}

// [[Rcpp::export(rng = false)]]
SEXP cpp_constant(SEXP value, SEXP dtype, SEXP name) {
  return guarded_entry([&]() -> SEXP {
    const DType requested = dtype == R_NilValue ? default_input_dtype(value) : dtype_from_r(dtype);
    const Tensor tensor = tensor_from_r(value, requested);
    return tensor_handle(default_graph()->constant(tensor, string_from_r(name)));
  });
}

// [[Rcpp::export(rng = false)]]
SEXP cpp_element_info(SEXP x) {
  return guarded_entry([&]() -> SEXP {
    if (is_operation(x)) {
      const Operation* op = operation_of(x);
      return Rcpp::List::create(Rcpp::_["name"] = op->name(), Rcpp::_["type"] = op->type());
    }
    const VariablePtr variable = is_variable(x) ? variable_of(x) : nullptr;
    const Output output = variable ? variable->handle : tensor_of(x);
    const Shape& shape = variable ? variable->shape : output.shape();
    const DType dtype = variable ? variable->dtype : output.dtype();
    Rcpp::Shield<SEXP> dims(shape_to_r(shape));
    return Rcpp::List::create(Rcpp::_["name"] = output.name(), Rcpp::_["dtype"] = dtype_name(dtype),
                              Rcpp::_["is_ref"] = output.is_ref(),
                              Rcpp::_["shape"] = shape.to_string(), Rcpp::_["dims"] = dims);
  });
}

// [[Rcpp::export(rng = false)]]
SEXP cpp_element_operation(SEXP x) {
  return guarded_entry([&] {
    return operation_handle(is_variable(x) ? variable_of(x)->handle.op : tensor_of(x).op);
  });
}

// [[Rcpp::export(rng = false)]]
SEXP cpp_element_graph(SEXP x) {
  return guarded_entry([&] {
    Operation* op = is_operation(x)
                        ? operation_of(x)
                        : (is_variable(x) ? variable_of(x)->handle.op : tensor_of(x).op);
    return graph_handle(op->graph().shared_from_this());
  });
}

// [[Rcpp::export(rng = false)]]
SEXP cpp_operation_outputs(SEXP x) {
  return guarded_entry([&]() -> SEXP { return tensors_to_r(operation_of(x)->outputs()); });
}

// [[Rcpp::export(rng = false)]]
SEXP cpp_variable_snapshot(SEXP x) {
  return guarded_entry([&] { return tensor_handle(variable_of(x)->snapshot); });
}

// Adds an operation that reads the variable after the current control dependencies.
// [[Rcpp::export(rng = false)]]
SEXP cpp_variable_read(SEXP x) {
  return guarded_entry([&]() -> SEXP {
    const VariablePtr variable = variable_of(x);
    const auto target = graph_for(variable->graph());
    if (!variable->is_resource) return tensor_handle(target->op("Identity", {variable->handle}));
    return tensor_handle(
        target->op("ReadVariableOp", {variable->handle}).attr("dtype", variable->dtype));
  });
}
