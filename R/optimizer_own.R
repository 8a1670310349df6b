# tf$train$Optimizer(): optimizers whose rule is written in R.

#' Write an optimizer in R
#'
#' `tf$train$Optimizer()` makes an optimizer of functions of tensors, as a class derived from
#' TensorFlow's `Optimizer` would be. They are called while the graph is built, once for each
#' variable, and return the operations of one step. The optimizer goes wherever others go: its
#' `minimize()`, the argument `optimizer` of a model, a model function.
#'
#' @section Arguments:
#' \describe{
#'   \item{`name`}{A string: the name scope of the step, and the slots' name.}
#'   \item{`...`}{Hyperparameters by name: numbers, tensors, variables, or functions of no argument or
#'     of the global step. The functions are given them as `hyper`, a list of tensors of the
#'     variable's type. `learning_rate` is what [hook_learning_rate()] sets.}
#'   \item{`apply_dense`}{A function of some of `grad`, `var`, `slots`, `hyper`: the gradient, the
#'     variable, its slots and the hyperparameters (lists by name). It returns an operation, a tensor, or
#'     a list of these: all that has to run.}
#'   \item{`apply_sparse = NULL`}{The same for a gradient of rows, as those of embeddings are: `grad$values`
#'     are the rows `grad$indices` (from 0) of the gradient, none of which comes twice. `NULL`:
#'     `apply_dense` is given the whole gradient, with zeros in the other rows.}
#'   \item{`slots = NULL`}{What is kept for each variable from step to step, and in checkpoints: names
#'     (such slots begin with zeros); or a list by name, of numbers, initializers
#'     (`tf$ones_initializer()`) or tensors; or a function of `var` that returns one of these. The
#'     variables are called as TensorFlow's: `w/<name>`, the next one `w/<name>_1`.}
#'   \item{`prepare = NULL`}{A function of `hyper` that is called once, before the updates. It returns a
#'     list by name, which the others are given in `hyper`; `tf$get_variable()` in it makes variables of
#'     the optimizer itself.}
#'   \item{`finish = NULL`}{A function of `updates` (a list of operations) and `hyper`; what it makes
#'     runs after all updates.}
#'   \item{`use_locking = FALSE`}{Without effect.}
#' }
#' Where a function names its arguments otherwise it is given them in this order.
#'
#' @section Errors: An error of one of the functions reaches the caller with its name and that of the
#'   variable. `runhooks_error_invalid_argument` for what returns no operations, and where one is made that
#'   changes a variable and that nothing returned waits for: it would never run.
#' @seealso [optimizers] for those that are there; `tf.train.Optimizer` of TensorFlow 1.x.
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
#' model %>% train(input_fn(mpg ~ wt, mtcars, batch_size = 8, num_epochs = 5))
#' variable_names(model)
#'
#' # rows of an embedding that a batch does not have stay as they are
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

# What each function may be given, in this order.
optimizer_parts <- list(
  apply_dense = c("grad", "var", "slots", "hyper"),
  apply_sparse = c("grad", "var", "slots", "hyper"),
  slots = "var", prepare = "hyper", finish = c("updates", "hyper")
)

own_optimizer <- function(name, ..., apply_dense, apply_sparse = NULL, slots = NULL, prepare = NULL,
                          finish = NULL, use_locking = FALSE) {
  call <- environment()
  if (missing(name)) {
    abort_runhooks("{.arg name} is missing, with no default: slots are called by it.")
  }
  check_string(name)
  check_flag(use_locking)
  if (missing(apply_dense)) {
    abort_runhooks(c(
      "{.arg apply_dense} is missing, with no default.",
      i = "It is a function of a gradient and its variable that returns the operation of a step, such as
           {.code function(grad, var) tf$assign_sub(var, 0.1 * grad)}."
    ))
  }
  owner <- sprintf("tf$train$Optimizer(\"%s\")", name)
  given <- list(
    apply_dense = apply_dense, apply_sparse = apply_sparse,
    slots = if (is.null(slots) || is.function(slots)) slots else kept_slots(slots, call),
    prepare = prepare, finish = finish
  )
  given <- given[names(given) == "apply_dense" | !vapply(given, is.null, NA)]
  functions <- Map(
    function(f, part) optimizer_part(f, part, owner, call), given, names(given)
  )
  optimizer <- structure(
    c(
      list(type = "Optimizer", name = name), functions,
      list(hyper = own_hyperparameters(list(...), call))
    ),
    owner = owner, state = new.env(parent = emptyenv()),
    class = c("runhooks_own_optimizer", "runhooks_optimizer")
  )
  cpp_optimizer_check(unclass_deep(optimizer))
  optimizer
}

