// add_cond() and add_while(): add an If or While op and the functions that it calls.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "graph/func_graph.h"

namespace runhooks {

// Adds the operations of a function to its graph and returns the results; called once.
using FunctionBuilder =
    std::function<std::vector<Output>(FuncGraph&, const std::vector<Output>& arguments)>;

// tf.cond: returns the results of the function that `pred` selects; the other function does not
// run.
std::vector<Output> add_cond(Graph& graph,
                             const Output& pred,
                             const FunctionBuilder& true_fn,
                             const FunctionBuilder& false_fn,
                             const std::string& name);

struct LoopOptions {
  std::vector<Shape> shape_invariants;  // empty, or one per loop variable
  int64_t parallel_iterations = 10;
  Output maximum_iterations;  // optional
  std::string name = "while";
};

// tf.while_loop: returns the loop variables after the last iteration.
std::vector<Output> add_while(Graph& graph,
                              const FunctionBuilder& cond,
                              const FunctionBuilder& body,
                              std::vector<Output> variables,
                              const LoopOptions& options);

}  // namespace runhooks
