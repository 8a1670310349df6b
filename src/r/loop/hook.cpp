// RHook: a C++ run hook whose methods call R closures.
#include "base/fingerprint.h"
#include "data/dataset.h"
#include "data/input_progress.h"
#include "hooks/checkpoint_saver_hook.h"
#include "hooks/summary_saver_hook.h"
#include "r/files/saver.h"
#include "r/graph/handles_of_graph.h"
#include "r/loop/history.h"
#include "r/loop/loop.h"
#include "r/loop/session.h"
#include "r/values/guarded_entry.h"
#include "r/values/named_values.h"
#include "r/values/owned_objects.h"
#include "r/values/values.h"

namespace runhooks {
namespace r {

SEXP list_element(SEXP list, const char* name) { return RList(list, "a hook").find(name); }

namespace {

// The arguments of method calls are symbols instead of values, so that the call in an error message
// is short: `after_run(context, values)`.
struct Symbols {
  SEXP context = Rf_install("context");
  SEXP values = Rf_install("values");
  SEXP session = Rf_install("session");
  SEXP coord = Rf_install("coord");
  SEXP state = Rf_install("state");
  SEXP stop_requested = Rf_install("stop_requested");
  SEXP results = Rf_install("results");
};

const Symbols& hook_symbols() {
  static const Symbols symbols;
  return symbols;
}

class RHook;

// Hooks whose on_error() has to be called later, because no R code may run while an R jump unwinds.
std::vector<std::shared_ptr<RHook>>& hooks_with_errors() {
  static auto* hooks = new std::vector<std::shared_ptr<RHook>>;
  return *hooks;
}

class RHook : public RunHook, public std::enable_shared_from_this<RHook> {
 public:
  RHook(SEXP methods, std::string label)
      : label_(std::move(label)), owned_objects_(OwnedObjects::current()) {
    // Without a hash table, because the environment has few symbols.
    Rcpp::Shield<SEXP> environment(
        R_NewEnv(Rcpp::Environment::namespace_env("runhooks"), /* hash = */ FALSE, 0));
    environment_.reset(environment);
    begin_ = bind(methods, "begin", {});
    after_create_session_ =
        bind(methods, "after_create_session", {hook_symbols().session, hook_symbols().coord});
    before_run_ = bind(methods, "before_run", {hook_symbols().context});
    after_run_ = bind(methods, "after_run", {hook_symbols().context, hook_symbols().values});
    end_ = bind(methods, "end", {hook_symbols().session});
    save_state_ = bind(methods, "save_state", {});
    restore_state_ = bind(methods, "restore_state", {hook_symbols().state});
    if (save_state_ && is_positional_name(label_)) state_key_ = key_of(methods);
    SEXP on_error = list_element(methods, "on_error");
    if (Rf_isFunction(on_error) && !is_absent(methods, "on_error")) on_error_.reset(on_error);
  }
  std::string name() const override { return label_; }