own_hyperparameters <- function(hyper, call) {
  if (length(hyper) == 0) return(NULL)
  names <- rlang::names2(hyper)
  if (any(names == "") || anyDuplicated(names)) {
    abort_runhooks(
      "Hyperparameters of an optimizer must have names, each its own, as in
       {.code learning_rate = 0.1}.",
      call = call
    )
  }
  for (name in names) {
    x <- hyper[[name]]
    good <- is_number(x) || is_tensor(x) || is_variable(x) || is.function(x)
    check_arg(good, x, "a number, a tensor or a function", name, call)
    if (is.function(x)) hyper[[name]] <- rate_function(x)
  }
  hyper
}

kept_slots <- function(slots, call) {
  good <- is.character(slots) || is.list(slots)
  check_arg(good, slots, "names, a list by name or a function", "slots", call)
  as_slots(slots, call)
  function(var) slots
}

# By name: initial values, as the core takes them.
as_slots <- function(slots, call) {
  if (is.character(slots)) slots <- setNames(as.list(numeric(length(slots))), slots)
  names <- rlang::names2(slots)
  if (!is.list(slots) || any(is.na(names) | names == "") || anyDuplicated(names)) {
    abort_runhooks(
      "{.arg slots} must be names or a list by name, each name once, as in
       {.code slots = list(m = 0)}, not {kind_of(slots)}.",
      call = call
    )
  }
  lapply(slots, core_value)
}

# A function of the user's as the core calls it: with all that it may be given, of which it gets what
# it takes; its errors say whose they are, and what it returns is what the core can read.
optimizer_part <- function(f, part, owner, call) {
  check_arg(is.function(f), f, "a function", part, call)
  known <- optimizer_parts[[part]]
  taken <- taken_arguments(f, known, part, call)
  about <- function(var) {
    of <- if (is.null(var)) "" else sprintf(" for the variable `%s`", sub(":0$", "", var$name))
    sprintf("in %s() of the optimizer %s%s", part, owner, of)
  }
  function(...) {
    given <- setNames(list(...), known)
    arguments <- given[taken]
    if (!all(taken %in% names(formals(args(f))))) arguments <- unname(arguments)
    withCallingHandlers(
      optimizer_result(as_users_code(do.call(f, arguments, quote = TRUE)), part),
      error = function(e) {
        if (is.null(steering_kind(e))) stop(add_note(e, about(given$var)))
      }
    )
  }
}

# Which of the arguments in `known` a function takes: by their names, or as many as it has.
taken_arguments <- function(f, known, part, call) {
  own <- formals(args(f))
  if ("..." %in% names(own)) return(known)
  needed <- names(own)[vapply(own, identical, NA, quote(expr = ))]
  if (all(needed %in% known)) return(intersect(known, names(own)))
  if (length(needed) <= length(known)) return(utils::head(known, length(needed)))
  abort_runhooks(
    "{.arg {part}} is given {.arg {known}}, and needs {length(needed)} arguments: {.arg {needed}}.",
    call = call
  )
}

optimizer_result <- function(x, part) {
  if (part == "slots") return(as_slots(x, NULL))
  if (part == "prepare") {
    if (is.null(x)) return(NULL)
    if (!is.list(x) || is.object(x) || any(rlang::names2(x) == "")) {
      abort_runhooks("What is returned must be a list by name, not {describe(x)}.", call = NULL)
    }
    return(lapply(x, as_tensor))
  }
  is_good <- function(x) is_graph_element(x) || is.list(x) && !is.object(x) && all(vapply(x, is_good, NA))
  if (is.null(x) || !is_good(x)) {
    abort_runhooks(
      c(
        "What is returned must be an operation, a tensor or a list of these, not {kind_of(x)}.",
        i = "For example what {.code tf$assign_sub(var, grad * rate)} returns."
      ),
      call = NULL
    )
  }
  if (is_graph_element(x)) list(x) else x
}

# The numbers and tensors that an optimizer was given.
hyperparameters_in <- function(x) c(unclass(x), unclass(x)$hyper)
