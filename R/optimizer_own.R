# tf$train$Optimizer(): optimizers with an update rule that is written in R.

#' Write an optimizer in R
#'
#' `tf$train$Optimizer()` creates an optimizer from R functions that build its update operations, as
#' a subclass of TensorFlow's `Optimizer` does. The functions are called once for each variable
#' while the graph is built. Use the optimizer like a built-in one: call its `minimize()`, return
#' its operation from a model function, or give it as the argument `optimizer` of a model.
#'
#' @section Arguments:
#' \describe{
#'   \item{`name`}{A string: the name scope of the update, and the default name of slots.}
#'   \item{`...`}{Named hyperparameters: numbers, tensors, variables, or functions of no argument or
#'     of the global step. The functions receive them in the list `hyper`, as tensors with the data
#'     type of the variable. [hook_learning_rate()] changes the hyperparameter `learning_rate`.}
#'   \item{`apply_dense`}{A function of any of `grad`, `var`, `slots` and `hyper`: the gradient, the
#'     variable, and the named lists of its slots and of the hyperparameters. It returns the update
#'     of the variable: an operation, a tensor, or a list of these.}
#'   \item{`apply_sparse = NULL`}{The same for a sparse gradient, such as that of an embedding:
#'     `grad$values` are the rows `grad$indices` of the gradient. Indices start at 0 and are unique.
#'     `NULL`: `apply_dense` gets the dense gradient, with zeros in the other rows.}
#'   \item{`slots = NULL`}{The slots of each variable, which checkpoints contain. A character vector
#'     of names (initial value 0), a named list of numbers, tensors or initializers
#'     (`tf$ones_initializer()`), or a function of `var` that returns one of these. Slots have
#'     TensorFlow's names: the first one of `w` is `w/<name>`, the next one `w/<name>_1`.}
#'   \item{`prepare = NULL`}{A function of `hyper` that is called once before the updates. It
#'     returns a named list that is added to `hyper`. Inside it, `tf$get_variable()` creates
#'     variables that belong to the optimizer.}
#'   \item{`finish = NULL`}{A function of `updates`, a list of operations, and `hyper`. The
#'     operation that it returns runs after all updates.}
#'   \item{`use_locking = FALSE`}{Has no effect.}
#' }
#' A function with other argument names gets the values in the order above.
#'
#' `tf$train$Optimizer(use_locking = FALSE, name)` without `apply_dense` returns a base for scripts
#' that derive an optimizer from a class. It is an environment, and the script must replace its
#' function `apply_gradients`.
#'
#' @section Errors:
#'   * `runhooks_error_invalid_argument`: a function does not return operations. Or it creates an
#'     assignment that would never run, because no returned operation depends on it.
#'   * Any error of a function. The message names the function and the variable.
#' @seealso [optimizers] for the built-in optimizers; `tf.train.Optimizer` of TensorFlow 1.x.
#' @name own_optimizers
#' @family optimizers
#' @examples
#' # gradient descent with momentum
#' momentum <- function(learning_rate, momentum = 0.9) {
#'   tf$train$Optimizer(
#'     "MyMomentum",
#'     learning_rate = learning_rate, momentum = momentum,
#'     slots = "momentum",
#'     apply_dense = function(grad, var, slots, hyper) {
#'       accum <- tf$assign(slots$momentum, slots$momentum * hyper$momentum + grad)
#'       tf$assign_sub(var, accum * hyper$learning_rate)
#'     }
#'   )
#' }
#' model <- linear_regressor(column_numeric("wt"), optimizer = momentum(0.01))
#' model |> train(input_fn(mpg ~ wt, mtcars, batch_size = 8, num_epochs = 5))
#' variable_names(model)
#'
#' # update only the rows of an embedding that are in the batch
#' sgd <- tf$train$Optimizer(
#'   "MySGD",
#'   learning_rate = 0.1,
#'   apply_dense = function(grad, var, slots, hyper) tf$assign_sub(var, grad * hyper$learning_rate),
#'   apply_sparse = function(grad, var, slots, hyper) {
#'     tf$scatter_sub(var, grad$indices, grad$values * hyper$learning_rate)
#'   }
#' )
#' sgd
NULL

