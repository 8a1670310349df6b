# Optimizers: specifications that the core makes optimizers of. They are the same objects under
# `tf$train`.

new_optimizer <- function(type, name, ..., required = "learning_rate", call = parent.frame()) {
  arguments <- list(...)
  for (argument in names(arguments)) {
    value <- arguments[[argument]]
    good <- is.null(
      value
    ) || is.logical(value) || is_number(value) || is_graph_element(value) || is.function(value)
    check_arg(
      good && !(argument %in% required && is.null(value)),
      value,
      "a number or a tensor",
      argument,
      call
    )
    if (is_number(value)) check_hyperparameter(argument, value, call)
  }
  structure(
    c(list(type = type, name = name), arguments),
    owner = paste0("tf$train$", name, "Optimizer()"), class = c(
      paste0(name, "Optimizer"), "runhooks_optimizer"
    )
  )
}

# What the core would refuse when the graph is built is refused when the optimizer is made.
check_hyperparameter <- function(name, value, call) {
  limit <- switch(name,
    learning_rate = , momentum = , l1_regularization_strength = , l2_regularization_strength = ,
    l2_shrinkage_regularization_strength = , epsilon = if (value < 0) "0 or more",
    initial_accumulator_value = if (value < 0) "0 or more",
    weight_decay = , weight_decay_rate = if (value < 0) "0 or more",
    beta1 = , beta2 = , decay = , rho = if (value < 0 || value > 1) "between 0 and 1",
    learning_rate_power = if (value > 0) "0 or less"
  )
  if (!is.null(limit)) stop_runhooks("{.arg {name}} must be {limit}, not {value}.", call = call)
}

#' Optimizers
#'
#' How the variables of a model follow the gradients of its loss. The functions are members of
#' `tf$train`; they give an object for the argument `optimizer` of an estimator. An estimator also
#' takes a name (one of `"SGD"`, `"Momentum"`, `"Adagrad"`, `"Adam"`, `"RMSProp"`, `"Adadelta"`,
#' `"Ftrl"`, `"ProximalAdagrad"`, `"ProximalGradientDescent"`, then the learning rate is the
#' estimator's), or a function of no argument that returns an optimizer and
#' is called while the graph is built.
#'
#' | function | arguments and defaults |
#' |---|---|
#' | `tf$train$GradientDescentOptimizer` | `learning_rate` |
#' | `tf$train$MomentumOptimizer` | `learning_rate, momentum, use_nesterov = FALSE` |
#' | `tf$train$AdagradOptimizer` | `learning_rate, initial_accumulator_value = 0.1` |
#' | `tf$train$AdagradDAOptimizer` | `learning_rate, global_step,
#' initial_gradient_squared_accumulator_value = 0.1, l1_regularization_strength = 0,
#' l2_regularization_strength = 0` |
#' | `tf$train$AdamOptimizer` | `learning_rate = 0.001, beta1 = 0.9, beta2 = 0.999, epsilon = 1e-8`
#' |
#' | `tf$train$RMSPropOptimizer` | `learning_rate, decay = 0.9, momentum = 0, epsilon = 1e-10,
#' centered = FALSE` |
#' | `tf$train$AdadeltaOptimizer` | `learning_rate = 0.001, rho = 0.95, epsilon = 1e-8` |
#' | `tf$train$FtrlOptimizer` | `learning_rate, learning_rate_power = -0.5,
#' initial_accumulator_value = 0.1, l1_regularization_strength = 0, l2_regularization_strength = 0,
#' l2_shrinkage_regularization_strength = 0` |
#' | `tf$train$ProximalAdagradOptimizer` | `learning_rate, initial_accumulator_value = 0.1,
#' l1_regularization_strength = 0, l2_regularization_strength = 0` |
#' | `tf$train$ProximalGradientDescentOptimizer` | `learning_rate, l1_regularization_strength = 0,
#' l2_regularization_strength = 0` |
#' | `tf$train$AdamWOptimizer` | `weight_decay, learning_rate = 0.001, beta1 = 0.9, beta2 = 0.999,
#' epsilon = 1e-8` |
#' | `tf$train$LAMBOptimizer` | `learning_rate = 0.001, beta1 = 0.9, beta2 = 0.999, epsilon = 1e-6,
#' weight_decay_rate = 0, exclude_from_weight_decay = NULL, exclude_from_layer_adaptation = NULL`
#' (patterns of variables' names) |
#'
#' Learning rates may be tensors, such as `tf$train$exponential_decay(0.1,
#' tf$train$get_global_step(), 1000, 0.9)`.
#'
#' @section Errors: `runhooks_error_invalid_argument` for a hyperparameter out of its range or an
#'   unknown name; the message lists the known ones.
#' @seealso The classes of these names in TensorFlow 1.x.
#' @name optimizers
#' @family optimizers
#' @examples
#' linear_regressor(column_numeric("wt"), optimizer = tf$train$AdamOptimizer(learning_rate = 0.05))
#' linear_regressor(column_numeric("wt"), optimizer = "SGD")
NULL

