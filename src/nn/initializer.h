// What lives here: initial values of variables (tf.initializers), random numbers of a graph, and the seeds of random ops.
// Who may use it: every layer above graph.
// What it must not know: the kernels that draw, sessions, R.
#pragma once

#include <optional>
#include <string>

#include "graph/args.h"
#include "graph/variable.h"

namespace runhooks {

// The attributes `seed` and `seed2` of a random op from the graph's seed and its own, as
// tf.random.set_random_seed describes: without either both are 0, and the op draws its own.
struct OpSeeds {
  int64_t seed, seed2;
};
OpSeeds op_seeds(const Graph& graph, std::optional<int64_t> op_seed);

using Seed = std::optional<int64_t>;
// The argument `seed`, which need not be given.
Seed seed_argument(const Args& args);

// Random tensors, under TensorFlow's names. The seed of an op without one counts the operations
// before it, so these are made in TensorFlow's order.
Output random_uniform(Graph& graph,
                      Output shape,
                      double minval,
                      double maxval,
                      DType dtype = DType::kFloat32,
                      Seed seed = {},
                      const std::string& name = "random_uniform");
Output random_normal(Graph& graph,
                     Output shape,
                     double mean = 0,
                     double stddev = 1,
                     DType dtype = DType::kFloat32,
                     Seed seed = {},
                     const std::string& name = "random_normal");
// Without what is two or more standard deviations off.
Output truncated_normal(Graph& graph,
                        Output shape,
                        double mean = 0,
                        double stddev = 1,
                        DType dtype = DType::kFloat32,
                        Seed seed = {},
                        const std::string& name = "truncated_normal");
// Whole numbers from minval to maxval - 1.
Output random_integers(Graph& graph,
                       Output shape,
                       int64_t minval,
                       int64_t maxval,
                       DType dtype = DType::kInt32,
                       Seed seed = {},
                       const std::string& name = "random_uniform");
Output shape_constant(Graph& graph, const Shape& shape, const std::string& name = "shape");

Initializer ones_initializer();
Initializer random_uniform_initializer(double minval, double maxval, Seed seed = {});
Initializer random_normal_initializer(double mean = 0, double stddev = 1, Seed seed = {});
Initializer truncated_normal_initializer(double mean = 0, double stddev = 1, Seed seed = {});
Initializer uniform_unit_scaling_initializer(double factor = 1, Seed seed = {});
// `mode` is fan_in, fan_out or fan_avg; `distribution` normal or truncated_normal (the same),
// untruncated_normal, uniform.
Initializer variance_scaling_initializer(double scale = 1,
                                         const std::string& mode = "fan_in",
                                         const std::string& distribution = "truncated_normal",
                                         Seed seed = {});
Initializer glorot_uniform_initializer(Seed seed = {});
Initializer orthogonal_initializer(double gain = 1, Seed seed = {});
Initializer identity_initializer(double gain = 1);

// By the name of its class in tf.initializers ("variance_scaling") from its arguments.
Initializer make_initializer(const std::string& type, const Args& args);
// An argument that is a number, a tensor, a specification (`type` and arguments) or a function of
// shape and type; an empty one where it is missing.
Initializer initializer_argument(const Args& args, const std::string& name);
Initializer initializer_of(const Value& value, const std::string& name);

}  // namespace runhooks