# The functions of an optimizer and their arguments.
optimizer_function_arguments <- list(
  apply_dense = c("grad", "var", "slots", "hyper"),
  apply_sparse = c("grad", "var", "slots", "hyper"),
  slots = "var", prepare = "hyper", finish = c("updates", "hyper")
)

own_optimizer <- function(name, ..., apply_dense, apply_sparse = NULL, slots = NULL, prepare = NULL,
                          finish = NULL, use_locking = FALSE) {
  call <- environment()
  if (missing(name)) {
    abort_runhooks("{.arg name} is missing, with no default: it names the slots.")
  }
  check_string(name)
  check_flag(use_locking)
  if (missing(apply_dense)) {
    if (!missing(use_locking)) return(base_optimizer(name))
    abort_runhooks(c(
      "{.arg apply_dense} is missing, with no default.",
      i = "It is a function of a gradient and a variable that returns an operation, such as
           {.code function(grad, var) tf$assign_sub(var, 0.1 * grad)}."
    ))
  }
  owner <- sprintf("tf$train$Optimizer(\"%s\")", name)
  parts <- list(
    apply_dense = apply_dense, apply_sparse = apply_sparse,
    slots = if (is.null(slots) || is.function(slots)) slots else as_slots_function(slots, call),
    prepare = prepare, finish = finish
  )
  parts <- parts[names(parts) == "apply_dense" | !vapply(parts, is.null, NA)]
  functions <- Map(
    function(f, part) wrap_optimizer_function(f, part, owner, call), parts, names(parts)
  )
  optimizer <- structure(
    c(
      list(type = "Optimizer", name = name), functions,
      list(hyper = own_hyperparameters(list(...), call))
    ),
    owner = owner, state = new.env(parent = emptyenv()),
    class = c("runhooks_own_optimizer", "runhooks_optimizer")
  )
  cpp_optimizer_check(optimizer_fields(optimizer))
  optimizer
}

# Creates an optimizer for scripts that replace its function `apply_gradients`, as a subclass in
# Python does.
base_optimizer <- function(name) {
  self <- new.env(parent = emptyenv())
  self$get_name <- function() name
  self$compute_gradients <- function(loss, var_list = NULL, gate_gradients = 1,
                                     aggregation_method = NULL,
                                     colocate_gradients_with_ops = FALSE, grad_loss = NULL) {
    abort_unsupported_arguments(gate_gradients, aggregation_method, colocate_gradients_with_ops)
    # gradients do not depend on the optimizer, so any optimizer can compute them
    optimizer_compute_gradients(tf$train$GradientDescentOptimizer(1), loss, var_list, grad_loss)
  }
  self$apply_gradients <- function(grads_and_vars, global_step = NULL, name = NULL) {
    abort_runhooks(
      "Assign a function to {.code apply_gradients} of the optimizer, or give
       {.fn tf$train$Optimizer} the argument {.arg apply_dense}."
    )
  }
  self$minimize <- function(loss, global_step = NULL, var_list = NULL, gate_gradients = 1,
                            aggregation_method = NULL, colocate_gradients_with_ops = FALSE,
                            name = NULL, grad_loss = NULL) {
    gradients <- self$compute_gradients(
      loss, var_list, gate_gradients, aggregation_method, colocate_gradients_with_ops, grad_loss
    )
    self$apply_gradients(gradients, global_step = global_step, name = name)
  }
  class(self) <- "runhooks_base_optimizer"
  self
}

#' @export
print.runhooks_base_optimizer <- function(x, ...) {
  cat("<Optimizer \"", x$get_name(), "\">\n", sep = "") # lint: allow stdout
  invisible(x)
}

