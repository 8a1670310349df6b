// Exchanges two paths, atomically where the system can.
#pragma once

#include <string>

namespace runhooks {

// Both must be on one file system. Returns FALSE without any change if the system lacks the
// operation; throws for other errors.
bool rename_exchange(const std::string& a, const std::string& b);

// Returns FALSE without any change if the rename fails.
bool renames(const std::string& from, const std::string& to);

// Not atomic: first renames the old file to `aside`, and restores it if the second rename fails. A
// crash in between leaves it at `aside`. Returns FALSE if the first rename fails.
bool exchange_by_two(const std::string& from, const std::string& place, const std::string& aside);

}  // namespace runhooks