optimizer_constructors <- list(
  GradientDescentOptimizer = function(
    learning_rate,
    use_locking = FALSE,
    name = "GradientDescent"
  ) {
    new_optimizer("SGD", name, learning_rate = learning_rate)
  },
  MomentumOptimizer = function(
    learning_rate,
    momentum,
    use_locking = FALSE,
    name = "Momentum",
    use_nesterov = FALSE
  ) {
    new_optimizer(
      "Momentum",
      name,
      learning_rate = learning_rate,
      momentum = momentum,
      use_nesterov = use_nesterov
    )
  },
  AdagradOptimizer = function(
    learning_rate,
    initial_accumulator_value = 0.1,
    use_locking = FALSE,
    name = "Adagrad"
  ) {
    new_optimizer(
      "Adagrad",
      name,
      learning_rate = learning_rate,
      initial_accumulator_value = initial_accumulator_value
    )
  },
  AdagradDAOptimizer = function(learning_rate, global_step = NULL,
                                initial_gradient_squared_accumulator_value = 0.1,
                                l1_regularization_strength = 0, l2_regularization_strength = 0,
                                use_locking = FALSE, name = "AdagradDA") {
    new_optimizer("AdagradDA", name,
      learning_rate = learning_rate,
      initial_gradient_squared_accumulator_value = initial_gradient_squared_accumulator_value,
      l1_regularization_strength = l1_regularization_strength,
      l2_regularization_strength = l2_regularization_strength
    )
  },
  AdamOptimizer = function(learning_rate = 0.001, beta1 = 0.9, beta2 = 0.999, epsilon = 1e-8,
                           use_locking = FALSE, name = "Adam") {
    new_optimizer(
      "Adam", name, learning_rate = learning_rate, beta1 = beta1, beta2 = beta2, epsilon = epsilon
    )
  },
  RMSPropOptimizer = function(learning_rate, decay = 0.9, momentum = 0, epsilon = 1e-10,
                              use_locking = FALSE, centered = FALSE, name = "RMSProp") {
    new_optimizer("RMSProp", name,
      learning_rate = learning_rate, decay = decay, momentum = momentum, epsilon = epsilon,
      centered = centered
    )
  },
  AdadeltaOptimizer = function(
    learning_rate = 0.001,
    rho = 0.95,
    epsilon = 1e-8,
    use_locking = FALSE,
    name = "Adadelta"
  ) {
    new_optimizer("Adadelta", name, learning_rate = learning_rate, rho = rho, epsilon = epsilon)
  },
  FtrlOptimizer = function(learning_rate, learning_rate_power = -0.5,
                           initial_accumulator_value = 0.1, l1_regularization_strength = 0,
                           l2_regularization_strength = 0, use_locking = FALSE, name = "Ftrl",
                           accum_name = NULL, linear_name = NULL,
                           l2_shrinkage_regularization_strength = 0) {
    new_optimizer("Ftrl", name,
      learning_rate = learning_rate, learning_rate_power = learning_rate_power,
      initial_accumulator_value = initial_accumulator_value,
      l1_regularization_strength = l1_regularization_strength,
      l2_regularization_strength = l2_regularization_strength,
      l2_shrinkage_regularization_strength = l2_shrinkage_regularization_strength
    )
  },
  ProximalAdagradOptimizer = function(learning_rate, initial_accumulator_value = 0.1,
                                      l1_regularization_strength = 0,
                                      l2_regularization_strength = 0, use_locking = FALSE,
                                      name = "ProximalAdagrad") {
    new_optimizer("ProximalAdagrad", name,
      learning_rate = learning_rate, initial_accumulator_value = initial_accumulator_value,
      l1_regularization_strength = l1_regularization_strength,
      l2_regularization_strength = l2_regularization_strength
    )
  },
  ProximalGradientDescentOptimizer = function(learning_rate, l1_regularization_strength = 0,
                                              l2_regularization_strength = 0, use_locking = FALSE,
                                              name = "ProximalGradientDescent") {
    new_optimizer("ProximalGradientDescent", name,
      learning_rate = learning_rate, l1_regularization_strength = l1_regularization_strength,
      l2_regularization_strength = l2_regularization_strength
    )
  },
  AdamWOptimizer = function(weight_decay, learning_rate = 0.001, beta1 = 0.9, beta2 = 0.999,
                            epsilon = 1e-8, use_locking = FALSE, name = "AdamW") {
    new_optimizer("AdamW", name,
      learning_rate = learning_rate, beta1 = beta1, beta2 = beta2, epsilon = epsilon,
      weight_decay = weight_decay, required = c("learning_rate", "weight_decay")
    )
  },
  LAMBOptimizer = function(learning_rate = 0.001, beta1 = 0.9, beta2 = 0.999, epsilon = 1e-6,
                           weight_decay_rate = 0, exclude_from_weight_decay = NULL,
                           exclude_from_layer_adaptation = NULL, name = "LAMB") {
    optimizer <- new_optimizer("LAMB", name,
      learning_rate = learning_rate, beta1 = beta1, beta2 = beta2, epsilon = epsilon,
      weight_decay_rate = weight_decay_rate
    )
    optimizer$exclude_from_weight_decay <- exclude_from_weight_decay
    optimizer$exclude_from_layer_adaptation <- exclude_from_layer_adaptation
    optimizer
  }
)