  void begin(Graph& graph) override {
    const OwnedObjects::Scope owned_scope(owned_objects_.get());
    requested_.clear();
    has_checked_reads_ = false;
    session_.reset(R_NilValue);
    graph_ = graph.shared_from_this();
    call(begin_);
  }
  void after_create_session(Session& session, Coordinator& coordinator) override {
    const OwnedObjects::Scope owned_scope(owned_objects_.get());
    requested_.clear();
    make_context(session);
    if (!after_create_session_) return;
    define(hook_symbols().session, session_handle(session));
    define(hook_symbols().coord, coordinator_handle(coordinator, session));
    call(after_create_session_);
  }
  const RunArgs* before_run(RunContext& context) override {
    has_request_ = false;
    if (!before_run_) return nullptr;
    const CurrentContext current(*this, context);
    Rcpp::Shield<SEXP> request(call(before_run_));
    if (request == R_NilValue) return nullptr;
    if (!is_request(request)) {
      throw Error(
          Code::kInvalidArgument,
          str_cat("before_run() of hook `", label_,
                  "` must return NULL or session_run_args(), not ", kind_in_words(request), "."),
          {"Wrap the fetches, as in session_run_args(loss = \"loss\")."});
    }
    const OwnedObjects::Scope owned_scope(owned_objects_.get());
    const RunArgs* args = requested_.update(request, context.session().graph());
    has_request_ = true;
    return args;
  }
  void after_run(RunContext& context, const RunValues& values) override {
    if (!after_run_) return;
    const CurrentContext current(*this, context);
    define_values(values);
    const bool checks_reads = !has_checked_reads_ && (has_request_ || !before_run_);
    const CheckedReads checked(checks_reads ? with_read_checks() : R_NilValue);
    call(after_run_);
  }
  void end(Session& session) override {
    if (!end_) return;
    const OwnedObjects::Scope owned_scope(owned_objects_.get());
    define(hook_symbols().session, session_handle(session));
    call(end_);
  }
  void on_error(Session*, const LoopFailure&) override {
    if (on_error_.get() == R_NilValue) return;
    if (owned_objects_) owned_objects_->hold_owner();
    hooks_with_errors().push_back(shared_from_this());
  }
  // Call after R has called on_error().
  void error_is_handled() {
    if (owned_objects_) owned_objects_->release_owner();
  }
  SEXP failed_call() const {
    Rcpp::Shield<SEXP> label(text_to_r(label_));
    Rcpp::Shield<SEXP> list(allocate_vector(VECSXP, 3));
    SET_VECTOR_ELT(list, 0, on_error_.get());
    SET_VECTOR_ELT(list, 1, session_.get());
    SET_VECTOR_ELT(list, 2, label);
    return list;
  }
  bool has_state() const override { return save_state_ != nullptr; }
  std::string state_key() const override { return state_key_.empty() ? label_ : state_key_; }
  NamedTensors save_state() override {
    if (!save_state_) return {};
    Rcpp::Shield<SEXP> state(interrupt_pending() ? call_swallowing_errors(save_state_)
                                                 : call(save_state_));
    if (state == R_NilValue) return {};
    const PlainData data =
        plain_from_r(state, str_cat("The state of hook `", label_, "`"), "state");
    return {{kPlainState, Tensor::string_scalar(write_plain_data(data))}};
  }
  std::function<void()> read_state(const NamedTensors& tensors) override {
    const Tensor* state_text = state_scalar(tensors, kPlainState, DType::kString);
    if (!state_text)
      fail(Code::kDataLoss, "The checkpoint's state of hook `", label_, "` is damaged.");
    Rcpp::Shield<SEXP> state(plain_to_r(
        read_plain_data(state_text->string_at(0), str_cat("the state of hook `", label_, "`"))));
    const Preserved preserved_state(state);
    return [this, preserved_state] {
      if (!restore_state_) return;
      define(hook_symbols().state, preserved_state.get());
      call(restore_state_);
    };
  }

 private:
  // The name of the tensor that contains the whole state of a hook as plain data.
  static constexpr const char* kPlainState = "plain";
  static bool is_absent(SEXP methods, const char* method) {
    SEXP absent = list_element(methods, "absent");
    for (R_xlen_t i = 0; TYPEOF(absent) == STRSXP && i < Rf_xlength(absent); ++i) {
      if (equals_ascii(STRING_ELT(absent, i), method)) return true;
    }
    return false;
  }
  // Makes R's `context` valid while a method runs.
  struct CurrentContext {
    RHook& hook;
    RunContext& context;
    CurrentContext(RHook& h, RunContext& current) : hook(h), context(current) {
      R_SetExternalPtrAddr(hook.context_pointer_.get(), &context);
      if (hook.r_stop_requested_ != context.stop_requested())
        hook.update_stop_requested(context.stop_requested());
    }
    ~CurrentContext() {
      R_ClearExternalPtr(hook.context_pointer_.get());
      hook.r_stop_requested_ = context.stop_requested();  // R's request_stop() has updated R's copy
    }
  };

