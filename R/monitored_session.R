# Sessions that call hooks, such as tf.train.MonitoredSession.

#' Create a session that calls hooks
#'
#' These functions return a session for a graph that you built yourself. Each run of the session
#' calls the hooks, as the steps of [train()] do. The functions are also members of `tf$train`, for
#' example `tf$train$MonitoredTrainingSession()`.
#'
#' * `monitored_session()` calls `begin()` of the hooks, finalizes the graph, creates a session with
#'   `session_creator` and calls `after_create_session()`. It recovers from some errors; see below.
#' * `singular_monitored_session()` does the same, but does not recover.
#' * `monitored_training_session()` restores the newest checkpoint of `checkpoint_dir` and adds the
#'   hooks of training in this order: `chief_only_hooks`; a step counter, a summary saver and a
#'   checkpoint saver if they have a directory; `hooks`.
#'
#' The session has these methods:
#'
#' * `$run(fetches, feed_dict = NULL, options = NULL, run_metadata = NULL, hooks = TRUE)` runs one
#'   step. With `hooks = FALSE` it calls no hook.
#' * `$run_step_fn(step_fn)` calls `step_fn(step_context)`. The context has `$session`, which runs
#'   without hooks, `$run_with_hooks(fetches, feed_dict = NULL)` and `$request_stop()`.
#' * `$run_with_hooks()` is the same as `$run()`.
#' * `$should_stop()`, `$request_stop()` and `$graph`.
#' * `$close()` calls `end()` of the hooks. A second call does nothing.
#'
#' In `with(session %as% sess, ...)`, the end of the data (`runhooks_error_out_of_range`) and
#' [stop_iteration()] end the block without an error. The session then calls `end()` of the hooks,
#' as after a normal exit. After any other error it closes without calling `end()`. Outside of
#' `with()`, an error of `$run()` does not change the session: `$should_stop()` is `FALSE` until
#' `$close()`.
#'
#' If a run, or `before_run()` or `after_run()` of a hook, raises `AbortedError` or
#' `UnavailableError`, the session recovers. It restores the newest checkpoint or the initial
#' values, and repeats the run. The tenth failure of the same run is raised as an error.
#'
#' @param session_creator `tf$train$ChiefSessionCreator()` (the default) or
#'   `tf$train$WorkerSessionCreator()`.
#' @param hooks,chief_only_hooks A hook or a list of hooks.
#' @param stop_grace_period_secs,master,config Accepted for compatibility with TensorFlow; they have
#'   no effect.
#' @param max_wait_secs Maximum number of seconds that a worker waits for the chief's first
#'   checkpoint.
#' @param scaffold A `tf$train$Scaffold()`, or `NULL`.
#' @param checkpoint_dir Directory of checkpoints, or `NULL`.
#' @param checkpoint_filename_with_path A checkpoint to restore, instead of the newest one of a
#'   directory.
#' @param is_chief If `FALSE`, creates the session of a worker, which has only `hooks` and does not
#'   initialize variables. It copies the values from the chief's session of the same graph in this
#'   process, or else waits for a checkpoint in `checkpoint_dir`. Afterwards the two sessions do not
#'   share variables.
#' @param save_checkpoint_secs,save_checkpoint_steps Interval of checkpoints; 600 seconds by
#'   default. 0 or `NULL` for both disables checkpoints.
#' @param save_summaries_steps,save_summaries_secs Interval of summaries; 100 steps by default.
#' @param log_step_count_steps Interval of the step counter in steps. 0 or `NULL` disables it.
#' @param summary_dir Directory of event files; by default `checkpoint_dir`.
#' @return The session: an environment of class `MonitoredSession` or `SingularMonitoredSession`.
#' @section Errors:
#'   * `runhooks_error_failed_precondition`: the session is closed, a stop was requested, or two
#'     hooks, or a hook and the caller, feed the same tensor.
#'   * The errors of hooks; see [session_run_hook()].
#' @seealso The classes `tf.train.MonitoredSession` and `tf.train.SingularMonitoredSession` and the
#'   function `tf.train.MonitoredTrainingSession` of TensorFlow 1.x.
#' @family sessions
#' @export
#' @examples
#' with(tf$Graph()$as_default(), {
#'   x <- tf$placeholder(tf$float32, shape = list(NULL))
#'   w <- tf$get_variable("w", initializer = 0)
#'   loss <- tf$losses$mean_squared_error(labels = 3 * x, predictions = w * x)
#'   step <- tf$train$get_or_create_global_step()
#'   train_op <- tf$train$GradientDescentOptimizer(0.1)$minimize(loss, global_step = step)
#'   hooks <- list(hook_stop_at_step(last_step = 20))
#'   with(tf$train$MonitoredTrainingSession(hooks = hooks) %as% sess, {
#'     while (!sess$should_stop()) {
#'       result <- sess$run(list(train_op, loss = loss), feed_dict = dict(x = c(1, 2)))
#'     }
#'   })
#'   result$loss
#' })
#'
#' # sessions without files
#' with(tf$Graph()$as_default(), {
#'   tf$train$create_global_step()
#'   x <- tf$get_variable("x", initializer = 1)
#'   with(monitored_session() %as% sess, sess$run(x))
#'   with(singular_monitored_session(hooks = list(hook_stop_at_step(num_steps = 1))) %as% sess, {
#'     sess$run(x)
#'   })
#'   # a session with checkpoints, summaries and a step counter
#'   with(monitored_training_session(checkpoint_dir = tempfile()) %as% sess, sess$run(x))
#' })
monitored_session <- function(
  session_creator = NULL,
  hooks = NULL,
  stop_grace_period_secs = 120
) {
  new_monitored_session(session_creator, name_hooks(as_hook_list(hooks)), recovers = TRUE)
}

