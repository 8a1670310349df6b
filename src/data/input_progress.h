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
};
InputProgress input_progress(Session& session);

}  // namespace runhooks
