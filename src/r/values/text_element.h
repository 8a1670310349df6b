// What lives here: texts of the core as elements of R's character vectors.
// Who may use it: the bindings.
// What it must not know: where the texts come from.
#pragma once

#include <string>

#include "r/values/values.h"

namespace runhooks {
namespace r {

// R's strings have no zero bytes: a text with one is an error in words.
SEXP text_element(const std::string& text);

}  // namespace r
}  // namespace runhooks
