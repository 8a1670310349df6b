#include "r/loop/session.h"

#include "graph/endpoints.h"
#include "r/graph/graph_closure.h"
#include "r/graph/handles_of_graph.h"
#include "r/values/guarded_entry.h"
#include "r/values/handles.h"
#include "r/values/nesting.h"
#include "r/values/values.h"

namespace runhooks {
namespace r {

namespace {

// R objects of a loop's session and coordinator. Their external pointers are cleared when the
// session is destroyed. A session that R owns has no binding.
struct SessionBinding {
  Preserved object, pointer, coordinator, coordinator_pointer;
  ~SessionBinding() {
    for (SEXP external_pointer : {pointer.get(), coordinator_pointer.get()}) {
      if (external_pointer != R_NilValue) R_ClearExternalPtr(external_pointer);
    }
  }
};

Fetch fetch_by_name(const std::string& name, Graph& graph) {
  const auto element = graph.element(name);
  if (const auto* output = std::get_if<Output>(&element)) return *output;
  return std::get<Operation*>(element);
}

// Whether the tensor is a serialized summary. Ops that compute one have an output named "summary".
bool is_message(const Fetch& fetch) {
  if (!fetch.is_tensor()) return false;
  const std::vector<ArgDef>& outputs = fetch.op->def().outputs;
  return outputs.size() == 1 && outputs[0].name == "summary" && outputs[0].dtype == DType::kString;
}

Session& session_of(SEXP pointer) {
  return *static_cast<Session*>(handle_address(pointer, kSession));
}

}  // namespace

FetchTree::FetchTree(SEXP structure, Graph& graph) : structure_(structure) {
  root_ = parse(structure, graph);
}

FetchTree::Node FetchTree::leaf(SEXP source, const Fetch& fetch) {
  Node node;
  node.source = source;
  node.fetch = fetches_.size();
  node.is_bytes = is_message(fetch);
  fetches_.push_back(fetch);
  return node;
}

// Looks up a name. It names an endpoint of the model, which may have several tensors, or a tensor
// or operation of the graph.
FetchTree::Node FetchTree::named(SEXP name, Graph& graph) {
  const EndpointTensors& ends = endpoint(graph, utf8_of(name));
  if (ends.empty()) return leaf(name, fetch_by_name(utf8_of(name), graph));
  if (ends.size() == 1) return leaf(name, ends.front().second);
  Node node;
  node.is_leaf = false;
  node.is_name = true;
  node.source = name;
  const auto n = static_cast<R_xlen_t>(ends.size());
  Rcpp::Shield<SEXP> names(allocate_vector(STRSXP, n));
  node.template_list.reset(allocate_vector(VECSXP, n));
  for (R_xlen_t i = 0; i < n; ++i) {
    const auto& end = ends[static_cast<size_t>(i)];
    SET_STRING_ELT(names, i, utf8_element(end.first));
    node.children.push_back(leaf(R_NilValue, end.second));
  }
  Rf_setAttrib(node.template_list.get(), R_NamesSymbol, names);
  return node;
}

FetchTree::Node FetchTree::parse(SEXP x, Graph& graph) {
  if (is_tensor(x)) return leaf(x, tensor_of(x));
  if (is_operation(x)) return leaf(x, operation_of(x));
  if (is_variable(x)) return leaf(x, variable_of(x)->snapshot);
  if (TYPEOF(x) == STRSXP && Rf_xlength(x) == 1) {
    return named(STRING_ELT(x, 0), graph);
  }
  if (TYPEOF(x) != VECSXP && TYPEOF(x) != STRSXP) {
    throw Error(Code::kInvalidArgument, str_cat("A fetch cannot be ", kind_in_words(x), "."),
                {"Fetch a tensor, an operation, a variable, the name of one, or a list of these."});
  }
  const NestedList inside;
  Node node;
  node.is_leaf = false;
  node.source = x;
  node.names = Rf_getAttrib(x, R_NamesSymbol);
  node.template_list.reset(allocate_vector(VECSXP, Rf_xlength(x)));
  if (node.names != R_NilValue) Rf_setAttrib(node.template_list.get(), R_NamesSymbol, node.names);
  for (R_xlen_t i = 0; i < Rf_xlength(x); ++i) {
    if (TYPEOF(x) == STRSXP) {
      node.children.push_back(named(STRING_ELT(x, i), graph));
    } else {
      node.children.push_back(parse(VECTOR_ELT(x, i), graph));
    }
  }
  return node;
}

bool FetchTree::matches(SEXP structure) const { return node_matches(root_, structure); }

// Compares handles and strings by address, because R has one object for each handle and string.
bool FetchTree::node_matches(const Node& node, SEXP x) {
  if (node.source == x) return true;
  if (node.is_leaf || node.is_name)
    return TYPEOF(x) == STRSXP && Rf_xlength(x) == 1 && STRING_ELT(x, 0) == node.source;
  if (TYPEOF(x) != TYPEOF(node.source)) return false;
  if (Rf_xlength(x) != static_cast<R_xlen_t>(node.children.size())) return false;
  SEXP names = Rf_getAttrib(x, R_NamesSymbol);
  if ((names == R_NilValue) != (node.names == R_NilValue)) return false;
  for (size_t i = 0; i < node.children.size(); ++i) {
    const auto k = static_cast<R_xlen_t>(i);
    if (names != R_NilValue && STRING_ELT(names, k) != STRING_ELT(node.names, k)) return false;
    if (TYPEOF(x) == STRSXP) {
      if (STRING_ELT(x, k) != node.children[i].source) return false;
    } else if (!node_matches(node.children[i], VECTOR_ELT(x, k))) {
      return false;
    }
  }
  return true;
}

SEXP FetchTree::node_to_r(const Node& node, const Lookup& result) {
  if (node.is_leaf) return tensor_to_r(result(node.fetch), node.is_bytes);
  Rcpp::Shield<SEXP> list(Rf_shallow_duplicate(node.template_list.get()));
  for (size_t i = 0; i < node.children.size(); ++i) {
    SET_VECTOR_ELT(list, static_cast<R_xlen_t>(i), node_to_r(node.children[i], result));
  }
  return list;
}

Feeds feeds_from_r(SEXP feed_dict, Graph& graph) {
  Feeds feeds;
  if (feed_dict == R_NilValue) return feeds;
  auto add = [&](const Output& key, SEXP value) {
    if (is_tensor(value)) {
      invalid_argument("The value fed for '", key.name(), "' cannot be a tensor of the graph.");
    }
    feeds.emplace_back(key, tensor_from_r(value, key.dtype()));
  };
  if (TYPEOF(feed_dict) != VECSXP) {
    invalid_argument("`feed_dict` must be a named list or a value of dict(), not ",
                     kind_in_words(feed_dict), ".");
  }
  Rcpp::Shield<SEXP> keys(Rf_getAttrib(feed_dict, Rf_install("keys")));
  Rcpp::Shield<SEXP> names(Rf_getAttrib(feed_dict, R_NamesSymbol));
  const bool has_keys = TYPEOF(keys) == VECSXP && Rf_xlength(keys) == Rf_xlength(feed_dict);
  for (R_xlen_t i = 0; i < Rf_xlength(feed_dict); ++i) {
    SEXP key = has_keys ? VECTOR_ELT(keys, i) : R_NilValue;
    if (is_tensor(key)) {
      add(tensor_of(key), VECTOR_ELT(feed_dict, i));
      continue;
    }
    if (names == R_NilValue)
      invalid_argument("Every element of `feed_dict` must be named after a tensor.");
    const std::string name = utf8_of(STRING_ELT(names, i));
    add(graph.tensor(name.find(':') == std::string::npos ? name + ":0" : name),
        VECTOR_ELT(feed_dict, i));
  }
  return feeds;
}

SEXP new_session_object(SEXP pointer, const Session& session) {
  Rcpp::Shield<SEXP> graph(graph_handle(session.graph_ptr()));
  return call_internal("new_session", {pointer, graph});
}

SEXP session_handle(Session& session) {
  if (auto* binding = static_cast<SessionBinding*>(session.foreign.get()))
    return binding->object.get();
  auto binding = std::make_shared<SessionBinding>();
  Rcpp::Shield<SEXP> pointer(R_MakeExternalPtr(&session, kSession.tag(), R_NilValue));
  Rcpp::Shield<SEXP> object(new_session_object(pointer, session));
  binding->object.reset(object);
  binding->pointer.reset(pointer);
  session.foreign = binding;
  return object;
}

SEXP coordinator_handle(Coordinator& coordinator, Session& session) {
  session_handle(session);
  auto& binding = *static_cast<SessionBinding*>(session.foreign.get());
  if (binding.coordinator.get() == R_NilValue) {
    Rcpp::Shield<SEXP> pointer(R_MakeExternalPtr(&coordinator, kCoordinator.tag(), R_NilValue));
    Rcpp::Shield<SEXP> object(call_internal("new_coordinator", {pointer}));
    binding.coordinator_pointer.reset(pointer);
    binding.coordinator.reset(object);
  }
  return binding.coordinator.get();
}

enum RequestElement { kFetches, kFeedDict, kOptions };

SEXP run_args_to_r(SEXP fetches, SEXP feed_dict, SEXP options) {
  static SEXP template_list = R_NilValue;
  if (template_list == R_NilValue) {
    template_list = named_list({"fetches", "feed_dict", "options"});
    R_PreserveObject(template_list);
    Rcpp::Shield<SEXP> classes(text_to_r("session_run_args"));
    Rf_setAttrib(template_list, R_ClassSymbol, classes);
  }
  Rcpp::Shield<SEXP> list(Rf_shallow_duplicate(template_list));
  SET_VECTOR_ELT(list, kFetches, fetches);
  SET_VECTOR_ELT(list, kFeedDict, feed_dict);
  SET_VECTOR_ELT(list, kOptions, options);
  return list;
}

bool is_request(SEXP x) {
  return TYPEOF(x) == VECSXP && Rf_xlength(x) == 3 && Rf_inherits(x, "session_run_args");
}

RunOptions run_options_from_r(SEXP options) {
  RunOptions run_options;
  if (options == R_NilValue) return run_options;
  const auto args = args_from_r(options, "run options");
  for (const auto& item : args->items()) {
    if (item.first != "trace_level" && item.first != "timeout_in_ms") {
      invalid_argument("Run options have no `", item.first, "`; use `trace_level` or `",
                       "timeout_in_ms`.");
    }
  }
  run_options.trace_level = static_cast<int>(args->integer("trace_level", 0));
  run_options.timeout_in_ms = args->integer("timeout_in_ms", 0);
  if (run_options.trace_level < RunOptions::kNoTrace ||
      run_options.trace_level > RunOptions::kFullTrace) {
    invalid_argument("`trace_level` must be 0 (NO_TRACE) to 3 (FULL_TRACE), not ",
                     run_options.trace_level, ".");
  }
  if (run_options.timeout_in_ms < 0) {
    invalid_argument("`timeout_in_ms` must be 0 (none) or more, not ", run_options.timeout_in_ms,
                     ".");
  }
  return run_options;
}

SEXP run_options_to_r(const RunOptions& options) {
  Rcpp::Shield<SEXP> level(Rf_ScalarInteger(options.trace_level));
  Rcpp::Shield<SEXP> timeout(Rf_ScalarReal(static_cast<double>(options.timeout_in_ms)));
  return call_internal("run_options", {level, timeout});
}

SEXP step_stats_to_r(const StepStats& stats) {
  const auto n = static_cast<R_xlen_t>(stats.nodes.size());
  Rcpp::CharacterVector names(n), ops(n);
  Rcpp::NumericVector start(n), micros(n), bytes(n);
  for (R_xlen_t i = 0; i < n; ++i) {
    const NodeStats& node = stats.nodes[static_cast<size_t>(i)];
    names[i] = node.name;
    ops[i] = node.op;
    start[i] = static_cast<double>(node.start_ns) / 1000;
    micros[i] = static_cast<double>(node.end_ns - node.start_ns) / 1000;
    for (const NodeStats::Output& output : node.outputs) {
      bytes[i] += static_cast<double>(output.bytes);
    }
  }
  Rcpp::List columns =
      Rcpp::List::create(Rcpp::Named("node_name") = names, Rcpp::Named("op") = ops,
                         Rcpp::Named("start_micros") = start, Rcpp::Named("micros") = micros,
                         Rcpp::Named("bytes") = bytes);
  Rcpp::Shield<SEXP> device(text_to_r(StepStats::kDevice));
  Rcpp::Shield<SEXP> start_micros(Rf_ScalarReal(stats.start_seconds * 1e6));
  return call_internal("new_step_stats", {columns, device, start_micros});
}

void fill_run_metadata(SEXP run_metadata, const RunMetadata& metadata) {
  if (run_metadata == R_NilValue) return;
  if (TYPEOF(run_metadata) != ENVSXP) {
    invalid_argument("`run_metadata` must be a value of tf$RunMetadata(), not ",
                     kind_in_words(run_metadata), ".");
  }
  Rcpp::Shield<SEXP> stats(metadata.step_stats ? step_stats_to_r(*metadata.step_stats)
                                               : R_NilValue);
  Rf_defineVar(Rf_install("step_stats"), stats, run_metadata);
}

void RequestedArgs::store(SEXP request) {
  if (!args_.foreign) args_.foreign = std::make_shared<Preserved>();
  static_cast<Preserved*>(args_.foreign.get())->reset(request);
}

const RunArgs* RequestedArgs::update(SEXP request, Graph& graph) {
  SEXP fetches = VECTOR_ELT(request, kFetches);
  if (fetches == R_NilValue) {
    if (!args_.fetches.empty()) {
      args_.fetches.clear();
      args_.changed();
    }
    tree_.reset();
  } else if (!tree_ || !tree_->matches(fetches)) {
    tree_ = std::make_unique<FetchTree>(fetches, graph);
    args_.fetches = tree_->fetches();
    args_.changed();
  }
  SEXP feed_dict = VECTOR_ELT(request, kFeedDict);
  if (feed_dict != R_NilValue || !args_.feeds.empty()) {
    Feeds feeds = feeds_from_r(feed_dict, graph);
    const bool has_same_keys =
        feeds.size() == args_.feeds.size() &&
        std::equal(feeds.begin(), feeds.end(), args_.feeds.begin(),
                   [](const auto& a, const auto& b) { return a.first == b.first; });
    args_.feeds = std::move(feeds);
    if (!has_same_keys) args_.changed();
  }
  SEXP options = VECTOR_ELT(request, kOptions);
  if (options != R_NilValue || !args_.options.is_default()) {
    const RunOptions requested_options = run_options_from_r(options);
    if (!(requested_options == args_.options)) {
      args_.options = requested_options;
      args_.changed();
    }
  }
  return &args_;
}

}  // namespace r
}  // namespace runhooks

