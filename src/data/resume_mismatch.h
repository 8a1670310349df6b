// ResumeMismatch: a policy for saved positions that belong to other data.
#pragma once

#include <string>

namespace runhooks {

// What to do when a saved position belongs to a different dataset or pipeline: fail with
// kFailedPrecondition, or log it and restart.
enum class ResumeMismatch { kStop, kBegin };
// Converts "stop" or "begin", the values of the argument `on_other_data`.
ResumeMismatch resume_mismatch_from_name(const std::string& name);

}  // namespace runhooks