#' @rdname monitored_session
#' @export
singular_monitored_session <- function(
  hooks = NULL,
  scaffold = NULL,
  master = "",
  config = NULL,
  checkpoint_dir = NULL,
  stop_grace_period_secs = 120,
  checkpoint_filename_with_path = NULL
) {
  creator <- chief_session_creator(
    scaffold, master, config, checkpoint_dir, checkpoint_filename_with_path
  )
  new_monitored_session(creator, name_hooks(as_hook_list(hooks)), recovers = FALSE)
}

#' @rdname monitored_session
#' @export
monitored_training_session <- function(
  master = "",
  is_chief = TRUE,
  checkpoint_dir = NULL,
  scaffold = NULL,
  hooks = NULL,
  chief_only_hooks = NULL,
  save_checkpoint_secs = "USE_DEFAULT",
  save_summaries_steps = "USE_DEFAULT",
  save_summaries_secs = "USE_DEFAULT",
  config = NULL,
  stop_grace_period_secs = 120,
  log_step_count_steps = 100,
  max_wait_secs = 7200,
  save_checkpoint_steps = "USE_DEFAULT",
  summary_dir = NULL
) {
  check_flag(is_chief)
  hooks <- name_hooks(as_hook_list(hooks))
  if (is.null(scaffold)) scaffold <- new_scaffold()
  if (!is_chief) {
    creator <- worker_session_creator(scaffold, master, config, max_wait_secs, checkpoint_dir)
    return(new_monitored_session(creator, hooks, recovers = TRUE))
  }
  checkpoints <- saving_interval(
    save_checkpoint_steps, save_checkpoint_secs, list(secs = 600), "checkpoint"
  )
  summaries <- saving_interval(
    save_summaries_steps, save_summaries_secs, list(steps = 100), "summaries"
  )
  all_hooks <- c(
    name_hooks(as_hook_list(chief_only_hooks), "chief_only_hooks"),
    summary_hooks(
      if (is.null(summary_dir)) checkpoint_dir else summary_dir, log_step_count_steps, summaries,
      scaffold
    ),
    checkpoint_hooks(checkpoint_dir, checkpoints),
    hooks
  )
  creator <- chief_session_creator(scaffold, master, config, checkpoint_dir)
  new_monitored_session(creator, all_hooks, recovers = TRUE)
}

# Returns the interval of a saver as a list of `steps` and `secs`. As in TensorFlow, 0 disables the
# interval.
saving_interval <- function(steps, secs, default, name, call = parent.frame()) {
  is_default <- function(x) identical(x, "USE_DEFAULT")
  if (is_default(steps) && is_default(secs)) return(default)
  positive_or_null <- function(x, arg) {
    if (is_default(x) || is.null(x)) return(NULL)
    check_number(x, arg = arg, call = call)
    if (x > 0) x
  }
  list(
    steps = positive_or_null(steps, paste0("save_", name, "_steps")),
    secs = positive_or_null(secs, paste0("save_", name, "_secs"))
  )
}

