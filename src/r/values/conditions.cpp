// Errors and jumps across the border.
#include <csetjmp>

#include "base/denormals.h"
#include "base/near_names.h"
#include "r/values/border.h"
#include "r/values/handles.h"
#include "r/values/values.h"
#include "session/run_hook.h"
#include "session/run_where.h"

namespace runhooks {
namespace r {

namespace {

// What a jump brings: with_run_conditions() leaves by the value jump_out() has made, and R hands it
// over unchanged, whatever runs on the way (an on.exit() with loops of its own).
enum LeaveElement { kCondition, kKind, kMessage };

bool is_leave(SEXP value) {
  // an error that nobody catches jumps to the top level without a value, which is no R object then
  return value != nullptr && TYPEOF(value) == VECSXP && Rf_inherits(value, "runhooks_leave");
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

// A condition that steers the loop ends its jump here; it reaches the user only if it leaves the
// loop.
[[noreturn]] void throw_unwind(SEXP token) {
  SEXP value = CAR(token);
  if (!is_leave(value)) throw RUnwind(token, /*is_interrupt=*/false);
  const std::string kind = string_from_r(VECTOR_ELT(value, kKind));
  if (kind == "interrupt") throw RUnwind(token, /*is_interrupt=*/true);
  Error error(code_from_name(kind), string_from_r(VECTOR_ELT(value, kMessage)));
  error.foreign = std::make_shared<Held>(VECTOR_ELT(value, kCondition));
  throw error;
}

SEXP eval_in(void* data) {
  auto* what = static_cast<std::pair<SEXP, SEXP>*>(data);
  return Rf_eval(what->first, what->second);
}

}  // namespace

RUnwind::RUnwind(SEXP token, bool is_interrupt)
    : ForeignUnwind(is_interrupt), token_(std::make_shared<Held>(token)) {}

void RUnwind::go_on() const {
  SEXP token = static_cast<Held*>(token_.get())->get();
  R_PreserveObject(token);
  throw Rcpp::LongjumpException(token);
}

UnwindToken::UnwindToken() : token_(R_MakeUnwindCont()) { R_PreserveObject(token_); }
UnwindToken::~UnwindToken() { R_ReleaseObject(token_); }

SEXP call_r(SEXP (*function)(void*), void* data, UnwindToken& token) {
  if (token.in_use_) {
    UnwindToken another;
    return call_r(function, data, another);
  }
  struct InUse {
    bool& flag;
    explicit InUse(bool& f) : flag(f) { flag = true; }
    ~InUse() { flag = false; }
  } in_use(token.in_use_);
  const KeepDenormals as_r_knows_them;
  CallData call;
  call.function = function;
  call.data = data;
  if (setjmp(call.jump)) throw_unwind(token.token_);
  SEXP result = R_UnwindProtect(call_in, &call, jump_back, &call, token.token_);
  SETCAR(token.token_, R_NilValue);  // it would keep the result alive
  return result;
}

SEXP eval_r(SEXP call, SEXP env, UnwindToken& token) {
  std::pair<SEXP, SEXP> what(call, env);
  return call_r(eval_in, &what, token);
}

SEXP eval_r(SEXP call, SEXP env) {
  UnwindToken token;
  return eval_r(call, env, token);
}

namespace {
int border_depth = 0;
bool has_warnings = false;
}  // namespace

BorderDepth::BorderDepth() { ++border_depth; }
BorderDepth::~BorderDepth() { --border_depth; }

void note_warning() { has_warnings = true; }

void raise_warnings() {
  if (!has_warnings || border_depth > 1) return;
  has_warnings = false;
  Rcpp::Shield<SEXP> call(Rf_lang1(Rf_install("raise_warnings")));
  eval_r(call, package_namespace());
}

Error error_of_condition(SEXP condition, Code code) {
  Rcpp::Shield<SEXP> call(Rf_lang2(Rf_install("condition_text"), condition));
  Rcpp::Shield<SEXP> text(eval_r(call, package_namespace()));
  Error error(code, string_from_r(text));
  error.foreign = std::make_shared<Held>(condition);
  return error;
}

void raise_error(const Error& error) {
  Rcpp::Shield<SEXP> condition(error.foreign ? static_cast<Held*>(error.foreign.get())->get()
                                             : R_NilValue);
  Rcpp::Shield<SEXP> code(Rf_mkString(code_name(error.code())));
  Rcpp::Shield<SEXP> message(Rf_mkString(error.message().c_str()));
  Rcpp::Shield<SEXP> hints(Rcpp::wrap(error.hints()));
  Rcpp::Shield<SEXP> call(
      Rf_lang5(Rf_install("raise_core_error"), condition, code, message, hints));
  try {
    eval_r(call, package_namespace());
  } catch (const RUnwind& unwind) {
    unwind.go_on();
  }
  throw Rcpp::exception(error.message().c_str(), false);
}

}  // namespace r
}  // namespace runhooks

using namespace runhooks;
using namespace runhooks::r;

// What of `known` is nearly `name`, the nearest first.
// [[Rcpp::export(rng = false)]]
SEXP cpp_near_names(Text name, Texts known) {
  return border([&]() -> SEXP { return Rcpp::wrap(near_names(name, known)); });
}

//' Where the innermost loop is: NULL, or the hook, the method and the global step.
//' @noRd
// [[Rcpp::export(rng = false)]]
SEXP cpp_run_where() {
  const RunWhere* where = RunWhere::innermost();
  if (!where || !where->hook) return R_NilValue;
  return Rcpp::List::create(Rcpp::_["hook"] = where->hook->name(),
                            Rcpp::_["method"] = where->method,
                            Rcpp::_["step"] = static_cast<double>(where->global_step()));
}