  SEXP bind(SEXP methods, const char* method, std::initializer_list<SEXP> arguments) {
    if (is_absent(methods, method)) return nullptr;
    SEXP function = list_element(methods, method);
    if (!Rf_isFunction(function)) return nullptr;
    define(Rf_install(method), function);
    Rcpp::Shield<SEXP> call(new_call(Rf_install(method), arguments));
    Rcpp::Shield<SEXP> calls(Rf_cons(call, calls_.get()));
    calls_.reset(calls);
    return call;
  }
  // True for a label such as "hooks[[2]]", which hooks without a name get.
  static bool is_positional_name(const std::string& label) {
    return label.size() > 2 && label.compare(label.size() - 2, 2, "]]") == 0;
  }
  static std::string key_of(SEXP methods) {
    Rcpp::Shield<SEXP> code(call_internal("hook_code", {methods}));
    return str_cat(kUnnamedState, " ", std::to_string(fingerprint64(string_from_r(code))));
  }
  // Calls a method while an interrupt unwinds. Throws errors as Error, without reporting them in R.
  SEXP call_swallowing_errors(SEXP method_call) {
    Rcpp::Shield<SEXP> swallowing_call(Rf_lang2(Rf_install("value_or_error"), method_call));
    SEXP result = call(swallowing_call);
    if (!Rf_inherits(result, "error")) return result;
    throw Error(Code::kUnknown, error_of_condition(result, Code::kUnknown).message());
  }
  void define(SEXP symbol, SEXP value) { Rf_defineVar(symbol, value, environment_.get()); }
  // Makes the loop's graph the default graph during the call.
  SEXP call(SEXP method_call) {
    if (!method_call) return R_NilValue;
    const DefaultGraph scope(graph_);
    return eval_r(method_call, environment_.get(), token_);
  }

  // Removes the checks from the lists of with_read_checks() after the step, also if the hook has
  // stored the lists.
  struct CheckedReads {
    explicit CheckedReads(SEXP checked) : values(checked) {}
    ~CheckedReads() {
      if (values.get() == R_NilValue) return;
      for (SEXP list : {values.get(), VECTOR_ELT(values.get(), 0)}) {
        if (!Rf_inherits(list, "runhooks_checked_reads")) continue;
        Rf_setAttrib(list, R_ClassSymbol, R_NilValue);
        Rf_setAttrib(list, Rf_install("checks"), R_NilValue);
      }
    }
    const Preserved values;
  };
  // Called once per loop. Replaces `values` and its results by lists that warn if the hook reads a
  // name that they do not contain.
  SEXP with_read_checks() {
    has_checked_reads_ = true;
    SEXP values = frame_variable(environment_.get(), hook_symbols().values);
    Rcpp::Shield<SEXP> label(text_to_r(label_));
    Rcpp::Shield<SEXP> has_before_run(Rf_ScalarLogical(before_run_ != nullptr));
    Rcpp::Shield<SEXP> call(
        Rf_lang4(Rf_install("with_read_checks"), values, label, has_before_run));
    Rcpp::Shield<SEXP> checked(eval_r(call, environment_.get(), token_));
    define(hook_symbols().values, checked);
    return checked;
  }

  void make_context(Session& session) {
    Rcpp::Shield<SEXP> pointer(R_MakeExternalPtr(nullptr, kContext.tag(), R_NilValue));
    Rcpp::Shield<SEXP> handle(session_handle(session));
    session_.reset(handle);
    Rcpp::Shield<SEXP> context(
        call_r_function(Rf_install("new_context"), {pointer, handle}, environment_.get()));
    define(hook_symbols().context, context);
    context_.reset(context);
    context_pointer_.reset(pointer);
    r_stop_requested_ = false;
  }
  void update_stop_requested(bool requested) {
    r_stop_requested_ = requested;
    Rcpp::Shield<SEXP> flag(Rf_ScalarLogical(requested));
    Rf_defineVar(hook_symbols().stop_requested, flag, context_.get());
  }

  // The result is not protected from R's collector.
  static SEXP metadata_to_r(const RunMetadata& metadata) {
    Rcpp::Shield<SEXP> list(named_list({"step_stats"}));
    Rcpp::Shield<SEXP> classes(text_to_r("runhooks_run_metadata"));
    Rf_setAttrib(list, R_ClassSymbol, classes);
    if (metadata.step_stats) SET_VECTOR_ELT(list, 0, step_stats_to_r(*metadata.step_stats));
    return list;
  }

