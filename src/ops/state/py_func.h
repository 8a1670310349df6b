// What lives here: TensorFunction, a function of the embedding language that is an operation of the graph (PyFunc).
// Who may use it: ops has its kernel, the bindings make the operation.
// What it must not know: which language it is.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "graph/graph.h"

namespace runhooks {

class TensorFunction {
 public:
  virtual ~TensorFunction() = default;
  // The tensors that are given; those that come back must have the types of `wanted`, one each.
  virtual std::vector<Tensor> call(const std::vector<Tensor>& inputs,
                                   const std::vector<DType>& wanted) = 0;
};

// tf.py_func(): runs whenever one of its outputs is computed.
Operation* make_py_func(Graph& graph,
                        std::shared_ptr<TensorFunction> function,
                        const std::vector<Output>& inputs,
                        const std::vector<DType>& output_types,
                        bool is_stateful,
                        const std::string& name);

}  // namespace runhooks
