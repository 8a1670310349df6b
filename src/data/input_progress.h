// Reports how many rows a session's input has delivered and how long steps waited for it.
#pragma once

#include <cstdint>

#include "session/session.h"

namespace runhooks {

struct InputProgress {
  bool is_known = false;  // false if the graph has no dataset
  int64_t rows = 0;       // read in this session
  int64_t epoch = 1;      // the epoch of the last row, counted from 1
  // Time that steps have waited for elements.
  double wait_seconds = 0;
};
InputProgress input_progress(Session& session);

// Measures the progress and the time since start().
class InputTimer {
 public:
  struct Reading {
    bool is_known = false;
    double rows = 0, seconds = 0, waited = 0;  // `seconds` includes `waited`
  };
  void start(Session& session);
  Reading read(Session& session) const;

 private:
  InputProgress start_progress_;
  double start_seconds_ = 0;
};

}  // namespace runhooks
