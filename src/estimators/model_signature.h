// What lives here: model_signature(), what a canned model's folder must agree on, as plain named texts: the arguments that
// are declared "kept", columns and heads by their content.
// Who may use it: who keeps the folder's record and compares it with a model at hand, the bindings.
// What it must not know: any particular argument, where the texts are kept, R.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "graph/args.h"

namespace runhooks {

// Texts by name.
using NamedTexts = std::vector<std::pair<std::string, std::string>>;

// In the groups "kind", "head", "layers", "columns" (by the names of the columns, sorted) and
// "optimizer", which only a training must agree on. `spec` is the specification of an estimator:
// its arguments and its type. Functions count as such; an optimizer that one makes does not count.
std::vector<std::pair<std::string, NamedTexts>> model_signature(const Args& spec);

}  // namespace runhooks