summary_hooks <- function(dir, log_step_count_steps, summaries, scaffold) {
  if (is.null(dir)) return(NULL)
  hooks <- list()
  if (!is.null(log_step_count_steps) && log_step_count_steps > 0) {
    hooks <- list(hook_step_counter(every_n_steps = log_step_count_steps, output_dir = dir))
  }
  if (!is.null(summaries$steps) || !is.null(summaries$secs)) {
    saver <- hook_summary_saver(summaries$steps, summaries$secs, dir, scaffold = scaffold)
    hooks <- c(hooks, list(saver))
  }
  hooks
}

checkpoint_hooks <- function(dir, checkpoints) {
  if (is.null(dir) || (is.null(checkpoints$steps) && is.null(checkpoints$secs))) return(NULL)
  list(hook_checkpoint_saver(dir, save_secs = checkpoints$secs, save_steps = checkpoints$steps))
}

# --- session creators

chief_session_creator <- function(
  scaffold = NULL,
  master = "",
  config = NULL,
  checkpoint_dir = NULL,
  checkpoint_filename_with_path = NULL
) {
  check_scaffold(scaffold)
  check_string(checkpoint_dir, null = TRUE)
  check_string(checkpoint_filename_with_path, null = TRUE)
  new_session_creator(
    "ChiefSessionCreator", scaffold,
    checkpoint_dir = absolute_path(checkpoint_dir, "checkpoint_dir"),
    checkpoint_filename_with_path = absolute_path(
      checkpoint_filename_with_path, "checkpoint_filename_with_path"
    )
  )
}

worker_session_creator <- function(
  scaffold = NULL,
  master = "",
  config = NULL,
  max_wait_secs = 30 * 60,
  checkpoint_dir = NULL
) {
  check_scaffold(scaffold)
  check_number(max_wait_secs)
  check_string(checkpoint_dir, null = TRUE)
  new_session_creator(
    "WorkerSessionCreator", scaffold, max_wait_secs = max_wait_secs,
    checkpoint_dir = absolute_path(checkpoint_dir, "checkpoint_dir")
  )
}

new_session_creator <- function(type, scaffold, ...) {
  structure(
    list(scaffold = scaffold, arguments = list(type = type, ...)),
    class = c(type, "runhooks_session_creator")
  )
}

#' @export
print.runhooks_session_creator <- function(x, ...) {
  cat("A session creator: ", x$arguments$type, "\n", sep = "") # lint: allow stdout
  invisible(x)
}

new_scaffold <- function(init_op = NULL, init_feed_dict = NULL, init_fn = NULL, ready_op = NULL,
                         ready_for_local_init_op = NULL, local_init_op = NULL, summary_op = NULL,
                         saver = NULL, copy_from_scaffold = NULL, local_init_feed_dict = NULL) {
  abort_unsupported_arguments(ready_op, ready_for_local_init_op, copy_from_scaffold)
  check_function(init_fn, null = TRUE)
  check_saver(saver)
  check_scaffold_op(init_op)
  check_scaffold_op(local_init_op)
  check_scaffold_op(summary_op)
  scaffold <- new.env(parent = emptyenv())
  initialize <- if (!is.null(init_fn)) function(session) init_fn(scaffold, session)
  pointer <- cpp_scaffold_new(
    init_op, init_feed_dict, initialize, local_init_op, local_init_feed_dict, summary_op, saver
  )
  scaffold$.pointer <- pointer
  scaffold$finalize <- function() {
    cpp_scaffold_finalize(pointer)
    invisible(scaffold)
  }
  for (part in c("init_op", "local_init_op", "summary_op")) local({
    name <- part
    makeActiveBinding(name, function() cpp_scaffold_parts(pointer)[[name]], scaffold)
  })
  class(scaffold) <- "runhooks_scaffold"
  with_checked_members(scaffold)
}

check_scaffold_op <- function(x, arg = deparse(substitute(x)), call = parent.frame()) {
  is_valid <- is.null(x) || inherits(x, "tensorflow.operation") || is_tensor(x)
  expected <- if (is.function(x)) {
    "an operation or a tensor, made before the scaffold, or NULL"
  } else {
    "an operation, a tensor or NULL"
  }
  check_arg(is_valid, x, expected, arg, call)
}

#' @export
print.runhooks_scaffold <- function(x, ...) {
  cat("<Scaffold>\n") # lint: allow stdout
  invisible(x)
}

# --- the session

