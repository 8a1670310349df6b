// What lives here: what estimators of boosted trees say of themselves: their arguments, words, trees.
// Who may use it: the file that registers them.
// What it must not know: graphs, how trees grow, R.
#pragma once

#include "estimators/model_traits.h"

namespace runhooks {

ModelTraits trees_traits();

}  // namespace runhooks
