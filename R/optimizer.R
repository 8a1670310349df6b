# Optimizers: specifications that the core makes optimizers of. They are the same objects under
# `tf$train`.

# Their constructors, made of what the core has registered: arguments, defaults, ranges.
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
    given <- given_arguments(.specs$name, environment())
    new_optimizer(.specs$type[[1]], given, sys.function())
  }
  formals(f) <- registered_formals(specs)
  f
}

# The specification that the core makes an optimizer of: what was given, without NULLs.
new_optimizer <- function(type, given, constructor, call = parent.frame()) {
  name <- formals(constructor)$name
  if (is.function(given$learning_rate)) given$learning_rate <- rate_function(given$learning_rate)
  own <- given[setdiff(names(given), c("name", "use_locking"))]
  optimizer <- structure(
    c(list(type = type, name = given$name), own),
    owner = paste0("tf$train$", name, "Optimizer()"),
    # what the core has made of it in a graph: slots are found again
    state = new.env(parent = emptyenv()),
    class = c(paste0(name, "Optimizer"), "runhooks_optimizer")
  )
  check_flag(if (is.null(given$use_locking)) FALSE else given$use_locking, "use_locking", call)
  cpp_optimizer_check(unclass_deep(optimizer))
  optimizer
}

# A function of no argument, as TensorFlow has it; one of an argument is given the global step.
rate_function <- function(f) {
  if (takes_arguments(f, 0) || !takes_arguments(f, 1)) return(f)
  structure(function() f(tf$train$get_or_create_global_step()), wrapped = f)
}

# The page's tables, made when roxygen2 writes it. lint: allow caller
optimizers_rd <- function() {
  sections <- lapply(registered("optimizer"), function(specs) {
    default <- ifelse(nzchar(specs$default), paste0(" = ", specs$default), "")
    path <- paste0("tf$", gsub(".", "$", endpoints_of(specs)[[1]], fixed = TRUE))
    items <- paste0("\\item{\\code{", specs$name, default, "}}{", specs$doc, range_rd(specs), "}")
    paste0(
      "@section ", path, ":\n", "\\describe{\n", paste0(items, collapse = "\n"), "\n}"
    )
  })
  unlist(sections, use.names = FALSE)
}

#' Optimizers
#'
#' How the variables of a model follow the gradients of its loss. The functions are members of
#' `tf$train`; they give an object for the argument `optimizer` of an estimator. An estimator also
#' takes a name (one of `"SGD"`, `"Momentum"`, `"Adagrad"`, `"Adam"`, `"RMSProp"`, `"Adadelta"`,
#' `"Ftrl"`, `"ProximalAdagrad"`, `"ProximalGradientDescent"`, `"LBFGS"`, then the learning rate is
#' the estimator's), or a function of no argument that returns an optimizer and
#' is called while the graph is built.
#'
#' @eval optimizers_rd()
#' @details
#' Learning rates may be tensors, such as `tf$train$exponential_decay(0.1,
#' tf$train$get_global_step(), 1000, 0.9)`, variables, or functions that are called while the graph
#' is built: of no argument, or of the global step, as `function(step)
#' tf$train$exponential_decay(0.1, step, 1000, 0.9)`. A rate that changes is in the event file as
#' `learning_rate`. [hook_learning_rate()] sets the rate from R, step by step.
#'
#' `tf$train$LBFGSOptimizer()` is ours: it goes to the least loss in few steps where each of them
#' sees all rows of the data (a `batch_size` of as many), and then stays there, see
#' [hook_stop_when_converged()]; hooks may fetch `"gradient_norm"`. Where a batch is a part of the
#' rows its steps are Adagrad's. It keeps twice `num_correction_pairs` numbers for each weight, in
#' float64.
#'
#' @section Errors: `runhooks_error_invalid_argument` for a hyperparameter out of its range or an
#'   unknown name; the message lists the known ones.
#' @seealso [own_optimizers] for a rule of one's own; the classes of these names in TensorFlow 1.x.
#' @name optimizers
#' @family optimizers
#' @examples
#' linear_regressor(column_numeric("wt"), optimizer = tf$train$AdamOptimizer(learning_rate = 0.05))
#' linear_regressor(column_numeric("wt"), optimizer = "SGD")
NULL

# The methods of an optimizer; its hyperparameters are elements.
#' @export
`$.runhooks_optimizer` <- function(x, name) {
  switch(name,
    compute_gradients = function(loss, var_list = NULL, gate_gradients = 1,
                                 aggregation_method = NULL, colocate_gradients_with_ops = FALSE,
                                 grad_loss = NULL) {
      unsupported(gate_gradients, aggregation_method, colocate_gradients_with_ops)
      optimizer_compute_gradients(x, loss, var_list, grad_loss)
    },
    apply_gradients = function(grads_and_vars, global_step = NULL, name = NULL) {
      optimizer_apply_gradients(x, grads_and_vars, global_step, name)
    },
    minimize = function(loss, global_step = NULL, var_list = NULL, gate_gradients = 1,
                        aggregation_method = NULL, colocate_gradients_with_ops = FALSE,
                        name = NULL, grad_loss = NULL) {
      unsupported(gate_gradients, aggregation_method, colocate_gradients_with_ops)
      optimizer_apply_gradients(
        x, optimizer_compute_gradients(x, loss, var_list, grad_loss), global_step, name
      )
    },
    get_slot = function(var, name) cpp_optimizer_slot(attr(x, "state"), var, name),
    get_slot_names = function() cpp_optimizer_slot_names(attr(x, "state")),
    variables = function() cpp_optimizer_variables(attr(x, "state")),
    get_name = function() {
      given <- unclass(x)$name
      if (is.null(given)) sub("Optimizer$", "", class(x)[[1]]) else given
    },
    hyperparameters_in(x)[[name]]
  )
}

#' @export
print.runhooks_optimizer <- function(x, ...) {
  numbers <- Filter(is_number, hyperparameters_in(x))
  shown <- sprintf("%s = %s", names(numbers), vapply(numbers, format, ""))
  more <- if (length(numbers)) paste(" with", paste(shown, collapse = ", "))
  cat(attr(x, "owner"), more, "\n", sep = "") # lint: allow stdout
  invisible(x)
}

optimizer_compute_gradients <- function(optimizer, loss, var_list, grad_loss = NULL) {
  if (!is.null(grad_loss)) grad_loss <- as_tensor(grad_loss, loss$dtype)
  if (is_variable(var_list)) var_list <- list(var_list)
  cpp_optimizer_compute_gradients(unclass_deep(optimizer), loss, as.list(var_list), grad_loss)
}

optimizer_apply_gradients <- function(optimizer, grads_and_vars, global_step, name) {
  cpp_optimizer_apply_gradients(
    unclass_deep(optimizer), attr(optimizer, "state"), grads_and_vars, global_step, name
  )
}

# A specification as the core reads it: a plain list.
unclass_deep <- function(x) {
  owner <- attr(x, "owner")
  attributes(x) <- list(names = names(x), owner = owner)
  x
}

# The argument `optimizer` of an estimator.
check_optimizer <- function(optimizer, arg = "optimizer", call = parent.frame()) {
  if (is.null(optimizer) || is_optimizer(optimizer) || is.function(optimizer)) return(invisible())
  check_string(optimizer, arg = arg, call = call)
  known <- cpp_optimizer_names()
  if (!optimizer %in% known) {
    abort_runhooks(
      c(
        "{.arg {arg}} cannot be {.val {optimizer}}.",
        did_you_mean(optimizer, known),
        i = "Known optimizers are {.val {sorted_words(known)}}."
      ),
      call = call
    )
  }
}