new_monitored_session <- function(creator, hooks, recovers, call = parent.frame()) {
  if (is.null(creator)) creator <- chief_session_creator()
  is_valid <- inherits(creator, "runhooks_session_creator")
  check_arg(is_valid, creator, "a session creator", "session_creator", call)
  core_hooks <- lapply(finish_hooks(hooks, "train"), hook_for_core)
  graph <- cpp_graph_default()
  pointer <- with_loop_conditions(cpp_monitored_new(
    creator$arguments, creator$scaffold$.pointer, core_hooks, recovers
  ))
  session <- new.env(parent = emptyenv())
  session$graph <- graph
  session$.hooks <- cpp_monitored_hooks(pointer)
  add_monitored_methods(session, pointer)
  add_context_methods(
    session,
    enter = function() session,
    exit = function(condition) leave_monitored_session(pointer, condition),
    swallows = function(condition) has_error_kind(condition, c("out_of_range", "stop_iteration"))
  )
  class(session) <- c(
    if (recovers) "MonitoredSession" else "SingularMonitoredSession", "runhooks_monitored_session",
    "runhooks_context"
  )
  session
}

add_monitored_methods <- function(session, pointer) {
  run <- function(fetches, feed_dict = NULL, options = NULL, run_metadata = NULL) {
    request <- cpp_session_run_args(fetches, feed_dict, options)
    with_run_conditions(cpp_monitored_run(pointer, request, run_metadata, FALSE))
  }
  session$run_with_hooks <- run
  session$run_step_fn <- function(step_fn) run_step_fn(pointer, step_fn)
  session$run <- function(
    fetches, feed_dict = NULL, options = NULL, run_metadata = NULL, hooks = TRUE
  ) {
    if (hooks) return(run(fetches, feed_dict, options, run_metadata))
    run_step_fn(pointer, function(step_context) {
      step_context$session$run(fetches, feed_dict, options, run_metadata)
    })
  }
  session$should_stop <- function() with_run_conditions(cpp_monitored_should_stop(pointer))
  session$request_stop <- function() cpp_monitored_request_stop(pointer)
  session$raw_session <- function() with_run_conditions(cpp_monitored_session(pointer))
  session$close <- function() invisible(with_run_conditions(cpp_monitored_close(pointer)))
}

leave_monitored_session <- function(pointer, condition) {
  if (is.null(condition)) return(with_run_conditions(cpp_monitored_close(pointer)))
  cpp_monitored_close_after_failure(pointer, condition, inherits(condition, "interrupt"))
  call_on_error(condition)
}

run_step_fn <- function(pointer, step_fn, call = parent.frame()) {
  check_step_fn(step_fn, call)
  failures <- 0
  is_lost <- FALSE
  is_recoverable <- function(condition) {
    if (!has_error_kind(condition, c("aborted", "unavailable"))) return(FALSE)
    failures <<- failures + 1
    is_lost <<- failures < cpp_monitored_max_failures(pointer) &&
      cpp_monitored_close_if_recoverable(pointer, condition, control_error_kind(condition))
    is_lost
  }
  repeat {
    is_lost <- FALSE
    session <- with_run_conditions(cpp_monitored_session(pointer))
    result <- eval_with_ignored_errors(step_fn(new_step_context(pointer, session)), is_recoverable)
    if (!is_lost) return(result$value)
  }
}

check_step_fn <- function(step_fn, call) {
  check_function(step_fn, arg = "step_fn", call = call)
  arguments <- names(formals(args(step_fn)))
  if (identical(arguments, "step_context") || identical(arguments, c("self", "step_context"))) {
    return(invisible())
  }
  names <- paste(c(sprintf("'%s'", arguments), if (length(arguments) == 1) ""), collapse = ", ")
  abort_plain(
    paste0(
      "`step_fn` may either have one `step_context` argument, or `self` and `step_context` ",
      "arguments if it's an instance method. Got (", trimws(names, "right"), ") instead."
    ),
    call = call
  )
}

new_step_context <- function(pointer, session) {
  context <- new.env(parent = emptyenv())
  context$session <- session
  context$run_with_hooks <- function(
    fetches, feed_dict = NULL, options = NULL, run_metadata = NULL
  ) {
    request <- cpp_session_run_args(fetches, feed_dict, options)
    with_run_conditions(cpp_monitored_run(pointer, request, run_metadata, TRUE))
  }
  context$request_stop <- function() {
    stop_iteration("step_fn has requested the iterations to stop.")
  }
  class(context) <- "StepContext"
  context
}

#' @export
print.runhooks_monitored_session <- function(x, ...) {
  # lint: allow stdout
  cat("<", class(x)[[1]], " with ", length(x$.hooks), " hooks>\n", sep = "")
  invisible(x)
}
