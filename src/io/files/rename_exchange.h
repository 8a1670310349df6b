// Exchanges two paths, atomically where the system can.
#pragma once

#include <string>

namespace runhooks {

// Exchanges two paths of one file system atomically. Returns FALSE without any change if the system
// does not support it or denies permission; throws for other errors.
bool rename_exchange(const std::string& a, const std::string& b);

// Renames a path; FALSE without any change if that fails.
bool renames(const std::string& from, const std::string& to);

// Replaces `to` by `from` with two renames: `to` to `aside`, then `from` to `to`. Not atomic: a
// crash in between leaves the old file at `aside`. Returns FALSE without any change if the first
// rename fails. If the second one fails, restores the old file and throws.
bool replace_by_two_renames(const std::string& from, const std::string& to, const std::string& aside);

}  // namespace runhooks