  void define_values(const RunValues& values) {
    static SEXP template_list = [] {
      SEXP list = named_list({"results", "options", "run_metadata"});
      R_PreserveObject(list);
      Rcpp::Shield<SEXP> options(run_options_to_r(RunOptions()));
      SET_VECTOR_ELT(list, 1, options);
      SET_VECTOR_ELT(list, 2, metadata_to_r(RunMetadata()));
      return list;
    }();
    const bool is_default = values.options().is_default();
    // Reuses the list of the previous step unless R code refers to it, because a new list is slow.
    const bool reuses_list =
        is_default && plain_values_ &&
        frame_variable(environment_.get(), hook_symbols().values) == plain_values_ &&
        !MAYBE_SHARED(plain_values_);
    Rcpp::Shield<SEXP> list(reuses_list ? plain_values_ : Rf_shallow_duplicate(template_list));
    plain_values_ = is_default ? static_cast<SEXP>(list) : nullptr;
    if (!is_default) {
      Rcpp::Shield<SEXP> options(run_options_to_r(values.options()));
      SET_VECTOR_ELT(list, 1, options);
      SET_VECTOR_ELT(list, 2, metadata_to_r(values.run_metadata()));
    }
    const bool has_results = has_request_ && requested_.tree();
    SET_VECTOR_ELT(list, 0,
                   has_results
                       ? requested_.tree()->results_to_r(
                             [&values](size_t i) -> const Tensor& { return values.result(i); })
                       : R_NilValue);
    if (!reuses_list) define(hook_symbols().values, list);
  }

  std::string label_, state_key_;
  // R objects that the session owns; NULL in the loop of an estimator.
  std::shared_ptr<OwnedObjects> owned_objects_;
  std::shared_ptr<Graph> graph_;
  Preserved environment_, calls_, context_, context_pointer_;
  UnwindToken token_;
  // Protected by calls_.
  SEXP begin_, after_create_session_, before_run_, after_run_, end_, save_state_, restore_state_;
  Preserved on_error_, session_;
  RequestedArgs requested_;
  bool has_request_ = false;
  bool has_checked_reads_ = false;
  bool r_stop_requested_ = false;
  SEXP plain_values_ = nullptr;  // protected by the environment, as `values`
};

// An R function that returns a feed dict, or NULL.
class RFeedSource : public FeedSource {
 public:
  explicit RFeedSource(SEXP function) : function_(function) {}
  Value call(const std::vector<Value>&) override {
    invalid_argument("A feed function cannot be called without a graph.");
  }
  Feeds feeds(Graph& graph) override {
    const DefaultGraph scope(graph.shared_from_this());
    Rcpp::Shield<SEXP> feed_dict(call_r_function(function_.get()));
    return feeds_from_r(feed_dict, graph);
  }

