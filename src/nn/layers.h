// Layers of tf.layers: operations that create their variables in the current variable scope.
#pragma once

#include <functional>
#include <string>

#include "nn/initializer.h"

namespace runhooks {

// A function of one tensor: an activation, a regularizer.
using TensorFunction = std::function<Output(Graph&, Output)>;

struct DenseOptions {
  TensorFunction activation;
  bool use_bias = true;
  Initializer kernel_initializer;  // default: glorot uniform
  Initializer bias_initializer;    // default: zeros
  // The regularization losses that these functions return go to the collection
  // `regularization_losses`.
  TensorFunction kernel_regularizer, bias_regularizer;
  // Regularizes the output of the layer; the loss is averaged over the batch.
  TensorFunction activity_regularizer;
  // Applied to the parameters after each optimizer step.
  TensorFunction kernel_constraint, bias_constraint;
  bool trainable = true;
  VariableStore::Reuse reuse = VariableStore::Reuse::kNever;
  // Names of the variables; tf.contrib.layers uses other names.
  std::string kernel_name = "kernel", bias_name = "bias";
  std::vector<std::string> collections = {collection_keys::kGlobalVariables};
};
// Computes inputs * kernel + bias. An empty name means "dense", made unique. The variables
// `<name>/kernel` and `<name>/bias` are split by the scope's partitioner.
Output dense(Graph& graph,
             Output inputs,
             int64_t units,
             const DenseOptions& options = {},
             const std::string& name = "");

// Sets each element to 0 with probability `rate` and divides the other elements by 1 - rate. Along
// a dimension that has size 1 in the optional `noise_shape`, all elements are dropped or none.
Output dropout(Graph& graph,
               Output x,
               Output rate,
               Seed seed = {},
               Output noise_shape = Output(),
               const std::string& name = "dropout");
Output dropout(Graph& graph, Output x, double rate, Seed seed = {});

struct BatchNormOptions {
  double momentum = 0.99;
  double epsilon = 0.001;
  bool center = true, scale = true;
  Initializer beta_initializer, gamma_initializer;
  Initializer moving_mean_initializer, moving_variance_initializer;
  TensorFunction beta_regularizer, gamma_regularizer;
  int64_t axis = -1;
  bool training = false;
  // Optional tensor that replaces `training`, so that one graph can train and predict.
  Output is_training;
  // For images (rank 4), the moving average is of the unbiased variance, as in TensorFlow's fused
  // kernel.
  bool fused = true;
  bool trainable = true;
  VariableStore::Reuse reuse = VariableStore::Reuse::kNever;
};
// Normalizes over all dimensions except `axis`. Training normalizes by the moments of the batch,
// and adds updates of the moving averages to the collection `update_ops`. Otherwise the layer
// normalizes by the moving averages.
Output batch_normalization_layer(Graph& graph,
                                 Output inputs,
                                 const BatchNormOptions& options = {},
                                 const std::string& name = "");

// Merges all dimensions except the first.
Output flatten(Graph& graph, Output inputs, const std::string& name = "flatten");

}  // namespace runhooks
