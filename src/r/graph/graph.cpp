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

// The R side of a graph. The weak reference finds the R object while R refers to it.
struct GraphBinding {
  SEXP weak_ref = R_NilValue;
  SEXP pointer = R_NilValue;     // in the R object
  int collections_version = -1;  // of the cached collections
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

// Elements of the list that a graph's pointer protects, so that R's collector finds them: handles
// by operation, collections, the outer graph of a FuncGraph, and a pairlist of functions.
enum Kept { kHandles, kCollections, kOuter, kFunctions, kNumPreserved };

SEXP preserved_of(const Graph& graph) { return R_ExternalPtrProtected(binding_of(graph).pointer); }

// The handles of an operation: a list of operation, variable, output 0, output 1, ...
SEXP handles_of(const Operation& op) {
  SEXP all = VECTOR_ELT(preserved_of(op.graph()), kHandles);
  const R_xlen_t id = op.id();
  if (Rf_xlength(all) <= id) {
    Rcpp::Shield<SEXP> larger(allocate_vector(VECSXP, 2 * id + 64));
    for (R_xlen_t i = 0; i < Rf_xlength(all); ++i) SET_VECTOR_ELT(larger, i, VECTOR_ELT(all, i));
    SET_VECTOR_ELT(preserved_of(op.graph()), kHandles, larger);
    all = larger;
  }
  if (VECTOR_ELT(all, id) == R_NilValue) {
    SET_VECTOR_ELT(all, id, allocate_vector(VECSXP, op.num_outputs() + 2));
  }
  return VECTOR_ELT(all, id);
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
  // the only other type of item
  return saver_handle(std::static_pointer_cast<Saver>(std::get<std::shared_ptr<void>>(item)));
}

// Graphs since the last collection, in quarters: a small graph counts as one.
constexpr int kFullGraph = 4, kSmallGraph = 1;
int graphs_since_collection = 0;
bool is_watching_collection = false;

void watch_collection() {
  if (is_watching_collection) return;
  is_watching_collection = true;
  on_next_gc([] {
    graphs_since_collection = 0;
    is_watching_collection = false;
  });
}

// A minor collection: a full one takes longer than many calls. R may still decide to run one.
void collect_minor() {
  Rcpp::Shield<SEXP> call(Rf_lang2(Rf_install("gc"), Rf_ScalarLogical(FALSE)));
  SET_TAG(CDR(call), Rf_install("full"));
  eval_r(call, R_BaseEnv);
}

// R's collector does not know the memory of graphs. Triggers a minor collection after a number of
// graphs, and a full one after the process has allocated much memory.
void collect_if_needed() {
  constexpr int kMaxGraphs = 32 * kFullGraph;
  constexpr uint64_t kBytes = uint64_t{256} << 20;
  static uint64_t taken_before = 0;
  watch_collection();
  graphs_since_collection += kFullGraph;
  const bool takes_much = memory_taken() >= taken_before + kBytes;
  if (!takes_much && graphs_since_collection < kMaxGraphs) return;
  graphs_since_collection = 0;
  if (takes_much) {
    R_gc();
    taken_before = memory_taken();
  } else {
    collect_minor();
  }
}

}  // namespace

void count_small_graph() {
  graphs_since_collection = std::max(0, graphs_since_collection - (kFullGraph - kSmallGraph));
}

