// model_signature(): the properties of a canned model that its model directory must match, as named
// texts. Comparing them detects that a different model is trained in the same directory.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "graph/args.h"

namespace runhooks {

using NamedTexts = std::vector<std::pair<std::string, std::string>>;

// `spec` is an estimator specification: its type and arguments. Returns the groups "kind", "head",
// "layers", "columns" (sorted by name) and "optimizer", which only training compares. Arguments
// that are functions are ignored.
std::vector<std::pair<std::string, NamedTexts>> model_signature(const Args& spec);

}  // namespace runhooks
