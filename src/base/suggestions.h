// Spelling suggestions for names that were not found.
#pragma once

#include <string>
#include <vector>

namespace runhooks {

// Returns the candidates most similar to `name`, the closest first. Allows a few wrong, swapped,
// missing or extra letters, different case, and components of paths ("x" in "linear/x/weights").
std::vector<std::string> closest_matches(const std::string& name,
                                         const std::vector<std::string>& candidates,
                                         size_t max_matches = 3);
// Returns the hint "Did you mean 'loss'?" for the most similar candidate, or nothing.
std::vector<std::string> did_you_mean(const std::string& name,
                                      const std::vector<std::string>& candidates);

}  // namespace runhooks