SEXP graph_handle(const std::shared_ptr<Graph>& graph) {
  if (graph->foreign) {
    SEXP known = key_of(binding_of(*graph).weak_ref);
    if (known != R_NilValue) return known;
  }
  collect_if_needed();
  Rcpp::Shield<SEXP> pointer(make_handle(graph, kGraph));
  Rcpp::Shield<SEXP> closures(allocate_vector(VECSXP, kNumPreserved));
  SET_VECTOR_ELT(closures, kHandles, allocate_vector(VECSXP, graph->version() + 64));
  if (auto* function = dynamic_cast<FuncGraph*>(graph.get())) {
    SET_VECTOR_ELT(closures, kOuter, graph_handle(function->outer().shared_from_this()));
  }
  R_SetExternalPtrProtected(pointer, closures);
  Rcpp::Shield<SEXP> call(Rf_lang2(Rf_install("new_graph"), pointer));
  Rcpp::Shield<SEXP> object(eval_r(call, package_namespace()));
  auto made = std::make_shared<GraphBinding>();
  made->weak_ref = R_MakeWeakRef(object, R_NilValue, R_NilValue, FALSE);
  R_PreserveObject(made->weak_ref);
  made->pointer = pointer;
  if (graph->foreign) {
    made->sessions = binding_of(*graph).sessions;
    made->closures = std::move(binding_of(*graph).closures);
  }
  graph->foreign = made;
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
  const R_xlen_t place = output.index + 2;
  if (VECTOR_ELT(handles, place) == R_NilValue) {
    SET_VECTOR_ELT(handles, place,
                   make_element(output.op, kTensor, graph, output.index, "tensorflow.tensor",
                                "tensorflow.python.framework.ops.Tensor"));
    mark_as_s4(VECTOR_ELT(handles, place));
  }
  return VECTOR_ELT(handles, place);
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

std::vector<Output> outputs_of(Operation& op) {
  std::vector<Output> outputs;
  for (int i = 0; i < op.num_outputs(); ++i) outputs.push_back(op.output(i));
  return outputs;
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

// Hooks request the same collection in every step, so a pairlist in the pointer caches the result.
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

// A list argument takes all inputs except those of later arguments. Lists of one length share them.
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

// The default type of an integer input, such as an axis or a shape: numbers in R are doubles.
DType whole_default(const OpDef& def, const ArgDef& arg) {
  const AttrDef* attr = arg.type_attr.empty() ? nullptr : def.find_attr(arg.type_attr);
  const auto* dtype = attr ? std::get_if<DType>(&attr->default_value) : nullptr;
  return dtype && is_integer(*dtype) ? *dtype : DType::kInvalid;
}

// float32 for doubles without dimensions or with "is_plain", else the declared type or kInvalid.
DType natural_type(SEXP x) {
  if (holds_integer64(x)) return DType::kInt64;
  const bool is_plain = Rf_getAttrib(x, R_DimSymbol) == R_NilValue ||
                        Rf_getAttrib(x, Rf_install("is_plain")) != R_NilValue;
  return TYPEOF(x) == REALSXP && is_plain ? DType::kFloat32 : own_dtype(x);
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
  DType wanted = arg.dtype;
  const auto known = types.find(arg.type_attr);
  if (!arg.type_attr.empty() && known != types.end()) wanted = known->second;
  if (wanted == DType::kInvalid && TYPEOF(x) == REALSXP) wanted = whole_default(def, arg);
  if (wanted == DType::kInvalid) wanted = natural_type(x);
  const Tensor value = tensor_from_r(x, wanted);
  // R has no scalars; a single number becomes a vector if the op requires one.
  const bool is_vector = value.shape().rank() == 0 && arg.min_rank == 1;
  return graph.constant(is_vector ? value.reshaped(Shape{1}) : value);
}

double number_at(SEXP x, R_xlen_t i, const std::string& what) {
  if (holds_integer64(x)) return static_cast<double>(integer64_at(x, i));
  if (TYPEOF(x) == REALSXP) return REAL(x)[i];
  if (TYPEOF(x) == INTSXP || TYPEOF(x) == LGLSXP) return INTEGER(x)[i];
  return number_from_r(RList(x, what.c_str())[i], what.c_str());
}

AttrValue attr_from_r(const OpDef& def, const AttrDef& attr, SEXP x) {
  if (attr.type == "bool") return number_from_r(x, attr.name.c_str()) != 0;
  // Integers beyond 2^53 come as text.
  if (attr.type == "int" && TYPEOF(x) == STRSXP) {
    return static_cast<int64_t>(std::strtoull(string_from_r(x).c_str(), nullptr, 10));
  }
  if (attr.type == "int") return whole_from_r(x, attr.name.c_str());
  if (attr.type == "list(int)" || attr.type == "list(float)") {
    std::vector<int64_t> whole;
    std::vector<float> numbers;
    for (R_xlen_t i = 0; i < Rf_xlength(x); ++i) {
      const double number = number_at(x, i, attr.name);
      numbers.push_back(static_cast<float>(number));
      if (attr.type == "list(int)") whole.push_back(whole_from_r(number, attr.name.c_str()));
    }
    if (attr.type == "list(int)") return whole;
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
  const RList given(list, "the attributes of an op");
  for (R_xlen_t i = 0; i < given.size(); ++i) {
    const std::string name = given.name(i);
    const AttrDef* attr = def.find_attr(name);
    if (!attr) invalid_argument("Op '", def.type, "' has no attribute '", name, "'.");
    attrs.set(name, attr_from_r(def, *attr, given[i]));
  }
  return attrs;
}

SEXP create_op_from_r(const OpDef& def, SEXP inputs, SEXP attrs, SEXP name) {
  std::shared_ptr<Graph> graph;
  std::map<std::string, DType> types;
  const RList given(inputs, "the inputs of an op");
  const auto n = static_cast<size_t>(given.size());
  for (size_t i = 0; i < n; ++i) {
    SEXP x = given[static_cast<R_xlen_t>(i)];
    if (!is_tensor(x) && !is_variable(x)) continue;
    const Output output = is_tensor(x) ? tensor_of(x) : variable_of(x)->snapshot;
    if (!graph) graph = graph_for(output.graph());
    types.emplace(arg_of_input(def, i, n).type_attr, output.dtype());
  }
  if (!graph) graph = default_graph();
  std::vector<Output> outputs;
  for (size_t i = 0; i < n; ++i) {
    SEXP x = given[static_cast<R_xlen_t>(i)];
    outputs.push_back(input_from_r(x, *graph, def, arg_of_input(def, i, n), types));
  }
  Operation* op = graph->create_op(def.type, outputs, attrs_from_r(def, attrs),
                                   name == R_NilValue ? "" : string_from_r(name));
  if (op->num_outputs() == 0) return operation_handle(op);
  if (op->num_outputs() == 1) return tensor_handle(op->output(0));
  Rcpp::List list(tensors_to_r(outputs_of(*op)));
  Rcpp::CharacterVector names;  // of the op definition, unless one of its outputs is a list
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
    const DType wanted = dtype == R_NilValue ? natural_type(value) : dtype_from_r(dtype);
    const Tensor tensor = tensor_from_r(value, wanted);
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
  return guarded_entry([&]() -> SEXP {
    return tensors_to_r(outputs_of(*operation_of(x)));
  });
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
