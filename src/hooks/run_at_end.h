// run_at_end(): runs fetches of a hook when the loop has ended.
#pragma once

#include <string>
#include <vector>

#include "base/log.h"
#include "session/session.h"

namespace runhooks {

// Runs the fetches once. If they read input that has ended, logs a warning that names the hook, and
// throws.
inline std::vector<Tensor> run_at_end(Session& session,
                                      const std::string& hook,
                                      const std::vector<Fetch>& fetches,
                                      const Feeds& feeds = Feeds()) {
  try {
    return session.run(fetches, feeds);
  } catch (const Error& error) {
    if (error.code() == Code::kOutOfRange || error.code() == Code::kStopIteration) {
      warn("final_ops",
           str_cat("The data have ended, but the operations of ", hook,
                   " read more of them. Use operations that depend on variables only, such as the "
                   "values of metrics, not on the input."));
    }
    throw;
  }
}

}  // namespace runhooks
