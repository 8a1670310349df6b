// Spelling suggestions for names that were not found.
#pragma once

#include <string>
#include <vector>

namespace runhooks {

// The closest names first, at most `most`. Allows a few wrong, swapped, missing or extra letters,
// different case, and components of paths ("x" in "linear/x/weights").
std::vector<std::string> closest_matches(const std::string& name,
                                         const std::vector<std::string>& known,
                                         size_t most = 3);
// The hint "Did you mean 'loss'?", or nothing.
std::vector<std::string> did_you_mean(const std::string& name,
                                      const std::vector<std::string>& known);

}  // namespace runhooks
