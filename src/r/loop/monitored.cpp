// Monitored sessions in R. R/monitored_session.R handles errors.
#include "monitored/monitored_session.h"
#include "r/files/saver.h"
#include "r/graph/graph_closure.h"
#include "r/graph/handles_of_graph.h"
#include "r/loop/loop.h"
#include "r/loop/session.h"
#include "r/values/guarded_entry.h"
#include "r/values/owned_objects.h"
#include "r/values/values.h"

namespace runhooks {
namespace r {

namespace {

// A monitored session. `owned_objects` owns the R objects of the session and its hooks, which may
// refer to the session's R object.
struct MonitoredBinding {
  std::shared_ptr<OwnedObjects> owned_objects = std::make_shared<OwnedObjects>();
  std::shared_ptr<MonitoredSession> session;
  RequestedArgs requested;
  int num_graph_owners = 0;  // shared pointers to the graph in the session

  ~MonitoredBinding() { release(); }
  // Adds the session's shared pointers to its graph to r_sessions_of() (r/graph/graph_closure.h).
  void count_graph_owners(const Graph& graph, long before) {
    num_graph_owners =
        static_cast<int>(session->graph().shared_from_this().use_count() - 1 - before);
    r_sessions_of(graph) += num_graph_owners;
  }
  void release() {
    if (!session) return;
    r_sessions_of(session->graph()) -= num_graph_owners;
    session.reset();
  }
};

MonitoredBinding& monitored_binding(SEXP pointer) {
  return *from_handle<MonitoredBinding>(pointer, kMonitored);
}

// Returns a shared pointer, because code that the session calls may close the session.
std::shared_ptr<MonitoredSession> open_session(SEXP pointer) {
  const auto session = monitored_binding(pointer).session;
  if (!session) fail(Code::kFailedPrecondition, "Session is already closed.");
  return session;
}

std::shared_ptr<Scaffold> scaffold_from_r(SEXP scaffold) {
  if (scaffold == R_NilValue) return std::make_shared<Scaffold>();
  return from_handle<Scaffold>(scaffold, kScaffold);
}

std::unique_ptr<SessionCreator> creator_from_r(const Args& args,
                                               const std::shared_ptr<Graph>& graph,
                                               const std::shared_ptr<Scaffold>& scaffold) {
  if (args.text("type") == "WorkerSessionCreator") {
    return std::make_unique<WorkerSessionCreator>(graph, scaffold, args.text("checkpoint_dir", ""),
                                                  args.number("max_wait_secs"));
  }
  return std::make_unique<ChiefSessionCreator>(graph, scaffold, args.text("checkpoint_dir", ""),
                                               args.text("checkpoint_filename_with_path", ""));
}

// Destroys a closed session at the end of the call, also after an error.
struct ReleaseScope {
  MonitoredBinding& binding;
  ~ReleaseScope() {
    if (binding.session && binding.session->is_closed()) binding.release();
  }
};

std::function<void(Session&)> init_fn_from_r(Graph& graph, SEXP function) {
  const auto init_function = function_of_graph(graph, function_from_r(function, "`init_fn`"));
  return [init_function](Session& session) {
    Rcpp::Shield<SEXP> handle(session_handle(session));
    call_r_function(init_function->get(), {handle});
  };
}

Operation* operation_argument(SEXP x) { return is_tensor(x) ? tensor_of(x).op : operation_of(x); }

}  // namespace

}  // namespace r
}  // namespace runhooks

using namespace runhooks;
using namespace runhooks::r;

// Makes a monitored session. `creator` is a list of the type and arguments of a session creator;
// `scaffold` is a handle or NULL.
// [[Rcpp::export(rng = false)]]
SEXP cpp_monitored_new(SEXP creator, SEXP scaffold, SEXP hooks, bool recovers) {
  return guarded_entry([&]() -> SEXP {
    const std::shared_ptr<Graph> graph = default_graph();
    const std::shared_ptr<Scaffold> core_scaffold = scaffold_from_r(scaffold);
    // The R object of the graph owns the R functions of its operations.
    Rcpp::Shield<SEXP> object(graph_handle(graph));
    const auto binding = std::make_shared<MonitoredBinding>();
    MonitoredOptions options;
    options.recovers = recovers;
    const long owners_before = graph.use_count();
    {
      const OwnedObjects::Scope owned_scope(binding->owned_objects.get());
      const HookList list = hooks_from_r(hooks, core_scaffold);
      binding->session = std::make_shared<MonitoredSession>(
          graph, creator_from_r(*args_from_r(creator, "the session creator"), graph, core_scaffold),
          list, options);
    }
    binding->count_graph_owners(*graph, owners_before);
    Rcpp::Shield<SEXP> handle(make_handle(binding, kMonitored));
    Rcpp::Shield<SEXP> protected_values(Rf_cons(object, scaffold));
    R_SetExternalPtrProtected(handle, protected_values);
    binding->owned_objects->attach_to(handle);
    return handle;
  });
}

