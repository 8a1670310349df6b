// ResumeMismatch: what to do if a saved position belongs to other data.
#pragma once

#include <string>

namespace runhooks {

// What to do when a saved position belongs to a different dataset or pipeline: fail with
// kFailedPrecondition, or log it and restart.
enum class ResumeMismatch { kStop, kBegin };
// "stop" or "begin".
ResumeMismatch on_other_data_from_name(const std::string& name);

}  // namespace runhooks