 private:
  Preserved function_;
};

// Returns the user's scaffold, a new scaffold with the user's saver, or NULL.
std::shared_ptr<Scaffold> scaffold_of_hook(SEXP hook) {
  if (const auto scaffold = scaffold_of(list_element(hook, "scaffold"))) return scaffold;
  const auto saver = saver_of(list_element(hook, "saver"));
  if (!saver) return nullptr;
  auto scaffold = std::make_shared<Scaffold>();
  scaffold->saver = saver;
  return scaffold;
}

// Converts the arguments of a hook. Only R code can read environments and listeners, so they become
// `true`: the core then knows that they were specified.
std::shared_ptr<Args> hook_args_from_r(SEXP hook) {
  // The arguments have no owner for messages, because the caller adds it.
  auto args = std::make_shared<Args>();
  const RList fields(hook, "a hook");
  for (R_xlen_t i = 0; i < fields.size(); ++i) {
    SEXP value = fields[i];
    const bool is_opaque = TYPEOF(value) == ENVSXP || fields.name(i) == "listeners";
    args->set(fields.name(i), is_opaque ? Value::of(true) : value_from_r(value));
  }
  return args;
}

HookPtr builtin_hook_from_r(SEXP hook) {
  if (Rf_inherits(hook, "InMemoryEvaluatorHook")) return in_memory_evaluator_from_r(hook);
  const auto args = hook_args_from_r(hook);
  const std::string type = args->text("type");
  const std::shared_ptr<Scaffold> scaffold = scaffold_of_hook(hook);
  if (scaffold && type == "SummarySaverHook") {
    Factory<RunHook>::instance().check("hook", type, *args);
    return std::make_shared<SummarySaverHook>(*args, scaffold);
  }
  SEXP feed_fn = list_element(hook, "feed_fn");
  if (feed_fn != R_NilValue) {
    args->set("feed_fn",
              Value::of(std::shared_ptr<Callable>(std::make_shared<RFeedSource>(feed_fn))));
  }
  HookPtr core_hook = make_hook(type, *args);
  if (const auto saver = std::dynamic_pointer_cast<CheckpointSaverHook>(core_hook)) {
    if (scaffold) saver->set_scaffold(scaffold);
    for (const ListenerPtr& listener : listeners_from_r(list_element(hook, "listeners"))) {
      saver->add_listener(listener);
    }
  }
  if (const auto saver = std::dynamic_pointer_cast<HistorySaverHook>(core_hook)) {
    SEXP record = Rf_getAttrib(hook, Rf_install("record"));
    if (is_handle(record, kHistory)) saver->set_history(from_handle<History>(record, kHistory));
  }
  return core_hook;
}

}  // namespace

HookPtr hook_from_r(SEXP hook, const std::string& label) {
  if (Rf_inherits(hook, "EstimatorSessionRunHook")) {
    return std::make_shared<RHook>(hook, label);
  }
  if (Rf_inherits(hook, "runhooks_builtin_hook")) return builtin_hook_from_r(hook);
  invalid_argument("Hooks must be SessionRunHook objects; `", label, "` is not.");
}

HookList hooks_from_r(SEXP hooks, const std::shared_ptr<Scaffold>& scaffold) {
  HookList list;
  const RList elements(hooks, "`hooks`");
  for (R_xlen_t i = 0; i < elements.size(); ++i) {
    std::string label = elements.has_names() ? elements.name(i) : "";
    if (label.empty()) label = str_cat("hooks[[", static_cast<long>(i + 1), "]]");
    list.push_back(hook_from_r(elements[i], label));
    const auto saver = std::dynamic_pointer_cast<CheckpointSaverHook>(list.back());
    if (scaffold && saver && !saver->has_scaffold()) saver->set_scaffold(scaffold);
  }
  return list;
}

SEXP history_to_r(const History& history) {
  Named<const std::vector<double>*> values;
  for (const History::Column& metric : history.metrics)
    values.emplace_back(metric.name, &metric.values);
  if (!history.mean_losses.empty() || history.tensors.empty()) {
    values.emplace_back("mean_losses", &history.mean_losses);
    values.emplace_back("total_losses", &history.total_losses);
  }
  for (const History::Column& column : history.tensors)
    values.emplace_back(column.name, &column.values);
  Rcpp::Shield<SEXP> columns(named_values_to_r(
      values, [](const std::vector<double>* column) { return Rcpp::wrap(*column); }));
  const bool has_input = !history.rows.empty();
  Rcpp::Shield<SEXP> result(has_input ? named_list({"step", "losses", "input"})
                                      : named_list({"step", "losses"}));
  SET_VECTOR_ELT(result, 0, Rcpp::wrap(history.steps));
  SET_VECTOR_ELT(result, 1, columns);
  if (has_input) {
    SET_VECTOR_ELT(
        result, 2,
        Rcpp::List::create(Rcpp::_["rows"] = history.rows, Rcpp::_["seconds"] = history.seconds,
                           Rcpp::_["waited"] = history.waited));
  }
  return result;
}

}  // namespace r
}  // namespace runhooks

using namespace runhooks;
using namespace runhooks::r;

namespace {

// Returns the context of the current run; NULL outside of runs.
RunContext* context_of(SEXP pointer) {
  const bool is_over = is_handle(pointer, kContext) && !R_ExternalPtrAddr(pointer);
  return is_over ? nullptr : static_cast<RunContext*>(handle_address(pointer, kContext));
}

}  // namespace

