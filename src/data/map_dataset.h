// What lives here: the dataset whose elements are those of another one, changed by a function.
// Who may use it: data, the bindings.
// What it must not know: what the function does, R.
#pragma once

#include <memory>

#include "data/dataset_function.h"

namespace runhooks {

// tf.data.Dataset.map(). Up to `ahead` elements are made before they are asked for; they are part
// of the iterator's state.
std::shared_ptr<Dataset> map_dataset(std::shared_ptr<const Dataset> source,
                                     std::shared_ptr<const DatasetFunction> function,
                                     int64_t ahead = 0);

}  // namespace runhooks