// Runs a step. `request` is a value of cpp_session_run_args(). With `in_step`, the run is part of a
// step function and does not recover from the loss of the session.
// [[Rcpp::export(rng = false)]]
SEXP cpp_monitored_run(SEXP pointer, SEXP request, SEXP run_metadata, bool in_step) {
  return guarded_entry([&]() -> SEXP {
    const auto session = open_session(pointer);
    session->check_open();  // throws before a nested run replaces the request of the outer run
    MonitoredBinding& binding = monitored_binding(pointer);
    RequestedArgs& requested = binding.requested;
    if (!is_request(request)) invalid_argument("`request` must be a session_run_args() value.");
    if (VECTOR_ELT(request, 0) == R_NilValue) invalid_argument("A fetch cannot be NULL.");
    const OwnedObjects::Scope owned_scope(binding.owned_objects.get());
    const RunArgs& args = *requested.update(request, session->graph());
    requested.store(request);
    const Executor& run = in_step ? session->run_in_step(args) : session->run(args);
    fill_run_metadata(run_metadata, session->run_metadata());
    return requested.tree()->results_to_r(
        [&run](size_t i) -> const Tensor& { return run.result(i); });
  });
}

// [[Rcpp::export(rng = false)]]
SEXP cpp_monitored_session(SEXP pointer) {
  return guarded_entry([&] {
    const OwnedObjects::Scope owned_scope(monitored_binding(pointer).owned_objects.get());
    return session_handle(open_session(pointer)->ready_session());
  });
}

// Returns whether the monitored session can recover from this kind of condition. If so, closes the
// lost session, so that the next run creates a new one.
// [[Rcpp::export(rng = false)]]
bool cpp_monitored_close_if_recoverable(SEXP pointer, SEXP condition, Text kind) {
  return guarded_entry([&] {
    return open_session(pointer)->close_if_recoverable(
        error_of_condition(condition, code_from_name(kind)));
  });
}

// [[Rcpp::export(rng = false)]]
int cpp_monitored_max_failures(SEXP pointer) {
  return guarded_entry([&] { return open_session(pointer)->max_failures(); });
}

// [[Rcpp::export(rng = false)]]
bool cpp_monitored_should_stop(SEXP pointer) {
  return guarded_entry([&] {
    const auto session = monitored_binding(pointer).session;
    return !session || session->should_stop();
  });
}

// [[Rcpp::export(rng = false)]]
void cpp_monitored_request_stop(SEXP pointer) {
  guarded_entry([&] { open_session(pointer)->coordinator().request_stop(); });
}

// [[Rcpp::export(rng = false)]]
void cpp_monitored_close(SEXP pointer) {
  guarded_entry([&] {
    MonitoredBinding& binding = monitored_binding(pointer);
    const auto session = binding.session;
    if (!session) return;
    const ReleaseScope release_scope{binding};
    session->close();
  });
}

// Closes the session after an error or interrupt, without calling end() of its hooks.
// [[Rcpp::export(rng = false)]]
void cpp_monitored_close_after_failure(SEXP pointer, SEXP condition, bool is_interrupt) {
  guarded_entry([&] {
    MonitoredBinding& binding = monitored_binding(pointer);
    const auto session = binding.session;
    if (!session) return;
    const ReleaseScope release_scope{binding};
    session->close_after_failure(
        {is_interrupt, std::make_exception_ptr(error_of_condition(condition, Code::kUnknown))});
  });
}

// [[Rcpp::export(rng = false)]]
std::vector<std::string> cpp_monitored_hooks(SEXP pointer) {
  return guarded_entry([&] {
    std::vector<std::string> names;
    for (const HookPtr& hook : open_session(pointer)->hooks()) names.push_back(hook->name());
    return names;
  });
}

// [[Rcpp::export(rng = false)]]
SEXP cpp_scaffold_new(SEXP init_op,
                      SEXP init_feed_dict,
                      SEXP init_fn,
                      SEXP local_init_op,
                      SEXP local_init_feed_dict,
                      SEXP summary_op,
                      SEXP saver) {
  return guarded_entry([&]() -> SEXP {
    auto scaffold = std::make_shared<Scaffold>();
    scaffold->saver = saver_of(saver);
    Graph& graph = *default_graph();
    if (init_op != R_NilValue) scaffold->init_op = operation_argument(init_op);
    scaffold->init_feeds = feeds_from_r(init_feed_dict, graph);
    if (init_fn != R_NilValue) scaffold->init_fn = init_fn_from_r(graph, init_fn);
    if (local_init_op != R_NilValue) scaffold->local_init_op = operation_argument(local_init_op);
    scaffold->local_init_feeds = feeds_from_r(local_init_feed_dict, graph);
    if (summary_op != R_NilValue) scaffold->summary_op = tensor_of(summary_op);
    Rcpp::Shield<SEXP> handle(make_handle(scaffold, kScaffold));
    Rcpp::Shield<SEXP> object(graph_handle(graph.shared_from_this()));
    R_SetExternalPtrProtected(handle, object);
    return handle;
  });
}

// [[Rcpp::export(rng = false)]]
void cpp_scaffold_finalize(SEXP scaffold) {
  guarded_entry([&] { from_handle<Scaffold>(scaffold, kScaffold)->finalize(*default_graph()); });
}

// Returns list(init_op, local_init_op, summary_op); missing operations are NULL.
// [[Rcpp::export(rng = false)]]
SEXP cpp_scaffold_parts(SEXP pointer) {
  return guarded_entry([&]() -> SEXP {
    const Scaffold& scaffold = *from_handle<Scaffold>(pointer, kScaffold);
    Rcpp::Shield<SEXP> parts(named_list({"init_op", "local_init_op", "summary_op"}));
    if (scaffold.init_op) SET_VECTOR_ELT(parts, 0, operation_handle(scaffold.init_op));
    if (scaffold.local_init_op) SET_VECTOR_ELT(parts, 1, operation_handle(scaffold.local_init_op));
    if (scaffold.summary_op) SET_VECTOR_ELT(parts, 2, tensor_handle(scaffold.summary_op));
    return parts;
  });
}
