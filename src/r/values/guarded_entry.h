// guarded_entry() and eval_r(): the boundary between R and the core for errors, warnings and jumps.
#pragma once

#include <memory>
#include <type_traits>

#include "base/deferred_errors.h"
#include "base/status.h"
#include "r/values/rcpp.h"

namespace runhooks {
namespace r {

// A longjmp of R (an error, an interrupt, a restart) that has reached a C++ frame. guarded_entry()
// resumes it; catching and dropping it ends the jump. It targets a frame of the current call, so it
// cannot be stored for another one: use DeferErrorsScope (base/deferred_errors.h) instead.
class RUnwind : public ForeignUnwind {
 public:
  RUnwind(SEXP token, bool is_interrupt);
  // Rcpp releases the token on the jump. Throws if the token belongs to another call.
  [[noreturn]] void resume_unwind() const;

 private:
  std::shared_ptr<void> token_;
  int64_t call_;  // number of the outermost call from R
};

// True while an interrupt unwinds. R code may still run, but its errors must not be reported.
bool interrupt_pending();

// Raises the core's error as an R condition of class runhooks_error_<kind>: throws, never returns.
[[noreturn]] void raise_error(const Error& error);
// The same for the current exception in the function `where`. Rethrows exceptions of Rcpp.
[[noreturn]] void raise_exception(const char* where);

// R raises a stored warning after the outermost call, since its handler may jump.
void mark_warning_pending();
void raise_warnings();

class EntryDepth {
 public:
  EntryDepth();
  ~EntryDepth();
  EntryDepth(const EntryDepth&) = delete;
  EntryDepth& operator=(const EntryDepth&) = delete;

 private:
  PropagateErrorsScope errors_;  // errors propagate to the R caller
};

// Wraps an exported function: no exception leaves it, and no R jump crosses a C++ frame.
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

// A reusable token for R_UnwindProtect(); nested calls get their own.
class UnwindToken {
 public:
  UnwindToken();
  ~UnwindToken();
  UnwindToken(const UnwindToken&) = delete;
  UnwindToken& operator=(const UnwindToken&) = delete;

 private:
  friend SEXP call_r(SEXP (*function)(void*), void* data, UnwindToken& token, bool translates);
  SEXP token_;
  bool in_use_ = false;
};

// An Error that reaches R as `condition` itself.
Error error_of_condition(SEXP condition, Code code);

// Evaluates a call; the result is not protected. A jump becomes RUnwind. A condition that controls
// a loop (out_of_range, aborted, ...) becomes an Error with the condition, as does any error within
// a DeferErrorsScope.
SEXP eval_r(SEXP call, SEXP env, UnwindToken& token);
SEXP eval_r(SEXP call, SEXP env);
// The same for a function of R's API that may longjmp. Without `translates`, each jump is an
// RUnwind.
SEXP call_r(SEXP (*function)(void*), void* data, UnwindToken& token, bool translates = true);
// Number of call_r() calls in this process.
uint64_t calls_of_r();

}  // namespace r
}  // namespace runhooks
