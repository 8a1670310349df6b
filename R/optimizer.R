# Optimizers of tf$train. The R object is a specification, from which the core creates the optimizer
# in a graph.

optimizer_symbols <- function() {
  symbols <- list()
  for (specs in registered("optimizer")) {
    symbols[endpoints_of(specs)] <- list(optimizer_constructor(specs))
  }
  symbols$train.Optimizer <- own_optimizer
  symbols
}

optimizer_constructor <- function(specs) {
  .specs <- specs
  f <- function() {
    values <- argument_values(.specs$name, environment())
    new_optimizer(.specs$type[[1]], values, sys.function())
  }
  formals(f) <- registered_formals(specs)
  f
}

new_optimizer <- function(type, values, constructor, call = parent.frame()) {
  name <- formals(constructor)$name
  if (is.function(values$learning_rate)) {
    values$learning_rate <- as_rate_function(values$learning_rate)
  }
  hyperparameters <- values[setdiff(names(values), c("name", "use_locking"))]
  optimizer <- structure(
    c(list(type = type, name = values$name), hyperparameters),
    owner = paste0("tf$train$", name, "Optimizer()"),
    # the core stores here the optimizer that it creates in a graph, which has the slot variables
    state = new.env(parent = emptyenv()),
    class = c(paste0(name, "Optimizer"), "runhooks_optimizer")
  )
  check_flag(if (is.null(values$use_locking)) FALSE else values$use_locking, "use_locking", call)
  cpp_optimizer_check(optimizer_fields(optimizer))
  optimizer
}

# Converts a learning rate that is a function to a function without arguments, as TensorFlow needs.
# A function of one argument gets the global step.
as_rate_function <- function(f) {
  if (takes_arguments(f, 0) || !takes_arguments(f, 1)) return(f)
  structure(function() f(tf$train$get_or_create_global_step()), wrapped = f)
}

# Generates the tables of the help page for roxygen2. lint: allow caller
optimizers_rd <- function() {
  sections <- lapply(registered("optimizer"), function(specs) {
    defaults <- ifelse(nzchar(specs$default), paste0(" = ", specs$default), "")
    path <- paste0("tf$", gsub(".", "$", endpoints_of(specs)[[1]], fixed = TRUE))
    items <- paste0("\\item{\\code{", specs$name, defaults, "}}{", specs$doc, range_rd(specs), "}")
    paste0(
      "@section ", path, ":\n", "\\describe{\n", paste0(items, collapse = "\n"), "\n}"
    )
  })
  unlist(sections, use.names = FALSE)
}

#' Optimizers
#'
#' The functions below are members of `tf$train`. They return an optimizer for the argument
#' `optimizer` of an estimator. An optimizer updates the variables of a model with the gradients of
#' its loss.
#'
#' An estimator also accepts the name of an optimizer: `"SGD"`, `"Momentum"`, `"Adagrad"`, `"Adam"`,
#' `"RMSProp"`, `"Adadelta"`, `"Ftrl"`, `"ProximalAdagrad"`, `"ProximalGradientDescent"` or
#' `"LBFGS"`. The optimizer then uses the learning rate of the estimator. The argument can also be a
#' function without arguments that returns an optimizer while the graph is built.
#'
#' @eval optimizers_rd()
#' @details
#' A learning rate can be a number, a tensor, a variable or a function. An example of a tensor is
#' `tf$train$exponential_decay(0.1, tf$train$get_global_step(), 1000, 0.9)`. A function is called
#' while the graph is built, without arguments or with the global step: `function(step)
#' tf$train$exponential_decay(0.1, step, 1000, 0.9)`. If the rate changes, the event file contains
#' it under the name `learning_rate`. [hook_learning_rate()] sets the rate from R in each step.
#'
#' `tf$train$LBFGSOptimizer()` does not exist in TensorFlow. If each batch contains all rows, it
#' reaches the minimum of the loss in few steps; [hook_stop_when_converged()] then stops the
#' training. Hooks can fetch `"gradient_norm"`. If a batch contains only some of the rows, it makes
#' steps of Adagrad. It stores `2 * num_correction_pairs` float64 numbers for each weight.
#'
#' @section Errors:
#'   * `runhooks_error_invalid_argument`: a hyperparameter is out of range, or the name is unknown.
#'     The message lists the known names.
#' @seealso [own_optimizers] for optimizers that are written in R; the classes with the same names
#'   in TensorFlow 1.x.
#' @name optimizers
#' @family optimizers
#' @examples
#' linear_regressor(column_numeric("wt"), optimizer = tf$train$AdamOptimizer(learning_rate = 0.05))
#' linear_regressor(column_numeric("wt"), optimizer = "SGD")
NULL