is_optimizer <- function(x) inherits(x, "runhooks_optimizer")

# The methods of an optimizer; its hyperparameters are elements.
#' @export
`$.runhooks_optimizer` <- function(x, name) {
  switch(name,
    compute_gradients = function(
      loss,
      var_list = NULL,
      ...
    ) {
      optimizer_compute_gradients(x, loss, var_list)
    },
    apply_gradients = function(grads_and_vars, global_step = NULL, name = NULL) {
      optimizer_apply_gradients(x, grads_and_vars, global_step, name)
    },
    minimize = function(loss, global_step = NULL, var_list = NULL, ..., name = NULL) {
      optimizer_apply_gradients(
        x, optimizer_compute_gradients(x, loss, var_list), global_step, name
      )
    },
    unclass(x)[[name]]
  )
}

#' @export
print.runhooks_optimizer <- function(x, ...) {
  numbers <- Filter(is_number, unclass(x))
  shown <- paste(names(numbers), "=", vapply(numbers, format, ""), collapse = ", ")
  cat(attr(x, "owner"), " with ", shown, "\n", sep = "") # lint: allow stdout
  invisible(x)
}

optimizer_compute_gradients <- function(optimizer, loss, var_list) {
  cpp_optimizer_compute_gradients(unclass_deep(optimizer), loss, as.list(var_list))
}

optimizer_apply_gradients <- function(optimizer, grads_and_vars, global_step, name) {
  cpp_optimizer_apply_gradients(unclass_deep(optimizer), grads_and_vars, global_step, name)
}

# A specification as the core reads it: a plain list.
unclass_deep <- function(x) {
  owner <- attr(x, "owner")
  structure(unclass(x), owner = owner)
}

# The argument `optimizer` of an estimator.
check_optimizer <- function(optimizer, arg = "optimizer", call = parent.frame()) {
  if (is.null(optimizer) || is_optimizer(optimizer) || is.function(optimizer)) return(invisible())
  check_string(optimizer, arg = arg, call = call)
  known <- cpp_optimizer_names()
  if (!optimizer %in% known) {
    stop_runhooks(
      c(
        "{.arg {arg}} cannot be {.val {optimizer}}.",
        i = "Known optimizers are {.val {sort(known)}}."
      ),
      call = call
    )
  }
}