// [[Rcpp::export(rng = false)]]
SEXP cpp_history_new() {
  return guarded_entry([&] { return make_handle(std::make_shared<History>(), kHistory); });
}

// [[Rcpp::export(rng = false)]]
SEXP cpp_history_read(SEXP record) {
  return guarded_entry(
      [&]() -> SEXP { return history_to_r(*from_handle<History>(record, kHistory)); });
}

// In C++ because hooks call this function in every step, and structure() in R is slower.
// [[Rcpp::export(rng = false)]]
SEXP cpp_session_run_args(SEXP fetches, SEXP feed_dict, SEXP options) {
  return run_args_to_r(fetches, feed_dict, options);
}

// Returns the arguments of the run without those of hooks: the R object of the caller, or the
// fetches if the core is the caller.
// [[Rcpp::export(rng = false)]]
SEXP cpp_context_original_args(SEXP pointer) {
  return guarded_entry([&]() -> SEXP {
    const RunContext* context = context_of(pointer);
    if (!context) return R_NilValue;
    const RunArgs& args = context->original_args();
    if (args.foreign) return static_cast<Preserved*>(args.foreign.get())->get();
    Rcpp::Shield<SEXP> fetches(list_to_r(args.fetches, [](const Fetch& fetch) {
      return fetch.is_tensor() ? tensor_handle(Output(fetch.op, fetch.index))
                               : operation_handle(fetch.op);
    }));
    return run_args_to_r(fetches, R_NilValue, R_NilValue);
  });
}

// Returns c(rows, epoch, seconds spent waiting) for the session's dataset; NA without a dataset or
// outside of runs.
// [[Rcpp::export(rng = false)]]
SEXP cpp_context_progress(SEXP pointer) {
  return guarded_entry([&]() -> SEXP {
    Rcpp::NumericVector progress(3, NA_REAL);
    const RunContext* context = context_of(pointer);
    if (!context) return progress;
    const InputProgress input = input_progress(context->session());
    if (!input.is_known) return progress;
    progress[0] = static_cast<double>(input.rows);
    progress[1] = static_cast<double>(input.epoch);
    progress[2] = input.wait_seconds;
    return progress;
  });
}

// Returns list(on_error, session, label) for each hook that has failed in any loop since the last
// call of this function.
// [[Rcpp::export(rng = false)]]
SEXP cpp_take_failed_hooks() {
  std::vector<std::shared_ptr<RHook>> hooks;
  hooks.swap(hooks_with_errors());
  Rcpp::Shield<SEXP> list(
      list_to_r(hooks, [](const std::shared_ptr<RHook>& hook) { return hook->failed_call(); }));
  for (const auto& hook : hooks) hook->error_is_handled();
  return list;
}

// [[Rcpp::export(rng = false)]]
void cpp_context_request_stop(SEXP pointer) {
  guarded_entry(
      [&] { static_cast<RunContext*>(handle_address(pointer, kContext))->request_stop(); });
}

// Requests a stop. `condition`, if it is not NULL, is raised when the loop ends.
// [[Rcpp::export(rng = false)]]
void cpp_coordinator_request_stop(SEXP pointer, SEXP condition, Text kind) {
  guarded_entry([&] {
    auto* coordinator = static_cast<Coordinator*>(handle_address(pointer, kCoordinator));
    coordinator->request_stop(condition == R_NilValue ? nullptr
                                                      : std::make_exception_ptr(error_of_condition(
                                                            condition, code_from_name(kind))));
  });
}

// [[Rcpp::export(rng = false)]]
bool cpp_coordinator_should_stop(SEXP pointer) {
  return guarded_entry([&] {
    // If the session of the coordinator has been destroyed, its threads should stop.
    const bool is_coordinator =
        TYPEOF(pointer) == EXTPTRSXP && R_ExternalPtrTag(pointer) == kCoordinator.tag();
    if (is_coordinator && !R_ExternalPtrAddr(pointer)) return true;
    return static_cast<Coordinator*>(handle_address(pointer, kCoordinator))->should_stop();
  });
}

// [[Rcpp::export(rng = false)]]
void cpp_hook_check(SEXP hook) {
  guarded_entry([&] { hook_from_r(hook, ""); });
}
