// The traits of boosted tree estimators: names, arguments, defaults.
#pragma once

#include "estimators/model_traits.h"

namespace runhooks {

ModelTraits trees_traits();

}  // namespace runhooks