using namespace runhooks;
using namespace runhooks::r;

// Makes a session that R owns. cpp_session_close() or R's garbage collector closes it.
// [[Rcpp::export(rng = false)]]
SEXP cpp_session_new(SEXP graph) {
  return guarded_entry([&]() -> SEXP {
    const auto core_graph = graph == R_NilValue ? default_graph() : graph_of(graph);
    Rcpp::Shield<SEXP> object(graph_handle(core_graph));
    ++r_sessions_of(*core_graph);
    const std::shared_ptr<Session> session(new Session(core_graph), [](Session* closed_session) {
      --r_sessions_of(closed_session->graph());
      delete closed_session;
    });
    // The external pointer protects the owner, so that it keeps the session alive.
    Rcpp::Shield<SEXP> owner(make_handle(session, kSessionOwner));
    Rcpp::Shield<SEXP> pointer(R_MakeExternalPtr(session.get(), kSession.tag(), owner));
    return new_session_object(pointer, *session);
  });
}

// Runs a session. `run_metadata` is NULL, or an environment that receives the metadata that the
// options request.
// [[Rcpp::export(rng = false)]]
SEXP cpp_session_run(SEXP pointer, SEXP fetches, SEXP feed_dict, SEXP options, SEXP run_metadata) {
  return guarded_entry([&]() -> SEXP {
    Session& session = session_of(pointer);
    const FetchTree tree(fetches, session.graph());
    RunMetadata metadata;
    const std::vector<Tensor> results =
        session.run(tree.fetches(), feeds_from_r(feed_dict, session.graph()),
                    run_options_from_r(options), metadata);
    fill_run_metadata(run_metadata, metadata);
    return tree.results_to_r([&results](size_t i) -> const Tensor& { return results[i]; });
  });
}

// [[Rcpp::export(rng = false)]]
void cpp_session_close(SEXP pointer) {
  guarded_entry([&] {
    const bool is_destroyed = is_handle(pointer, kSession) && !R_ExternalPtrAddr(pointer);
    if (!is_destroyed) session_of(pointer).close();
  });
}
