// What lives here: the border: errors, warnings and jumps on their way between R and the core.
// Who may use it: src/r/ only.
// What it must not know: how anything is computed.
#pragma once

#include <Rcpp/Lightest>

#include <memory>
#include <type_traits>

#include "base/status.h"

namespace runhooks {
namespace r {

// An R jump (an error, an interrupt, a restart) that has reached a C++ frame. It goes on when the
// border is reached; where somebody drops it, it ends there.
class RUnwind : public ForeignUnwind {
 public:
  RUnwind(SEXP token, bool is_interrupt);
  // Rcpp lets go of the token when the jump goes on.
  [[noreturn]] void go_on() const;

 private:
  std::shared_ptr<void> token_;
};

// Raises the core's error as an R condition of class runhooks_error_<kind>: throws, never returns.
[[noreturn]] void raise_error(const Error& error);

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
};

// The body of every exported function: no exception of the core leaves it, no R jump crosses a C++
// frame.
template <typename Body>
auto border(Body body) -> decltype(body()) {
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
  } catch (const std::bad_alloc&) {
    raise_error(Error(Code::kResourceExhausted, "There is not enough memory."));
  } catch (const std::length_error&) {
    raise_error(Error(Code::kResourceExhausted, "No memory holds what was asked for."));
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
// conditions that steer a loop (out_of_range, aborted, ...), an Error that carries the condition.
// The result is not protected.
SEXP eval_r(SEXP call, SEXP env, UnwindToken& token);
SEXP eval_r(SEXP call, SEXP env);
// The same for a function of R's API that may jump.
SEXP call_r(SEXP (*function)(void*), void* data, UnwindToken& token);

}  // namespace r
}  // namespace runhooks
