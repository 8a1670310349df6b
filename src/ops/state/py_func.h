// TensorFunction: an R function that is an operation of the graph (PyFunc).
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "graph/graph.h"

namespace runhooks {

class TensorFunction {
 public:
  virtual ~TensorFunction() = default;
  // Calls the function; it must return one tensor for each type in `wanted`.
  virtual std::vector<Tensor> call(const std::vector<Tensor>& inputs,
                                   const std::vector<DType>& wanted) = 0;
};

// tf.py_func(): calls the function whenever one of its outputs is computed.
Operation* make_py_func(Graph& graph,
                        std::shared_ptr<TensorFunction> function,
                        const Outputs& inputs,
                        const std::vector<DType>& output_types,
                        bool is_stateful,
                        const std::string& name);

}  // namespace runhooks
