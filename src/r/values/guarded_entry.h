// The border: errors, warnings and jumps on their way between R and the core.
#pragma once

#include <memory>
#include <type_traits>

#include "base/deferred_errors.h"
#include "base/status.h"
#include "r/values/rcpp.h"

namespace runhooks {
namespace r {

// An R jump (an error, an interrupt, a restart) that has reached a C++ frame. It goes on when the
// border is reached; where somebody drops it, it ends there. It leads to a frame of the call that
// is running, so nobody keeps it for another one: who keeps errors has them held
// (base/deferred_errors.h).
class RUnwind : public ForeignUnwind {
 public:
  RUnwind(SEXP token, bool is_interrupt);
  // Rcpp lets go of the token when the jump goes on. One of another call is an error.
  [[noreturn]] void resume_unwind() const;

 private:
  std::shared_ptr<void> token_;
  int64_t call_;  // of the core, by R
};

// Whether an interrupt is on its way to the border. R code may run all the same, but nobody else is
// to hear of its errors.
bool interrupt_pending();

// Raises the core's error as an R condition of class runhooks_error_<kind>: throws, never returns.
[[noreturn]] void raise_error(const Error& error);
// The same for the exception that is being handled, whatever it is, of the function `where`. Rcpp's
// own go on as they are.
[[noreturn]] void raise_exception(const char* where);

// A warning of the core waits in R; it is raised when the outermost call of the core has ended,
// since a jump to who catches it must not end what is running.
void note_warning();
void raise_warnings();

class EntryDepth {
 public:
  EntryDepth();
  ~EntryDepth();
  EntryDepth(const EntryDepth&) = delete;
  EntryDepth& operator=(const EntryDepth&) = delete;

 private:
  PropagateErrorsScope errors_;  // they go to the R function that calls us
};

// The body of every exported function, `where`: no exception leaves it, no R jump crosses a C++
// frame.
template <typename Body>
auto guarded_entry(Body body, const char* where = __builtin_FUNCTION()) -> decltype(body()) {
  const EntryDepth depth;
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
    unwind.resume_unwind();
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
// How many such calls there have been.
uint64_t calls_of_r();

}  // namespace r
}  // namespace runhooks
