// Lines that are logged a few times in the life of the process only.
#pragma once

#include "base/log.h"

namespace runhooks {

// tf.logging.log_first_n: the line is dropped after `n` with this token.
void warn_first_n(const char* kind, const std::string& text, int n, const std::string& token);
// For tests: as if the process had just begun.
void forget_logged_lines();

}  // namespace runhooks
