// Errors and R longjmps at the boundary between R and the core.
#include <cxxabi.h>

#include <csetjmp>
#include <cstdlib>
#include <typeinfo>

#include "base/deferred_errors.h"
#include "base/denormals.h"
#include "base/log.h"
#include "base/suggestions.h"
#include "r/values/guarded_entry.h"
#include "r/values/owned_objects.h"
#include "r/values/values.h"
#include "session/loop_location.h"
#include "session/run_hook.h"

namespace runhooks {
namespace r {

namespace {

// The R function unwind_to() (R/base_conditions.R) jumps with a list as value. These are the
// indices of its elements. R passes the list on unchanged even if on.exit() code runs.
enum UnwindElement { kCondition, kKind, kMessage };

bool is_unwind_value(SEXP value) {
  // The value is a null pointer if an uncaught error jumps to the top level.
  return value != nullptr && TYPEOF(value) == VECSXP && Rf_inherits(value, "runhooks_loop_exit");
}

struct CallData {
  SEXP (*function)(void*);
  void* data;
  std::jmp_buf jump;
};

SEXP call_in(void* data) {
  auto* call = static_cast<CallData*>(data);
  return call->function(call->data);
}

void jump_back(void* data, Rboolean jumps) {
  if (jumps) std::longjmp(static_cast<CallData*>(data)->jump, 1);
}

// Throws a jump as a C++ exception: an Error if its condition controls the loop, else RUnwind.
[[noreturn]] void throw_unwind(SEXP token) {
  SEXP value = CAR(token);
  if (!is_unwind_value(value)) throw RUnwind(token, /*is_interrupt=*/false);
  const std::string kind = string_from_r(VECTOR_ELT(value, kKind));
  if (kind == "interrupt") throw RUnwind(token, /*is_interrupt=*/true);
  Error error(code_from_name(kind), string_from_r(VECTOR_ELT(value, kMessage)));
  error.foreign = std::make_shared<Preserved>(VECTOR_ELT(value, kCondition));
  throw error;
}

SEXP eval_in(void* data) {
  auto* call_and_env = static_cast<std::pair<SEXP, SEXP>*>(data);
  return Rf_eval(call_and_env->first, call_and_env->second);
}

int entry_depth = 0;
int64_t outermost_calls = 0;
bool has_warnings = false;

int pending_interrupts = 0;

// A copy of an unwind token: R code may run and reuse the token before the jump continues.
struct SavedToken {
  SavedToken(SEXP unwind_token, bool interrupts) : is_interrupt(interrupts) {
    // The CDR is the raw jump target; duplicating the whole cons cell would copy it as a list.
    Rcpp::Shield<SEXP> jump_target(Rf_duplicate(CDR(unwind_token)));
    Rcpp::Shield<SEXP> copy(Rf_cons(CAR(unwind_token), jump_target));
    token.reset(copy);
    if (is_interrupt) ++pending_interrupts;
  }
  ~SavedToken() {
    if (is_interrupt) --pending_interrupts;
  }
  SavedToken(const SavedToken&) = delete;
  SavedToken& operator=(const SavedToken&) = delete;
  Preserved token;
  bool is_interrupt;
};

std::string type_name(const std::type_info* type) {
  if (!type) return "an exception that has no type";
  int status = 0;
  const std::unique_ptr<char, void (*)(void*)> name(
      abi::__cxa_demangle(type->name(), nullptr, nullptr, &status), std::free);
  return name ? name.get() : type->name();
}

}  // namespace

RUnwind::RUnwind(SEXP token, bool is_interrupt)
    : ForeignUnwind(is_interrupt),
      token_(std::make_shared<SavedToken>(token, is_interrupt)),
      call_(outermost_calls) {}

bool interrupt_pending() { return pending_interrupts > 0; }

void RUnwind::resume_unwind() const {
  if (call_ != outermost_calls) {
    raise_error(Error(Code::kInternal, "An R unwind token was used outside of its call."));
  }
  SEXP token = static_cast<SavedToken*>(token_.get())->token.get();
  R_PreserveObject(token);
  throw Rcpp::LongjumpException(token);
}

UnwindToken::UnwindToken() : token_(R_MakeUnwindCont()) { R_PreserveObject(token_); }
UnwindToken::~UnwindToken() { R_ReleaseObject(token_); }

namespace {
uint64_t num_r_calls = 0;
}  // namespace

uint64_t calls_of_r() { return num_r_calls; }

SEXP call_r(SEXP (*function)(void*), void* data, UnwindToken& token, bool translates) {
  ++num_r_calls;
  if (token.in_use_) {
    UnwindToken nested_token;
    return call_r(function, data, nested_token, translates);
  }
  struct InUseScope {
    bool& flag;
    explicit InUseScope(bool& f) : flag(f) { flag = true; }
    ~InUseScope() { flag = false; }
  } in_use(token.in_use_);
  const ExactDenormals restore_fp_mode;
  CallData call;
  call.function = function;
  call.data = data;
  if (setjmp(call.jump)) {
    if (translates) throw_unwind(token.token_);
    throw RUnwind(token.token_, /*is_interrupt=*/false);
  }
  SEXP result = R_UnwindProtect(call_in, &call, jump_back, &call, token.token_);
  SETCAR(token.token_, R_NilValue);  // the token must not keep the result alive
  return result;
}

namespace {

SEXP eval_with_jumps(SEXP call, SEXP env, UnwindToken& token) {
  std::pair<SEXP, SEXP> call_and_env(call, env);
  return call_r(eval_in, &call_and_env, token);
}

std::vector<std::string> classes_of(SEXP condition) {
  std::vector<std::string> names;
  Rcpp::Shield<SEXP> classes(Rf_getAttrib(condition, R_ClassSymbol));
  for (R_xlen_t i = 0; TYPEOF(classes) == STRSXP && i < Rf_xlength(classes); ++i) {
    names.push_back(utf8_of(STRING_ELT(classes, i)));
  }
  return names;
}

// Returns the error code that a class of the condition names. A code that controls the loop counts
// only if it is in the first class.
Code code_of_condition(SEXP condition) {
  const std::vector<Code> kinds = {Code::kInvalidArgument, Code::kNotFound,
                                   Code::kFailedPrecondition, Code::kDataLoss,
                                   Code::kResourceExhausted};
  const std::vector<Code> loop_codes = {Code::kOutOfRange, Code::kStopIteration, Code::kAborted,
                                        Code::kUnavailable};
  const std::vector<std::string> classes = classes_of(condition);
  for (size_t i = 0; i < classes.size(); ++i) {
    for (const auto& codes : {kinds, i == 0 ? loop_codes : kinds}) {
      for (const Code code : codes) {
        if (classes[i] == str_cat("runhooks_error_", code_name(code))) return code;
      }
    }
  }
  return Code::kUnknown;
}

// Evaluates the call by the R function error_as_value(), which returns an error as a value. Throws
// such an error as a ForeignError that contains the condition.
SEXP eval_deferring_errors(SEXP call, SEXP env, UnwindToken& token) {
  Rcpp::Shield<SEXP> quoted(Rf_lang2(Rf_install("quote"), call));
  Rcpp::Shield<SEXP> deferring_call(Rf_lang3(Rf_install("error_as_value"), quoted, env));
  Rcpp::Shield<SEXP> result(eval_with_jumps(deferring_call, package_namespace(), token));
  if (Rf_inherits(result, "runhooks_deferred_error")) {
    SEXP condition = VECTOR_ELT(result, 0);
    const PropagateErrorsScope propagate;
    throw ForeignError(error_of_condition(condition, code_of_condition(condition)),
                       classes_of(condition));
  }
  return result;
}

}  // namespace

SEXP eval_r(SEXP call, SEXP env, UnwindToken& token) {
  const OwnedObjects::Scope global_list(nullptr);
  return DeferErrorsScope::is_on() ? eval_deferring_errors(call, env, token)
                                   : eval_with_jumps(call, env, token);
}

SEXP eval_r(SEXP call, SEXP env) {
  UnwindToken token;
  return eval_r(call, env, token);
}

SEXP new_call(SEXP function, std::initializer_list<SEXP> arguments) {
  Rcpp::Shield<SEXP> call(allocate_vector(LANGSXP, static_cast<R_xlen_t>(arguments.size()) + 1));
  SETCAR(call, function);
  SEXP cell = call;
  for (SEXP argument : arguments) {
    cell = CDR(cell);
    SETCAR(cell, argument);
  }
  return call;
}

SEXP call_r_function(SEXP function, std::initializer_list<SEXP> arguments, SEXP env) {
  Rcpp::Shield<SEXP> call(new_call(function, arguments));
  return eval_r(call, env);
}

SEXP call_internal(const char* name, std::initializer_list<SEXP> arguments) {
  return call_r_function(Rf_install(name), arguments, package_namespace());
}

SEXP guard_allocation(SEXP (*function)(void*), void* data) {
  static UnwindToken& token = *new UnwindToken;  // never released, because R may be gone at exit
  // Allocations do not count as calls of R code.
  const uint64_t before = num_r_calls;
  SEXP result = call_r(function, data, token);
  num_r_calls = before;
  return result;
}

SEXP allocate_vector(unsigned type, R_xlen_t length) { return Rf_allocVector(type, length); }

EntryDepth::EntryDepth() { outermost_calls += entry_depth++ == 0; }
EntryDepth::~EntryDepth() { --entry_depth; }

void mark_warning_pending() { has_warnings = true; }

void raise_warnings() {
  flush_deferred_log();
  if (!has_warnings || entry_depth > 1) return;
  has_warnings = false;
  call_internal("raise_warnings");
}

Error error_of_condition(SEXP condition, Code code) {
  Rcpp::Shield<SEXP> text(call_internal("condition_text", {condition}));
  Error error(code, string_from_r(text));
  error.foreign = std::make_shared<Preserved>(condition);
  return error;
}

void raise_exception(const char* where) {
  const auto internal = [where](const std::string& what) {
    raise_error(Error(Code::kInternal, str_cat(where, "() raised ", what, "."),
                      {"This is a bug in runhooks."}));
  };
  try {
    throw;
  } catch (const Rcpp::LongjumpException&) {
    throw;
  } catch (const Rcpp::internal::InterruptedException&) {
    throw;
  } catch (const Rcpp::exception&) {
    throw;
  } catch (const Rcpp::eval_error&) {
    throw;
  } catch (const std::bad_alloc&) {
    raise_error(Error(Code::kResourceExhausted, "There is not enough memory."));
  } catch (const std::length_error&) {
    raise_error(Error(Code::kResourceExhausted, "The requested size is too large."));
  } catch (const std::exception& error) {
    internal(str_cat(type_name(&typeid(error)), ": ", error.what()));
  } catch (const ForeignUnwind&) {
    internal("an unwind without an R jump");
  } catch (...) {
    internal(type_name(abi::__cxa_current_exception_type()));
  }
  throw std::logic_error("An exception was dropped.");
}

namespace {

SEXP stop_with(SEXP condition) {
  Rcpp::Shield<SEXP> protected_condition(condition);
  return Rf_lang2(Rf_install("stop"), protected_condition);
}

}  // namespace

// Converts the current exception as Rcpp's macro END_RCPP does: to a call of stop(), the token of a
// jump, or NULL for an interrupt.
SEXP caught_exception() {
  try {
    throw;
  } catch (const Rcpp::internal::InterruptedException&) {
    return R_NilValue;
  } catch (const Rcpp::LongjumpException& jump) {
    return jump.token;
  } catch (const Rcpp::exception& error) {
    return stop_with(rcpp_exception_to_r_condition(error));
  } catch (const std::exception& error) {
    return stop_with(exception_to_r_condition(error));
  } catch (...) {
    return stop_with(string_to_try_error("c++ exception (unknown reason)"));
  }
}

SEXP raise_in_r(SEXP caught) {
  if (caught == R_NilValue) {
    Rf_onintr();
  } else if (TYPEOF(caught) == LANGSXP) {
    PROTECT(caught);
    Rf_eval(caught, R_BaseEnv);
  } else {
    Rcpp::internal::resumeJump(caught);
  }
  return R_NilValue;
}

void raise_error(const Error& error) {
  Rcpp::Shield<SEXP> condition(error.foreign ? static_cast<Preserved*>(error.foreign.get())->get()
                                             : R_NilValue);
  Rcpp::Shield<SEXP> code(text_to_r(code_name(error.code())));
  Rcpp::Shield<SEXP> message(text_to_r(error.message()));
  Rcpp::Shield<SEXP> hints(Rcpp::wrap(error.hints()));
  const auto* foreign = dynamic_cast<const ForeignError*>(&error);
  Rcpp::Shield<SEXP> classes(foreign ? Rcpp::wrap(foreign->classes()) : R_NilValue);
  Rcpp::Shield<SEXP> call(
      Rf_lang6(Rf_install("raise_core_error"), condition, code, message, hints, classes));
  const OwnedObjects::Scope global_list(nullptr);
  std::pair<SEXP, SEXP> call_and_env(call, package_namespace());
  UnwindToken token;
  try {
    // Without translation, a condition that controls a loop continues its jump to the loop's frame.
    call_r(eval_in, &call_and_env, token, /*translates=*/false);
  } catch (const RUnwind& unwind) {
    unwind.resume_unwind();
  }
  throw Rcpp::exception(error.message().c_str(), false);
}

}  // namespace r
}  // namespace runhooks

using namespace runhooks;
using namespace runhooks::r;

// Returns the elements of `known` that are similar to `name`, most similar first.
// [[Rcpp::export(rng = false)]]
SEXP cpp_closest_matches(Text name, Texts known) {
  return guarded_entry([&]() -> SEXP { return Rcpp::wrap(closest_matches(name, known)); });
}

//' The location of the innermost loop: NULL, or the hook, the method and the global step.
//' @noRd
// [[Rcpp::export(rng = false)]]
SEXP cpp_loop_location() {
  const LoopLocation* where = LoopLocation::innermost();
  if (!where || !where->hook) return R_NilValue;
  return Rcpp::List::create(Rcpp::_["hook"] = where->hook->name(),
                            Rcpp::_["method"] = where->method,
                            Rcpp::_["step"] = static_cast<double>(where->global_step()));
}
