// Warnings that are shown only a limited number of times per process.
#pragma once

#include "base/log.h"

namespace runhooks {

// Like tf.logging.log_first_n(): shows at most `n` lines per token.
void warn_first_n(const char* kind, const std::string& text, int n, const std::string& token);
// Resets the counts of all tokens.
void reset_log_counts();

}  // namespace runhooks
