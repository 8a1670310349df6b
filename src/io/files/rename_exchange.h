// Two names that change places in one step.
#pragma once

#include <string>

namespace runhooks {

// Of files or folders of one file system. FALSE where the system cannot do that, and nothing has
// changed; other reasons are errors.
bool rename_exchange(const std::string& a, const std::string& b);

// FALSE where the system refuses that, and nothing has changed.
bool renames(const std::string& from, const std::string& to);

// In two steps, the old one being renamed to `aside`: between them, and where the second fails, it
// stands beside its place. FALSE where it cannot be renamed.
bool exchange_by_two(const std::string& from, const std::string& place, const std::string& aside);

}  // namespace runhooks
