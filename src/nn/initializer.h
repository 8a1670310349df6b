// Initializers of variables (tf.initializers), random tensors, and the seeds of random ops.
#pragma once

#include <optional>
#include <string>

#include "graph/args.h"
#include "graph/variable.h"

namespace runhooks {

// Derives the attributes `seed` and `seed2` of a random op from the graph's and the op's seed, as
// tf.random.set_random_seed documents. Without any seed both are 0 and the op seeds itself.
struct OpSeeds {
  int64_t seed, seed2;
};
OpSeeds op_seeds(const Graph& graph, std::optional<int64_t> op_seed);

using Seed = std::optional<int64_t>;
// Reads the argument `seed`; returns nullopt if it is missing.
Seed seed_argument(const Args& args);

// Random tensors with TensorFlow's op names. The default seed of an op depends on the number of ops
// before it, so these functions create ops in TensorFlow's order.
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
// Draws again values that are two or more standard deviations from the mean.
Output truncated_normal(Graph& graph,
                        Output shape,
                        double mean = 0,
                        double stddev = 1,
                        DType dtype = DType::kFloat32,
                        Seed seed = {},
                        const std::string& name = "truncated_normal");
// Draws integers from minval to maxval - 1.
Output random_integers(Graph& graph,
                       Output shape,
                       int64_t minval,
                       int64_t maxval,
                       DType dtype = DType::kInt32,
                       Seed seed = {},
                       const std::string& name = "random_uniform");
// Adds a shape as an int32 constant.
Output shape_constant(Graph& graph, const Shape& shape, const std::string& name = "shape");

Initializer ones_initializer();
Initializer random_uniform_initializer(double minval, double maxval, Seed seed = {});
Initializer random_normal_initializer(double mean = 0, double stddev = 1, Seed seed = {});
Initializer truncated_normal_initializer(double mean = 0, double stddev = 1, Seed seed = {});
Initializer uniform_unit_scaling_initializer(double factor = 1, Seed seed = {});
// Draws numbers whose variance depends on the size of the variable. `mode` is fan_in, fan_out or
// fan_avg; `distribution` is normal, truncated_normal (an alias), untruncated_normal or uniform.
Initializer variance_scaling_initializer(double scale = 1,
                                         const std::string& mode = "fan_in",
                                         const std::string& distribution = "truncated_normal",
                                         Seed seed = {});
Initializer glorot_uniform_initializer(Seed seed = {});
Initializer orthogonal_initializer(double gain = 1, Seed seed = {});
Initializer identity_initializer(double gain = 1);

// Creates an initializer by its name in tf.initializers ("variance_scaling").
Initializer make_initializer(const std::string& type, const Args& args);
// Converts an argument to an initializer. It is a number, a tensor, a named list (`type` and its
// arguments) or a function of shape and type. Returns an empty initializer if it is missing.
Initializer initializer_argument(const Args& args, const std::string& name);
Initializer initializer_of(const Value& value, const std::string& name);

}  // namespace runhooks
