// What lives here: what the bindings share: the border, held R objects, handles, conversions.
// Who may use it: src/r/ only.
// What it must not know: how anything is computed.
#pragma once

#include <Rcpp.h>

#include <memory>
#include <string>
#include <type_traits>
#include <vector>

#include "base/held_errors.h"
#include "estimators/estimator.h"
#include "graph/args.h"
#include "io/files/plain_data.h"
#include "runhooks_types.h"
#include "session/run_hook.h"

namespace runhooks {

struct InMemoryColumn;

namespace r {

// --- r/values/conditions.cpp: errors across the border

// An R jump (an error, an interrupt, a restart) that has reached a C++ frame. It goes on when the
// border is reached; where somebody drops it, it ends there. It leads to a frame of the call that
// is running, so nobody keeps it for another one: who keeps errors has them held
// (base/held_errors.h).
class RUnwind : public ForeignUnwind {
 public:
  RUnwind(SEXP token, bool is_interrupt);
  // Rcpp lets go of the token when the jump goes on. One of another call is an error.
  [[noreturn]] void go_on() const;

 private:
  std::shared_ptr<void> token_;
  int64_t call_;  // of the core, by R
};

// Whether an interrupt is on its way to the border. R code may run all the same, but nobody else is
// to hear of its errors.
bool interrupt_is_on_its_way();

// Raises the core's error as an R condition of class runhooks_error_<kind>: throws, never returns.
[[noreturn]] void raise_error(const Error& error);
// The same for the exception that is being handled, whatever it is, of the function `where`. Rcpp's
// own go on as they are.
[[noreturn]] void raise_exception(const char* where);

// A warning of the core waits in R; it is raised when the outermost call of the core has ended,
// since a jump to who catches it must not end what is running.
void note_warning();
void raise_warnings();

class BorderDepth {
 public:
  BorderDepth();
  ~BorderDepth();
  BorderDepth(const BorderDepth&) = delete;
  BorderDepth& operator=(const BorderDepth&) = delete;

 private:
  LetErrorsGo errors_;  // they go to the R function that calls us
};

// The body of every exported function, `where`: no exception leaves it, no R jump crosses a C++
// frame.
template <typename Body>
auto border(Body body, const char* where = __builtin_FUNCTION()) -> decltype(body()) {
  const BorderDepth depth;
  try {
    if constexpr (std::is_void<decltype(body())>::value) {
      body();
      raise_warnings();
      return;
    } else if constexpr (std::is_same<decltype(body()), SEXP>::value) {
      Rcpp::Shield<SEXP> result(body());
      raise_warnings();
      return result;
    } else {
      auto result = body();
      raise_warnings();
      return result;
    }
  } catch (const Error& error) {
    raise_error(error);
  } catch (const RUnwind& unwind) {
    unwind.go_on();
  } catch (...) {
    raise_exception(where);
  }
}

// A token for R_UnwindProtect that is made once and used for many calls, one at a time.
class UnwindToken {
 public:
  UnwindToken();
  ~UnwindToken();
  UnwindToken(const UnwindToken&) = delete;
  UnwindToken& operator=(const UnwindToken&) = delete;

 private:
  friend SEXP call_r(SEXP (*function)(void*), void* data, UnwindToken& token);
  SEXP token_;
  bool in_use_ = false;
};

// An error that reaches R as this very condition.
Error error_of_condition(SEXP condition, Code code);

// Evaluates a call. A jump out of it becomes RUnwind, or, where a hook has raised one of the
// conditions that steer a loop (out_of_range, aborted, ...), an Error that carries the condition,
// as any error does while errors are held. The result is not protected.
SEXP eval_r(SEXP call, SEXP env, UnwindToken& token);
SEXP eval_r(SEXP call, SEXP env);
// The same for a function of R's API that may jump.
SEXP call_r(SEXP (*function)(void*), void* data, UnwindToken& token);

// --- r/values/handles.cpp: R objects that C++ holds, C++ objects that R holds

// Keeps an R object alive. How many there are is counted, so that tests can see that none is
// forgotten.
class Held {
 public:
  Held() = default;
  explicit Held(SEXP object) { reset(object); }
  ~Held() { reset(R_NilValue); }
  Held(const Held& other) { reset(other.object_); }
  Held& operator=(const Held& other) {
    reset(other.object_);
    return *this;
  }
  void reset(SEXP object);
  SEXP get() const { return object_; }
  static int count();

