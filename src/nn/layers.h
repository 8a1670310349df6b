// What lives here: layers of tf.layers: operations with variables of their own in the current variable scope.
// Who may use it: estimators, the bindings.
// What it must not know: models, feature columns, R.
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
  Initializer kernel_initializer;  // by default glorot uniform
  Initializer bias_initializer;    // by default zeros
  // What they give joins the collection `regularization_losses`.
  TensorFunction kernel_regularizer, bias_regularizer;
  // Of what the layer gives; its loss for a row of the batch.
  TensorFunction activity_regularizer;
  // What an optimizer makes of them after each step.
  TensorFunction kernel_constraint, bias_constraint;
  bool trainable = true;
  VariableStore::Reuse reuse = VariableStore::Reuse::kNever;
  // What tf.contrib.layers calls them otherwise.
  std::string kernel_name = "kernel", bias_name = "bias";
  std::vector<std::string> collections = {collection_keys::kGlobalVariables};
};
// inputs * kernel + bias. An empty name is "dense", made unique; the variables are `<name>/kernel`
// and `<name>/bias`, cut into parts where the scope has a partitioner.
Output dense(Graph& graph,
             Output inputs,
             int64_t units,
             const DenseOptions& options = {},
             const std::string& name = "");

// Each element is 0 with probability `rate`, else divided by 1 - rate. `noise_shape` may be
// missing: it says along which dimensions (1) elements are kept or dropped together.
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
  // Where it is there it says in each run whether the model is trained.
  Output is_training;
  // TensorFlow's fused kernel, which images (rank 4) take: their moving variance is the unbiased
  // one.
  bool fused = true;
  bool trainable = true;
  VariableStore::Reuse reuse = VariableStore::Reuse::kNever;
};
// Normalizes over all dimensions but `axis`: in training by the batch's moments, which the moving
// averages follow through operations in the collection `update_ops`, else by those averages.
Output batch_normalization_layer(Graph& graph,
                                 Output inputs,
                                 const BatchNormOptions& options = {},
                                 const std::string& name = "");

// All but the first dimension as one.
Output flatten(Graph& graph, Output inputs, const std::string& name = "flatten");

}  // namespace runhooks
