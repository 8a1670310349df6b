// Builds a runnable graph from an op's example ("f[2,3] i{0} | keep_dims=true").
#pragma once

#include <random>
#include <string>
#include <vector>

#include "graph/graph.h"

namespace runhooks_test {

// One operation in a new graph, built from the text of an example such as "f[2,3] i{0}". Numeric
// tensors are placeholders with random values:
//   f[2,3]  numbers away from 0;  p[2,3]  positive numbers;  b[2]  TRUE and FALSE;
//   u[2,3]  numbers between -1 and 1;  o[2,3]  numbers above 1;
//   m[3,3]  symmetric positive definite matrices;  d[2,3]  rows whose sum is 1;
//   e[2,3]  positive numbers that are always float32.
// Constants:
//   n{1,2}  a vector of the tested type;  n[]{1}  a scalar of the tested type;
//   e[2]{1,-2}  a float32 vector;
//   i{1,2}  an int32 vector;  i:1  an int32 scalar;  i[2,2]{1,2,3,4}  an int32 matrix;
//   l{1,2} and l[2,2]{1,2,3,4}  int64;  s:text  a string;  s{a,b}  a vector of strings.
struct OpExample {
  std::shared_ptr<runhooks::Graph> graph;
  runhooks::Operation* op = nullptr;
  std::vector<runhooks::Output> placeholders;
  std::vector<runhooks::Tensor> values;
};

OpExample build_example(const runhooks::OpDef& def,
                        const std::string& example,
                        runhooks::DType dtype,
                        std::mt19937& random);

}  // namespace runhooks_test
