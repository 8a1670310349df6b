# Profiling: run options, run metadata, and the hook that saves timelines.

#' Profile the operations of steps
#'
#' Creates a hook that traces a step at each interval and saves the time of each operation. The file
#' `timeline-<step>.json` in `output_dir` opens in Perfetto (ui.perfetto.dev) and in
#' `chrome://tracing`. The event file contains the trace under the tag `step_<step>`, and
#' TensorBoard shows it with the graph.
#'
#' The hook never traces the first step, and it does not slow down other steps. The time that steps
#' wait for elements of a dataset is on a separate line, "Input".
#'
#' @eval hook_params("ProfilerHook")
#' @inherit hook_logging_tensor return
#' @section Units: Times are microseconds since the start of the step.
#' @section Errors:
#'   * `runhooks_error_invalid_argument`: both intervals are given, or neither.
#'   * `runhooks_error_failed_precondition`, at the start of the loop: the graph has no global step.
#' @seealso The class `tf.train.ProfilerHook` of TensorFlow 1.x; [run_options()] for one run.
#' @family hooks
#' @export
#' @examples
#' traces <- tempfile("traces")
#' model <- linear_regressor(column_numeric("wt"))
#' model |> train(
#'   input_fn(mpg ~ wt, mtcars, batch_size = 8, num_epochs = 2),
#'   hooks = hook_profiler(save_steps = 5, output_dir = traces)
#' )
#' dir(traces, "timeline")
hook_profiler <- builtin_hook("ProfilerHook")

#' Set the options of a run and read its trace
#'
#' `run_options()` creates the options for `session$run(options = )` and [session_run_args()]. If
#' several hooks of a run give options, the largest trace level and the largest time limit apply.
#' `run_metadata()` creates an object that `session$run(run_metadata = )` fills. Hooks find the same
#' object in `values$run_metadata`.
#'
#' @param trace_level A number from 0 to 3, or a constant such as `tf$RunOptions$FULL_TRACE` (3). A
#'   number above 0 traces each operation.
#' @param timeout_in_ms Time limit in milliseconds. A longer run is an error between two operations.
#'   0: no limit.
#' @return `run_options()`: an object of class `runhooks_run_options`.
#'
#'   `run_metadata()`: an object of class `runhooks_run_metadata`. `$step_stats` is `NULL` until a
#'   traced run fills it. Then `$step_stats$dev_stats[[1]]$node_stats` has one entry for each
#'   operation.
#'   `as.data.frame()` returns one row for each operation, with `node_name`, `op`, `start_micros`
#'   since the start of the run, `micros` of its execution, and `bytes` of its results.
#' @section Errors:
#'   * `runhooks_error_deadline_exceeded`: a run exceeds its time limit.
#' @seealso `tf.RunOptions` and `tf.RunMetadata` of TensorFlow 1.x.
#' @family sessions
#' @export
#' @examples
#' with(tf$Session() %as% sess, {
#'   metadata <- run_metadata()
#'   y <- tf$sqrt(tf$constant(2))
#'   options <- run_options(trace_level = tf$RunOptions$FULL_TRACE)
#'   sess$run(y, options = options, run_metadata = metadata)
#' })
#' as.data.frame(metadata)
run_options <- function(trace_level = 0, timeout_in_ms = 0) {
  check_whole(trace_level)
  check_whole(timeout_in_ms)
  structure(
    list(trace_level = trace_level, timeout_in_ms = timeout_in_ms),
    class = "runhooks_run_options"
  )
}

#' @rdname run_options
#' @export
run_metadata <- function() {
  metadata <- new.env(parent = emptyenv())
  metadata$step_stats <- NULL
  class(metadata) <- "runhooks_run_metadata"
  metadata
}

# Creates the step statistics of a traced run. Called by the core. Each element of `columns` has one
# entry per node of the graph.
new_step_stats <- function(columns, device, started_micros) {
  node <- function(node_name, op, start_micros, micros, bytes) {
    list(
      node_name = node_name, timeline_label = op,
      all_start_micros = started_micros + start_micros, op_start_rel_micros = 0,
      op_end_rel_micros = micros, all_end_rel_micros = micros
    )
  }
  nodes <- unname(do.call(Map, c(list(node), columns)))
  structure(
    list(dev_stats = list(list(device = device, node_stats = nodes))),
    table = columns, class = "StepStats"
  )
}

#' @export
as.data.frame.runhooks_run_metadata <- function(x, ...) {
  if (is.null(x$step_stats)) {
    empty <- character()
    return(data.frame(
      node_name = empty, op = empty, start_micros = numeric(), micros = numeric(), bytes = numeric()
    ))
  }
  as.data.frame(attr(x$step_stats, "table"), ...)
}

#' @export
print.runhooks_run_metadata <- function(x, ...) {
  # lint: allow stdout
  cat("<RunMetadata of", nrow(as.data.frame(x)), "traced operations>\n")
  invisible(x)
}