 private:
  SEXP object_ = R_NilValue;
  SEXP cell_ = R_NilValue;
};

// The environment in which the core calls the package's own functions.
SEXP package_namespace();

// A kind of handle: external pointers carry it as their tag, and errors name it.
class HandleKind {
 public:
  explicit HandleKind(const char* name) : name_(name) {}
  const char* name() const { return name_; }
  SEXP tag() const {
    if (!tag_) tag_ = Rf_install(name_);
    return tag_;
  }

 private:
  const char* name_;
  mutable SEXP tag_ = nullptr;  // symbols are never collected
};

inline const HandleKind kGraph("runhooks_graph");
inline const HandleKind kTensor("runhooks_tensor");
inline const HandleKind kOperation("runhooks_operation");
inline const HandleKind kVariable("runhooks_variable");
inline const HandleKind kSession("runhooks_session");
inline const HandleKind kSessionOwner("runhooks_session_owner");
inline const HandleKind kContext("runhooks_context");
inline const HandleKind kCoordinator("runhooks_coordinator");
inline const HandleKind kPredictions("runhooks_predictions");
inline const HandleKind kMonitored("runhooks_monitored_session");
inline const HandleKind kHistory("runhooks_history");
inline const HandleKind kScaffold("runhooks_scaffold");
inline const HandleKind kSaver("runhooks_saver");
inline const HandleKind kMade("runhooks_made");

inline bool is_handle(SEXP x, const HandleKind& kind) {
  return TYPEOF(x) == EXTPTRSXP && R_ExternalPtrTag(x) == kind.tag();
}

// An external pointer that owns a shared_ptr<T>.
template <typename T>
SEXP make_handle(std::shared_ptr<T> object, const HandleKind& kind) {
  auto* owned = new std::shared_ptr<T>(std::move(object));
  Rcpp::Shield<SEXP> handle(R_MakeExternalPtr(owned, kind.tag(), R_NilValue));
  R_RegisterCFinalizerEx(
      handle,
      [](SEXP pointer) {
        delete static_cast<std::shared_ptr<T>*>(R_ExternalPtrAddr(pointer));
        R_ClearExternalPtr(pointer);
      },
      TRUE);
  return handle;
}

// Throws where `handle` is not of this kind, or was saved and read back.
void* handle_address(SEXP handle, const HandleKind& kind);

template <typename T>
std::shared_ptr<T>& from_handle(SEXP handle, const HandleKind& kind) {
  return *static_cast<std::shared_ptr<T>*>(handle_address(handle, kind));
}

// --- r/graph/graph.cpp: handles of graphs and what is in them; the same thing has the same handle
// as long as R holds it

SEXP graph_handle(const std::shared_ptr<Graph>& graph);
std::shared_ptr<Graph> graph_of(SEXP handle);
SEXP tensor_handle(const Output& output);
SEXP operation_handle(Operation* op);
SEXP variable_handle(const VariablePtr& variable);
bool is_tensor(SEXP x);
bool is_operation(SEXP x);
bool is_variable(SEXP x);
Output tensor_of(SEXP x);
Operation* operation_of(SEXP x);
VariablePtr variable_of(SEXP x);

// The graph that R functions add to (tf.get_default_graph()); a stack.
class DefaultGraph {
 public:
  explicit DefaultGraph(std::shared_ptr<Graph> graph);
  ~DefaultGraph();
  DefaultGraph(const DefaultGraph&) = delete;
  DefaultGraph& operator=(const DefaultGraph&) = delete;

