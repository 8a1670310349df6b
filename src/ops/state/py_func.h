// TensorFunction: an R function that a PyFunc operation of the graph calls.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "graph/graph.h"

namespace runhooks {

class TensorFunction {
 public:
  virtual ~TensorFunction() = default;
  // Calls the function, which must return a tensor of each output type.
  virtual std::vector<Tensor> call(const std::vector<Tensor>& inputs,
                                   const std::vector<DType>& output_types) = 0;
};

// tf.py_func(): adds an operation that calls the function. `is_stateful` selects PyFunc rather than
// PyFuncStateless.
Operation* make_py_func(Graph& graph,
                        std::shared_ptr<TensorFunction> function,
                        const Outputs& inputs,
                        const std::vector<DType>& output_types,
                        bool is_stateful,
                        const std::string& name);

}  // namespace runhooks
