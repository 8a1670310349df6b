// Calls of ops and graph functions by their TensorFlow names, with the arguments that scripts use.
#include <algorithm>

#include "base/number_text.h"
#include "base/random.h"
#include "graph/graph_function.h"
#include "graph/indexed_slices.h"
#include "r/graph/graph_closure.h"
#include "r/graph/handles_of_graph.h"
#include "r/values/guarded_entry.h"
#include "r/values/handles.h"
#include "r/values/values.h"

using namespace runhooks;
using namespace runhooks::r;

namespace {

Graph* graph_of_value(const Value& value) {
  if (const auto* tensor = value.get_if<Output>()) return &tensor->graph();
  if (const auto* variable = value.get_if<VariablePtr>()) return &(*variable)->graph();
  if (const auto* list = value.get_if<std::shared_ptr<ValueList>>()) {
    for (const Value& element : **list) {
      if (Graph* graph = graph_of_value(element)) return graph;
    }
  }
  if (const Gradient* rows = indexed_slices_in(value)) return &rows->values.graph();
  return nullptr;
}

std::shared_ptr<Graph> graph_of_arguments(const Args& args) {
  for (const auto& item : args.items()) {
    if (Graph* graph = graph_of_value(item.second)) return graph_for(*graph);
  }
  return default_graph();
}

// Default seeds come from R's generator, so that set.seed() makes scripts reproducible.
uint64_t seed_from_r() {
  Rcpp::Shield<SEXP> largest(Rf_ScalarInteger(2147483647)), one(Rf_ScalarInteger(1));
  Rcpp::Shield<SEXP> seed(call_r_function(Rf_install("sample.int"), {largest, one}, R_BaseEnv));
  return static_cast<uint64_t>(Rf_asInteger(seed));
}

[[maybe_unused]] const bool seeds_are_from_r = (set_seed_source(seed_from_r), true);

// An op, or a function that adds several ops, with a name below `tf`.
struct Symbol {
  Signature signature;
  const OpDef* op = nullptr;
  const GraphFunctionDef* function = nullptr;
  const std::string& summary() const { return op ? op->summary : function->summary; }
};

const std::map<std::string, Symbol>& symbol_table() {
  static const auto* table = [] {
    auto* symbols = new std::map<std::string, Symbol>;
    auto add = [symbols](const Symbol& symbol) {
      for (const std::string& name : symbol.signature.endpoints) symbols->emplace(name, symbol);
    };
    for (const GraphFunctionDef& def : all_graph_functions()) add({def.signature, nullptr, &def});
    for (const auto& entry : all_ops()) {
      for (const Signature& signature : signatures_of(entry.second)) {
        add({signature, &entry.second, nullptr});
      }
    }
    return symbols;
  }();
  return *table;
}

// True if the R value equals the default in the signature.
bool is_default(SEXP x, const std::string& text) {
  if (text.empty()) return false;
  if (text == "NULL") return x == R_NilValue;
  if (text == "list()") return Rf_xlength(x) == 0;
  if (text == "TRUE" || text == "FALSE") {
    return TYPEOF(x) == LGLSXP && Rf_xlength(x) == 1 && LOGICAL(x)[0] == (text == "TRUE");
  }
  if (text[0] == '\'') {
    if (TYPEOF(x) == VECSXP && Rf_inherits(x, "tensorflow.dtype")) x = VECTOR_ELT(x, 0);
    if (TYPEOF(x) != STRSXP || Rf_xlength(x) != 1) return false;
    return str_cat("'", string_from_r(x), "'") == text;
  }
  const bool is_number = (TYPEOF(x) == REALSXP || TYPEOF(x) == INTSXP) && Rf_xlength(x) == 1;
  return is_number && Rf_asReal(x) == read_double(text.c_str(), nullptr);
}

struct BoundArgument {
  std::string name;
  SEXP value;
  bool is_default;
};
// Arguments in the order of the call, with the core's names.
using Bindings = std::vector<std::pair<std::string, BoundArgument>>;

// Maps arguments to the core's names. If two arguments are aliases of one name, the value that is
// not the default wins.
Bindings bind_arguments(const Signature& signature, SEXP argument_list, const std::string& owner) {
  Bindings bindings;
  const RList arguments(argument_list, "the arguments of a function");
  for (R_xlen_t i = 0; i < arguments.size(); ++i) {
    const std::string name = arguments.name(i);
    const ArgSpec* argument = signature.find(name);
    if (!argument) invalid_argument("Unused argument: ", owner, " has no `", name, "`.");
    SEXP x = arguments[i];
    if (x == R_MissingArg) invalid_argument("`", name, "` of ", owner, " is missing.");
    const BoundArgument bound{name, x, is_default(x, argument->fallback)};
    auto existing = std::find_if(bindings.begin(), bindings.end(), [&](const auto& other) {
      return other.first == argument->target;
    });
    if (existing == bindings.end()) {
      bindings.emplace_back(argument->target, bound);
    } else if (existing->second.is_default) {
      if (!bound.is_default) existing->second = bound;
    } else if (!bound.is_default) {
      invalid_argument("Give only one of `", existing->second.name, "` and `", name, "` to ", owner,
                       ".");
    }
  }
  return bindings;
}

SEXP call_function(const GraphFunctionDef& def, const Bindings& bindings, std::string owner) {
  auto args = std::make_shared<Args>(std::move(owner));
  std::vector<std::string> specified;
  const NewFunctions functions = collect_new_closures([&args, &bindings, &specified] {
    for (const auto& [target, bound] : bindings) {
      args->set(target, value_from_r(bound.value));
      if (!bound.is_default && bound.value != R_NilValue) specified.push_back(target);
    }
  });
  const auto graph = graph_of_arguments(*args);
  transfer_to(*graph, functions);
  return value_to_r(call_graph_function(def, *graph, *args, specified));
}

const BoundArgument* find_binding(const Bindings& bindings, const std::string& target) {
  for (const auto& [name, bound] : bindings) {
    if (name == target) return &bound;
  }
  return nullptr;
}

SEXP dense_input(SEXP x) {
  const Gradient rows = gradient_from_r(x);
  return tensor_handle(dense_gradient(*graph_for(rows.values.graph()), rows));
}

// Appends an argument to the inputs of an op, or its elements if the op expects a list of tensors.
void append_input(std::vector<Rcpp::RObject>& inputs,
                  const BoundArgument& argument,
                  bool is_list,
                  const std::string& owner) {
  SEXP x = argument.value;
  if (is_indexed_slices(x)) {
    inputs.emplace_back(dense_input(x));
    return;
  }
  const bool is_plain_list =
      TYPEOF(x) == VECSXP && (!Rf_isObject(x) || Rf_inherits(x, "tensorflow.shape"));
  if (!is_list && is_plain_list) {
    // A list where the op expects one tensor is a shape, or a list of tensors to stack.
    Rcpp::Shield<SEXP> value(call_internal("list_as_input", {x}));
    inputs.emplace_back(SEXP(value));
    return;
  }
  if (!is_list || is_tensor(x) || is_variable(x)) {
    inputs.emplace_back(x);
    return;
  }
  if (!Rf_isVector(x)) {
    invalid_argument("`", argument.name, "` of ", owner,
                     " must be a list of tensors, not an object of ", "type ",
                     Rf_type2char(TYPEOF(x)), ".");
  }
  Rcpp::Shield<SEXP> elements(call_r_function(Rf_install("as.list"), {x}, R_BaseEnv));
  for (R_xlen_t i = 0; i < Rf_xlength(elements); ++i) {
    SEXP element = VECTOR_ELT(elements, i);
    inputs.emplace_back(is_indexed_slices(element) ? dense_input(element) : element);
  }
}

// Computes tf.identity() of IndexedSlices, which is the identity of each of its tensors.
SEXP identity_of_slices(SEXP rows, const std::string& name) {
  Gradient copy = gradient_from_r(rows);
  const auto graph = graph_for(copy.values.graph());
  for (Output* component : {&copy.values, &copy.indices, &copy.dense_shape}) {
    if (*component) *component = graph->op("Identity", {*component}).named(name);
  }
  return gradient_to_r(copy);
}

SEXP call_op(const OpDef& def, const Bindings& bindings, const std::string& owner) {
  const BoundArgument* first =
      def.is_identity ? find_binding(bindings, def.inputs[0].name) : nullptr;
  if (first && is_indexed_slices(first->value)) {
    const BoundArgument* name = find_binding(bindings, "name");
    const bool is_named = name && name->value != R_NilValue;
    return identity_of_slices(first->value, is_named ? string_from_r(name->value) : "");
  }
  std::vector<Rcpp::RObject> inputs;
  Rcpp::List attrs;
  Rcpp::CharacterVector attr_names;
  for (const ArgDef& input : def.inputs) {
    const BoundArgument* bound = find_binding(bindings, input.name);
    if (!bound || bound->value == R_NilValue) {
      invalid_argument("`", bound ? bound->name : input.name, "` of ", owner, " is missing.");
    }
    const bool is_list = !input.number_attr.empty() || !input.type_list_attr.empty();
    append_input(inputs, *bound, is_list, owner);
  }
  SEXP name = R_NilValue;
  for (const auto& [target, bound] : bindings) {
    // The explicit capture is needed, because clang cannot capture a structured binding.
    const auto has_target_name = [&target_name = target](const ArgDef& arg) {
      return arg.name == target_name;
    };
    const bool is_input = std::any_of(def.inputs.begin(), def.inputs.end(), has_target_name);
    if (is_input || bound.value == R_NilValue) continue;
    if (target == "name") {
      name = bound.value;
    } else if (def.find_attr(target)) {
      attrs.push_back(bound.value);
      attr_names.push_back(target);
    } else if (!bound.is_default) {
      throw Error(Code::kUnimplemented,
                  str_cat("Unused argument: `", bound.name, "` of ", owner, " is not supported."),
                  {"Leave it at its default."});
    }
  }
  attrs.names() = attr_names;
  return create_op_from_r(def, Rcpp::List(inputs.begin(), inputs.end()), attrs, name);
}

}  // namespace