 private:
  size_t outer_floor_;
};
std::shared_ptr<Graph> default_graph();
// Where an operation on a tensor of `graph` goes: into the function that is being made, if any.
std::shared_ptr<Graph> graph_for(Graph& graph);

// --- r/graph/optimizer.cpp: functions of R that variables have

// NULL is none. What it gives is a tensor, or NULL (no regularization loss).
OfVariable of_variable_from_r(SEXP x);
Initializer initializer_from_r(SEXP x);

// --- r/graph/graph.cpp: operations

// An operation of the registry: `inputs` are tensors, variables or R values, `attrs` a named list.
SEXP create_op_from_r(const OpDef& def, SEXP inputs, SEXP attrs, SEXP name);
// --- r/values/checked.cpp: what R gave, checked before it is looked into: R itself would jump over
// our frames

// A list, or NULL for an empty one.
class RList {
 public:
  // `what` names it in messages; it must outlive the list.
  RList(SEXP x, const char* what);
  R_xlen_t size() const { return Rf_xlength(list_); }
  SEXP operator[](R_xlen_t i) const;
  bool has_names() const { return names_ != R_NilValue; }
  // Throws where there are no names.
  std::string name(R_xlen_t i) const;
  // NULL where the list has no such element.
  SEXP find(const char* name) const;

 private:
  SEXP list_, names_;
  const char* what_;
};

// One number that is not missing.
double number_from_r(SEXP x, const char* what);
// The number as an integer, towards 0; throws where it is none or too large.
int64_t whole_from_r(double x, const char* what);
inline int64_t whole_from_r(SEXP x, const char* what) {
  return whole_from_r(number_from_r(x, what), what);
}
SEXP function_from_r(SEXP x, const char* what);
// NULL is none of it.
inline bool is_true(SEXP x) {
  return TYPEOF(x) == LGLSXP && Rf_xlength(x) == 1 && LOGICAL(x)[0] == TRUE;
}
// A specification: a list with names.
std::shared_ptr<Args> spec_from_r(SEXP spec, const char* what);

// --- r/values/convert.cpp: values

// The text of an element of a character vector. R itself would jump over our frames where it has
// none.
const char* utf8_of(SEXP element);

// A list of NULLs. Duplicating one is quicker than setting names. Not protected.
SEXP named_list(const std::vector<const char*>& names);

// R's vectors are in column-major, tensors in row-major order. `wanted` kInvalid: double to
// float64, integer to int32, logical to bool, character to string.
Tensor tensor_from_r(SEXP x, DType wanted = DType::kInvalid);
// The same with a dimension of rows in any case: one number is one row.
Tensor rows_from_r(SEXP x, DType wanted = DType::kInvalid);
// Rank 0: a plain scalar, else an array with dim. int64 becomes double. Not protected.
// Strings that R cannot hold (with a zero byte), and all of them where `as_bytes`, are raw vectors.
SEXP tensor_to_r(const Tensor& tensor, bool as_bytes = false);
Value value_from_r(SEXP x);
SEXP value_to_r(const Value& value);
std::shared_ptr<Args> args_from_r(SEXP list, const std::string& owner);
DType dtype_from_r(SEXP x);
// A numeric vector of dimensions, NA for an unknown one; NULL is an unknown rank.
Shape shape_from_r(SEXP x);
SEXP shape_to_r(const Shape& shape);
std::string string_from_r(SEXP x);

// A function of R that the core may call.
class RCallable : public Callable {
 public:
  explicit RCallable(SEXP function) : function_(function) {}
  Value call(const std::vector<Value>& arguments) override;
  // Of a function that R has wrapped for the core, the one inside: its attribute "wrapped".
  const void* identity() const override;

 private:
  Held function_;
};

// --- r/data/dataset.cpp

// What R gave for the rows of a column of a dataset: a tensor or a sparse matrix.
InMemoryColumn column_from_r(SEXP x, DType wanted);

// --- r/data/iterator.cpp

// NULL where it is none.
SaveablePtr saveable_of(SEXP x);

// --- r/graph/columns.cpp

// A tensor or a sparse one.
Feature feature_from_r(SEXP feature);
// A list for each feature that a column or a head reads.
SEXP reads_to_r(const std::vector<FeatureRead>& reads);

// --- r/values/plain_objects.cpp: what may be written to files that others read

// Numbers, strings, lists, ... with attributes. Whatever else is found in it is an error that names
// the place, `whole` being the name of all ("state"), and `owner` whose it is.
PlainData plain_from_r(SEXP x, const std::string& owner, const std::string& whole);
// Not protected. Attributes that do not fit are kDataLoss.
SEXP plain_to_r(const PlainData& data);

// --- r/loop/session.cpp: runs

// What was asked for, nested as it came, and how results are put into the same form.
class FetchTree {
 public:
  // Names are looked up in `graph`. Throws for what is no fetch.
  FetchTree(SEXP structure, Graph& graph);
  // TRUE where `structure` asks for the same in the same form.
  bool matches(SEXP structure) const;
  const std::vector<Fetch>& fetches() const { return fetches_; }
  // Not protected.
  template <typename Results>
  SEXP results_to_r(const Results& result) const {
    return node_to_r(root_, [&result](size_t i) -> const Tensor& { return result(i); });
  }

