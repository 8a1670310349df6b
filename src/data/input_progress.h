// What lives here: how far the input of a session has come.
// Who may use it: hooks, the bindings.
// What it must not know: particular datasets, R.
#pragma once

#include <cstdint>

#include "session/session.h"

namespace runhooks {

struct InputProgress {
  bool is_known = false;  // FALSE where the graph has no dataset
  int64_t rows = 0;       // read so far in this session
  int64_t epoch = 1;      // the pass through the data that the last of them belongs to
  // How long steps have waited for their elements; the rest of the time they computed.
  double waited_seconds = 0;
};
InputProgress input_progress(Session& session);

// The same since a moment of a session, with the time that has gone by.
class InputTimer {
 public:
  struct Reading {
    bool is_known = false;
    double rows = 0, seconds = 0, waited = 0;  // waited: that many of the seconds
  };
  void start(Session& session);
  Reading read(Session& session) const;

 private:
  InputProgress before_;
  double started_ = 0;
};

}  // namespace runhooks
