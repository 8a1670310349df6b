// What lives here: ResumeMismatch, what becomes of a position in data that are not those which are read now.
// Who may use it: data and every layer above it.
// What it must not know: what data are, R.
#pragma once

#include <string>

namespace runhooks {

// A position that belongs to other data, or to other steps on them, is refused
// (kFailedPrecondition, which names both), or the input begins at its first element, with a line of
// the log.
enum class ResumeMismatch { kStop, kBegin };
// "stop" or "begin".
ResumeMismatch on_other_data_from_name(const std::string& name);

}  // namespace runhooks
