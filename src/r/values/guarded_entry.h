// guarded_entry() and eval_r(): the boundary between R and the core for errors, warnings and jumps.
#pragma once

#include <initializer_list>
#include <memory>
#include <type_traits>

#include "base/deferred_errors.h"
#include "base/status.h"
#include "r/values/rcpp.h"

namespace runhooks {
namespace r {

// A longjmp of R (an error, an interrupt, a restart) that has reached a C++ frame. guarded_entry()
// resumes the jump; code that catches and drops it ends the jump. The jump targets a frame of the
// current call from R, so it cannot be stored for a later call. DeferErrorsScope
// (base/deferred_errors.h) defers errors instead.
class RUnwind : public ForeignUnwind {
 public:
  RUnwind(SEXP token, bool is_interrupt);
  // Continues the jump. Throws if the token belongs to another call from R.
  [[noreturn]] void resume_unwind() const;

 private:
  std::shared_ptr<void> token_;
  int64_t call_;  // identifies the outermost call from R
};

// True while an interrupt unwinds. R code that runs meanwhile must not report errors.
bool interrupt_pending();

// Raises an error of the core as an R condition of class runhooks_error_<kind>. Never returns.
[[noreturn]] void raise_error(const Error& error);
// Like raise_error(), for the current exception in the function `where`. Rethrows Rcpp's
// exceptions.
[[noreturn]] void raise_exception(const char* where);

// Records that R code has stored a warning.
void mark_warning_pending();
// Raises stored warnings as R conditions. Called at the end of the outermost call from R, because a
// condition handler may jump.
void raise_warnings();

// Counts nested calls from R.
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

// A reusable token for R_UnwindProtect(). A nested call uses a new token.
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

// Makes an Error from an R condition. guarded_entry() raises it as this condition.
Error error_of_condition(SEXP condition, Code code);

// Evaluates a call; the result is not protected. A jump becomes RUnwind. A condition that controls
// a loop (out_of_range, aborted, ...) becomes an Error that contains the condition. In a
// DeferErrorsScope, all errors do.
SEXP eval_r(SEXP call, SEXP env, UnwindToken& token);
SEXP eval_r(SEXP call, SEXP env);
SEXP new_call(SEXP function, std::initializer_list<SEXP> arguments);  // not protected
// Like eval_r(), for a call of an R function. The caller protects the arguments.
SEXP call_r_function(SEXP function,
                     std::initializer_list<SEXP> arguments = {},
                     SEXP env = R_GlobalEnv);
// Like call_r_function(), for a function of the package.
SEXP call_internal(const char* name, std::initializer_list<SEXP> arguments = {});
// Like eval_r(), for a function of R's API that may longjmp. Without `translates`, all jumps become
// RUnwind.
SEXP call_r(SEXP (*function)(void*), void* data, UnwindToken& token, bool translates = true);
// Returns the number of call_r() calls in this process.
uint64_t calls_of_r();

}  // namespace r
}  // namespace runhooks