#' @export
`$.runhooks_optimizer` <- function(x, name) {
  switch(name,
    compute_gradients = function(loss, var_list = NULL, gate_gradients = 1,
                                 aggregation_method = NULL, colocate_gradients_with_ops = FALSE,
                                 grad_loss = NULL) {
      abort_unsupported_arguments(gate_gradients, aggregation_method, colocate_gradients_with_ops)
      optimizer_compute_gradients(x, loss, var_list, grad_loss)
    },
    apply_gradients = function(grads_and_vars, global_step = NULL, name = NULL) {
      optimizer_apply_gradients(x, grads_and_vars, global_step, name)
    },
    minimize = function(loss, global_step = NULL, var_list = NULL, gate_gradients = 1,
                        aggregation_method = NULL, colocate_gradients_with_ops = FALSE,
                        name = NULL, grad_loss = NULL) {
      abort_unsupported_arguments(gate_gradients, aggregation_method, colocate_gradients_with_ops)
      optimizer_apply_gradients(
        x, optimizer_compute_gradients(x, loss, var_list, grad_loss), global_step, name
      )
    },
    get_slot = function(var, name) cpp_optimizer_slot(attr(x, "state"), var, name),
    get_slot_names = function() cpp_optimizer_slot_names(attr(x, "state")),
    variables = function() cpp_optimizer_variables(attr(x, "state")),
    get_name = function() {
      name <- unclass(x)$name
      if (is.null(name)) sub("Optimizer$", "", class(x)[[1]]) else name
    },
    {
      hyperparameters <- hyperparameters_in(x)
      if (!name %in% names(hyperparameters)) abort_no_member(x, name, optimizer_methods)
      hyperparameters[[name]]
    }
  )
}

optimizer_methods <- c(
  "compute_gradients", "apply_gradients", "minimize", "get_slot", "get_slot_names", "variables",
  "get_name"
)

#' @export
print.runhooks_optimizer <- function(x, ...) {
  numbers <- Filter(is_number, hyperparameters_in(x))
  texts <- sprintf("%s = %s", names(numbers), vapply(numbers, format, ""))
  suffix <- if (length(numbers)) paste(" with", paste(texts, collapse = ", "))
  cat(attr(x, "owner"), suffix, "\n", sep = "") # lint: allow stdout
  invisible(x)
}

optimizer_compute_gradients <- function(optimizer, loss, var_list, grad_loss = NULL) {
  if (!is.null(grad_loss)) grad_loss <- as_tensor(grad_loss, loss$dtype)
  if (is_variable(var_list)) var_list <- list(var_list)
  cpp_optimizer_compute_gradients(optimizer_fields(optimizer), loss, as.list(var_list), grad_loss)
}

optimizer_apply_gradients <- function(optimizer, grads_and_vars, global_step, name) {
  cpp_optimizer_apply_gradients(
    optimizer_fields(optimizer), attr(optimizer, "state"), grads_and_vars, global_step, name
  )
}

optimizer_fields <- function(x) {
  owner <- attr(x, "owner")
  attributes(x) <- list(names = names(x), owner = owner)
  x
}

check_optimizer <- function(optimizer, arg = "optimizer", call = parent.frame()) {
  if (is.null(optimizer) || is_optimizer(optimizer) || is.function(optimizer)) return(invisible())
  check_string(optimizer, arg = arg, call = call)
  names <- cpp_optimizer_names()
  if (!optimizer %in% names) {
    abort_runhooks(
      c(
        "{.arg {arg}} cannot be {.val {optimizer}}.",
        did_you_mean(optimizer, names),
        i = "Known optimizers are {.val {sort_bytewise(names)}}."
      ),
      call = call
    )
  }
}
