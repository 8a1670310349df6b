// Names that are nearly the one that was given, for what was not found.
#pragma once

#include <string>
#include <vector>

namespace runhooks {

// The nearest first, at most `most` of them: a few letters changed, swapped, missing or too many,
// another case, or a part of a path ("x" of "linear/x/weights").
std::vector<std::string> closest_matches(const std::string& name,
                                    const std::vector<std::string>& known,
                                    size_t most = 3);
// A line for an error, "Did you mean 'loss'?", or none.
std::vector<std::string> did_you_mean(const std::string& name, const std::vector<std::string>& known);

}  // namespace runhooks
