// Reports how many rows a session's input has delivered and how long steps waited for it.
#pragma once

#include <cstdint>

#include "session/session.h"

namespace runhooks {

struct InputProgress {
  bool is_known = false;  // false if the graph has no dataset
  int64_t rows = 0;       // read in this session
  int64_t epoch = 1;      // the pass that the last row belongs to
  // Time that steps spent waiting for elements; the rest is computation.
  double waited_seconds = 0;
};
InputProgress input_progress(Session& session);

// Measures progress and elapsed time since a point in a session.
class InputTimer {
 public:
  struct Reading {
    bool is_known = false;
    double rows = 0, seconds = 0, waited = 0;  // `seconds` includes `waited`
  };
  void start(Session& session);
  Reading read(Session& session) const;

 private:
  InputProgress before_;
  double started_ = 0;
};

}  // namespace runhooks
