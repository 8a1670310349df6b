// What lives here: the R object that stands for the checkpoint of a folder until it is serialized.
// Who may use it: src/r/ only.
// What it must not know: what a checkpoint holds.
#pragma once

#include <string>

#include "r/values/values.h"

namespace runhooks {
namespace r {

// Stands for the newest checkpoint of the folder at the moment at which it is serialized. Not
// protected.
SEXP carried_files(const std::string& folder);

}  // namespace r
}  // namespace runhooks