// Calls the op or function `endpoint`. `given` is a list of arguments with TensorFlow's names.
// [[Rcpp::export(rng = false)]]
SEXP cpp_tf_call(Text endpoint, SEXP given) {
  return guarded_entry([&]() -> SEXP {
    const auto found = symbol_table().find(endpoint);
    if (found == symbol_table().end())
      fail(Code::kNotFound, "TensorFlow function '", endpoint, "' is not available.");
    const Symbol& symbol = found->second;
    std::string owner = "tf$" + endpoint + "()";
    for (char& letter : owner) letter = letter == '.' ? '$' : letter;
    const Bindings bindings = bind_arguments(symbol.signature, given, owner);
    if (symbol.op) return call_op(*symbol.op, bindings, owner);
    return call_function(*symbol.function, bindings, owner);
  });
}

// Returns the signatures of all endpoints below `tf` as R code: "x, name = NULL".
// [[Rcpp::export(rng = false)]]
SEXP cpp_tf_symbols() {
  return guarded_entry([&]() -> SEXP {
    std::vector<std::string> names, arguments, summaries;
    for (const auto& [name, symbol] : symbol_table()) {
      if (name[0] == '_') continue;
      std::vector<std::string> parameters;
      for (const ArgSpec& argument : symbol.signature.arguments) {
        const bool has_default = !argument.fallback.empty();
        // Names with a leading underscore need backticks in R.
        const bool is_quoted = argument.name[0] == '_';
        const std::string quoted_name = is_quoted ? "`" + argument.name + "`" : argument.name;
        parameters.push_back(quoted_name + (has_default ? " = " + argument.fallback : ""));
      }
      names.push_back(name);
      arguments.push_back(str_join(parameters, ", "));
      summaries.push_back(symbol.summary());
    }
    return Rcpp::DataFrame::create(Rcpp::_["name"] = names, Rcpp::_["arguments"] = arguments,
                                   Rcpp::_["summary"] = summaries,
                                   Rcpp::_["stringsAsFactors"] = false);
  });
}
