// Errors and jumps across the border.
#include <csetjmp>

#include "runhooks_r.h"
#include "session/run_where.h"

namespace runhooks {
namespace r {

namespace {

// What the handler around a loop has said of the condition that is unwinding.
struct Noted {
  bool is_steering = false;
  bool is_interrupt = false;
  Code code = Code::kUnknown;
  std::string message;
  Held condition;
};

Noted& noted() {
  static Noted* state = new Noted;
  return *state;
}

struct EvalData {
  SEXP call;
  SEXP env;
  std::jmp_buf jump;
};

SEXP eval_in(void* data) {
  auto* eval = static_cast<EvalData*>(data);
  return Rf_eval(eval->call, eval->env);
}

void jump_back(void* data, Rboolean jumps) {
  if (jumps) std::longjmp(static_cast<EvalData*>(data)->jump, 1);
}

[[noreturn]] void throw_unwind(SEXP token) {
  Noted& note = noted();
  const bool is_interrupt = note.is_interrupt;
  note.is_interrupt = false;
  if (!note.is_steering) {
    R_PreserveObject(token);  // released when the jump goes on
    throw RUnwind(token, is_interrupt);
  }
  // The jump ends here: the condition steers the loop, and reaches the user only if it leaves the
  // loop.
  note.is_steering = false;
  Error error(note.code, note.message);
  error.foreign = std::make_shared<Held>(note.condition);
  note.condition.reset(R_NilValue);
  throw error;
}

}  // namespace

UnwindToken::UnwindToken() : token_(R_MakeUnwindCont()) { R_PreserveObject(token_); }
UnwindToken::~UnwindToken() { R_ReleaseObject(token_); }

SEXP eval_r(SEXP call, SEXP env, UnwindToken& token) {
  if (token.in_use_) {
    UnwindToken another;
    return eval_r(call, env, another);
  }
  struct InUse {
    bool& flag;
    explicit InUse(bool& f) : flag(f) { flag = true; }
    ~InUse() { flag = false; }
  } in_use(token.in_use_);
  EvalData data;
  data.call = call;
  data.env = env;
  if (setjmp(data.jump)) throw_unwind(token.token_);
  SEXP result = R_UnwindProtect(eval_in, &data, jump_back, &data, token.token_);
  SETCAR(token.token_, R_NilValue);  // it would keep the result alive
  return result;
}

SEXP eval_r(SEXP call, SEXP env) {
  UnwindToken token;
  return eval_r(call, env, token);
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
    throw Rcpp::LongjumpException(unwind.token());
  }
  throw Rcpp::exception(error.message().c_str(), false);
}

}  // namespace r
}  // namespace runhooks

using namespace runhooks;

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

//' Notes that the condition which is being signalled steers the loop (out_of_range, aborted, ...).
//' @noRd
// [[Rcpp::export(rng = false)]]
void cpp_note_condition(SEXP condition, std::string code, std::string message) {
  r::border([&] {
    r::Noted& note = r::noted();
    note.code = code_from_name(code);
    note.message = message;
    note.condition.reset(condition);
    note.is_steering = true;
  });
}

//' Notes that an interrupt is being signalled, or that it has been dealt with.
//' @noRd
// [[Rcpp::export(rng = false)]]
void cpp_note_interrupt(bool is_under_way) { r::noted().is_interrupt = is_under_way; }
