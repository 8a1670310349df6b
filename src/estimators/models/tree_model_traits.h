// The traits of boosted tree estimators: names, arguments, defaults.
#pragma once

#include "estimators/models/model_traits.h"

namespace runhooks {

ModelTraits trees_traits();

}  // namespace runhooks