own_hyperparameters <- function(hyper, call) {
  if (length(hyper) == 0) return(NULL)
  names <- rlang::names2(hyper)
  if (any(names == "") || anyDuplicated(names)) {
    abort_runhooks(
      "Hyperparameters of an optimizer must have unique names, such as
       {.code learning_rate = 0.1}.",
      call = call
    )
  }
  for (name in names) {
    x <- hyper[[name]]
    is_valid <- is_number(x) || is_tensor(x) || is_variable(x) || is.function(x)
    check_arg(is_valid, x, "a number, a tensor or a function", name, call)
    if (is.function(x)) hyper[[name]] <- as_rate_function(x)
  }
  hyper
}

# Converts `slots` to a function that returns the slots for each variable.
as_slots_function <- function(slots, call) {
  is_valid <- is.character(slots) || is.list(slots)
  check_arg(is_valid, slots, "names, a list by name or a function", "slots", call)
  as_slots(slots, call)
  function(var) slots
}

as_slots <- function(slots, call) {
  if (is.character(slots)) slots <- setNames(as.list(numeric(length(slots))), slots)
  names <- rlang::names2(slots)
  if (!is.list(slots) || any(is.na(names) | names == "") || anyDuplicated(names)) {
    abort_runhooks(
      "{.arg slots} must be names or a named list with unique names, such as
       {.code slots = list(m = 0)}, not {describe_type(slots)}.",
      call = call
    )
  }
  lapply(slots, value_for_core)
}

# Wraps a function for the core and adds the optimizer and the variable to its errors.
wrap_optimizer_function <- function(f, part, owner, call) {
  check_arg(is.function(f), f, "a function", part, call)
  all_names <- optimizer_function_arguments[[part]]
  passed <- accepted_arguments(f, all_names, part, call)
  location <- function(var) {
    suffix <- if (is.null(var)) "" else sprintf(" for the variable `%s`", sub(":0$", "", var$name))
    sprintf("in %s() of the optimizer %s%s", part, owner, suffix)
  }
  function(...) {
    values <- setNames(list(...), all_names)
    arguments <- values[passed]
    if (!all(passed %in% names(formals(args(f))))) arguments <- unname(arguments)
    withCallingHandlers(
      check_optimizer_result(eval_user_code(do.call(f, arguments, quote = TRUE)), part),
      error = function(e) {
        if (is.null(control_error_kind(e))) stop(add_note(e, location(values$var)))
      }
    )
  }
}

# Returns the arguments in `all_names` that a function accepts, by name or else by position.
accepted_arguments <- function(f, all_names, part, call) {
  own_formals <- formals(args(f))
  if ("..." %in% names(own_formals)) return(all_names)
  required <- names(own_formals)[vapply(own_formals, identical, NA, quote(expr = ))]
  if (all(required %in% all_names)) return(intersect(all_names, names(own_formals)))
  if (length(required) <= length(all_names)) return(utils::head(all_names, length(required)))
  abort_runhooks(
    "{.arg {part}} gets {.arg {all_names}}, but needs {length(required)} arguments:
     {.arg {required}}.",
    call = call
  )
}

check_optimizer_result <- function(x, part) {
  if (part == "slots") return(as_slots(x, NULL))
  if (part == "prepare") {
    if (is.null(x)) return(NULL)
    if (!is.list(x) || is.object(x) || any(rlang::names2(x) == "")) {
      abort_runhooks("It must return a named list, not {describe(x)}.", call = NULL)
    }
    return(lapply(x, as_tensor))
  }
  are_elements <- function(x) {
    is_graph_element(x) || is.list(x) && !is.object(x) && all(vapply(x, are_elements, NA))
  }
  if (is.null(x) || !are_elements(x)) {
    abort_runhooks(
      c(
        "It must return an operation, a tensor or a list of these, not {describe_type(x)}.",
        i = "For example, the value of {.code tf$assign_sub(var, grad * rate)}."
      ),
      call = NULL
    )
  }
  if (is_graph_element(x)) list(x) else x
}

# Returns the fields and the hyperparameters of an optimizer as one list.
hyperparameters_in <- function(x) c(unclass(x), unclass(x)$hyper)