 private:
  struct Node {
    SEXP source = R_NilValue;  // the handle or the name, held by structure_
    size_t fetch = 0;
    bool is_leaf = true;
    bool is_name = false;   // of an endpoint with several tensors
    bool is_bytes = false;  // a serialized message, which is no text even where it could be one
    SEXP names = R_NilValue;
    Held form;  // an empty list with these names, to be filled
    std::vector<Node> children;
  };
  using Lookup = std::function<const Tensor&(size_t)>;
  Node parse(SEXP x, Graph& graph);
  Node leaf(SEXP source, const Fetch& fetch);
  Node named(SEXP name, Graph& graph);
  static bool node_matches(const Node& node, SEXP x);
  static SEXP node_to_r(const Node& node, const Lookup& result);

  Held structure_;
  std::vector<Fetch> fetches_;
  Node root_;
};

// What R asks of a run, as the core knows it. Asking for the same again costs a comparison.
class RequestedArgs {
 public:
  // `request` is what cpp_session_run_args() gives. Fetches of NULL are none.
  const RunArgs* update(SEXP request, Graph& graph);
  // Hooks are shown this as what the caller asked for.
  void keep(SEXP request);
  void forget() { tree_.reset(); }
  // NULL where nothing is fetched.
  const FetchTree* tree() const { return tree_.get(); }

 private:
  std::unique_ptr<FetchTree> tree_;
  RunArgs args_;
};

// feed_dict: NULL, a named list (tensor name -> value), or what dict() gives.
Feeds feeds_from_r(SEXP feed_dict, Graph& graph);
// The R object of a session; good, but closed, after the session is gone.
SEXP session_handle(Session& session);
// That of the coordinator of its loop; no longer good when the session is gone.
SEXP coordinator_handle(Coordinator& coordinator, Session& session);
// list(fetches, feed_dict, options) of class session_run_args.
SEXP run_args_to_r(SEXP fetches, SEXP feed_dict, SEXP options);
bool is_request(SEXP x);

RunOptions run_options_from_r(SEXP options);
SEXP run_options_to_r(const RunOptions& options);
SEXP step_stats_to_r(const StepStats& stats);
// Into what tf$RunMetadata() has made; NULL is fine.
void fill_run_metadata(SEXP run_metadata, const RunMetadata& metadata);

// --- r/loop/hook.cpp

// NULL where the list has no such element.
SEXP list_element(SEXP list, const char* name);
// The plain arguments of a built-in hook. Savers, scaffolds and listeners are not among them.
HookPtr hook_from_r(SEXP hook, const std::string& label);
// Those that save, and have no scaffold of their own, get this one.
HookList hooks_from_r(SEXP hooks, const std::shared_ptr<Scaffold>& scaffold = nullptr);
std::vector<ListenerPtr> listeners_from_r(SEXP listeners);

// --- r/loop/estimator.cpp

// The canned or custom estimator of a specification.
Estimator estimator_from_r(SEXP spec, SEXP config);
// What an input function returned: list(features = <named list>, labels), or list(given =
// <anything>) for a model function of the user.
ModelInput model_input_from_r(SEXP result);
HookPtr in_memory_evaluator_from_r(SEXP hook);

// --- r/loop/model_fn.cpp

// A function of what the input function returned (ModelInput::given) and of the mode.
ModelFn custom_model_from_r(SEXP model_fn);

// --- r/files/saver.cpp

SEXP saver_handle(const std::shared_ptr<Saver>& saver);
bool is_saver(SEXP x);
// NULL where R's object is NULL.
std::shared_ptr<Saver> saver_of(SEXP x);
std::shared_ptr<Scaffold> scaffold_of(SEXP x);

// --- r/loop/interrupt.cpp

// The core asks R whether to go on.
void setup_interrupts();
// Hooks that wait can be interrupted.
void setup_sleep();

}  // namespace r
}  // namespace runhooks
