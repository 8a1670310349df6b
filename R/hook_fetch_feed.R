# Built-in hooks that fetch values at the end of a loop or feed values in each step.

#' Compute tensors at the end of a loop
#'
#' Creates a hook that runs operations after the last step and stores their values in
#' `hook$final_ops_values`. It does nothing if the loop ends by an error.
#'
#' @eval hook_params("FinalOpsHook")
#' @param final_ops_feed_dict Values to feed: a list named by tensors, [dict()], or `NULL`.
#' @inherit hook_logging_tensor return
#' @section Values: `hook$final_ops_values` has the structure of `final_ops`; the value of an
#'   operation is `NULL`. Before the end of the loop, and after a loop that failed, it is `NULL`.
#' @section Errors:
#'   * `runhooks_error_not_found`, at the start of the loop: a tensor is not in the graph.
#'   * `runhooks_error_out_of_range`, with a warning: `final_ops` need data after the end of the
#'     input.
#' @seealso The class `tf.train.FinalOpsHook` of TensorFlow 1.x.
#' @family hooks
#' @export
#' @examples
#' hook <- hook_final_ops(list(step = "global_step:0"))
#' model <- linear_regressor(column_numeric("wt"))
#' model |> train(input_fn(mpg ~ wt, mtcars, batch_size = 8), hooks = hook)
#' hook$final_ops_values
hook_final_ops <- function(final_ops, final_ops_feed_dict = NULL) {
  abort_abbreviated_arguments()
  leaves <- fetch_leaves(final_ops)
  check_feed_dict(final_ops_feed_dict)
  values <- NULL
  new_builtin_hook("FinalOpsHook",
    final_ops = if (length(leaves)) leaves,
    feed_fn = if (!is.null(final_ops_feed_dict)) function() final_ops_feed_dict,
    store = function(results) values <<- fill_fetches(final_ops, results),
    values = function() values
  )
}

#' @export
`$.FinalOpsHook` <- function(x, name) {
  if (name == "final_ops_values") unclass(x)$values() else unclass(x)[[name]]
}

is_fetch <- function(x) is_graph_element(x) || (is.character(x) && length(x) == 1)

# Returns the fetches of a nested structure in depth-first order.
fetch_leaves <- function(x, call = parent.frame(), depth = 1L) {
  if (is_fetch(x)) return(list(x))
  if (is.list(x) || is.character(x)) {
    check_nesting(depth, call)
    return(unname(do.call(c, lapply(x, fetch_leaves, call = call, depth = depth + 1L))))
  }
  if (!is.null(x)) {
    abort_runhooks(
      "{.arg final_ops} must be tensors, operations, names of these, or a list of them,
       not {describe_type(x)}.",
      call = call
    )
  }
}

# Replaces the fetches in `structure` by `values`, which are in the order of fetch_leaves().
fill_fetches <- function(structure, values) {
  n_filled <- 0L
  fill <- function(x) {
    if (!is_fetch(x)) return(lapply(x, fill))
    n_filled <<- n_filled + 1L
    values[[n_filled]]
  }
  if (is.null(structure)) NULL else fill(structure)
}

check_feed_dict <- function(x, arg = deparse(substitute(x)), call = parent.frame()) {
  is_named <- is.list(x) && (length(x) == 0 || !is.null(names(x)) || !is.null(attr(x, "keys")))
  check_arg(is.null(x) || is_named, x, "NULL, a named list or a dict()", arg, call)
}

#' Feed the values of a function
#'
#' Creates a hook that calls a function before each step and feeds its values to tensors of the
#' graph.
#'
#' @eval hook_params("FeedFnHook")
#' @inherit hook_logging_tensor return
#' @section Errors:
#'   * Any error of `feed_fn`, with its own class.
#'   * `runhooks_error_failed_precondition`: two hooks feed the same tensor.
#' @seealso The class `tf.train.FeedFnHook` of TensorFlow 1.x.
#' @family hooks
#' @export
#' @examples
#' model <- linear_regressor(column_numeric("wt"))
#' twice <- hook_feed_fn(function() list("IteratorGetNext:0" = matrix(c(1, 2))))
#' twice
hook_feed_fn <- builtin_hook("FeedFnHook")
