# Run configurations: the fields, their checks and defaults.

config_defaults <- list(
  model_dir = NULL, tf_random_seed = NULL, save_summary_steps = 100, save_checkpoints_steps = NULL,
  save_checkpoints_secs = 600, session_config = NULL, keep_checkpoint_max = 5,
  keep_checkpoint_every_n_hours = 10000, log_step_count_steps = 100, train_distribute = NULL,
  device_fn = NULL, protocol = NULL, eval_distribute = NULL, experimental_distribute = NULL,
  checkpoint_input_pipeline = FALSE, on_other_data = "stop"
)

config_read_only <- list(
  is_chief = TRUE, task_type = "worker", task_id = 0L, master = "", num_ps_replicas = 0L,
  num_worker_replicas = 1L, cluster_spec = NULL, evaluation_master = "", global_id_in_cluster = 0L,
  service = NULL
)

#' Configure the runs of an estimator
#'
#' Returns a configuration: the model directory, seeds, and intervals for checkpoints, summaries and
#' logs. Pass it to an estimator as `config`.
#'
#' @param model_dir Path of the directory for checkpoints and event files. Default, `NULL`: a
#'   temporary directory.
#' @param tf_random_seed Seed of all random numbers (shuffling, initial values, dropout), a whole
#'   number. Default, `NULL`: seeds are drawn from R's generator, so `set.seed()` makes a script
#'   reproducible.
#' @param save_summary_steps Interval between summaries, in steps. 0 or `NULL`: no summaries.
#' @param save_checkpoints_steps,save_checkpoints_secs Interval between checkpoints, in steps or
#'   seconds. Give at most one of them. Both `NULL`: no checkpoints. Default: 600 seconds.
#' @param session_config Ignored.
#' @param keep_checkpoint_max Number of recent checkpoints to keep. 0 or `NULL`: all. Default: 5.
#' @param keep_checkpoint_every_n_hours Additionally keep one checkpoint per this number of hours of
#'   training.
#' @param log_step_count_steps Interval between log messages with the loss and the steps per second,
#'   in steps. `NULL`: none.
#' @param checkpoint_input_pipeline `TRUE`: checkpoints include the position of the input and the
#'   state of random number generators. A killed and restarted run then gives bit-identical results.
#'   Every dataset supports this, except a [generator_dataset()] without functions for its state. If
#'   the data had ended, they remain at their end. TensorFlow has [hook_checkpoint_input_pipeline()]
#'   for this purpose. `FALSE` (the default): checkpoints include only the position in a data frame,
#'   matrix or list that was passed to [train()] or [input_fn()], unless `resume = FALSE` was given
#'   there. Its names begin with `runhooks/iterator/`.
#' @param on_other_data What `checkpoint_input_pipeline` does if a saved position belongs to
#'   different data or to a different pipeline. `"stop"` (the default): raise an error that
#'   describes both. `"begin"`: log the mismatch and start at the first element.
#' @param every_n_steps Another name of `log_step_count_steps`.
#' @param ... `train_distribute`: an [mpi_strategy()] for training with several processes.
#'   `device_fn`, `protocol`, `eval_distribute`, `experimental_distribute`: checked, but ignored.
#' @return An object of class `runhooks_run_config`. `config$replace(tf_random_seed = 11)` returns a
#'   modified copy; `names(config)` lists the fields.
#' @section Environment: The variable `TF_CONFIG`, which cluster schedulers set to a JSON object,
#'   determines `task_type`, `cluster_spec`, `service` and `model_dir`. Reading it requires the
#'   package jsonlite.
#' @section Errors:
#'   * `runhooks_error_invalid_argument`: a field is unknown or has an invalid value, both
#'     checkpoint intervals are given, or `TF_CONFIG` is invalid or has a different model directory.
#'   * `runhooks_error_unimplemented`: `TF_CONFIG` has several tasks or names a server.
#' @export
#' @examples
#' config <- run_config(tf_random_seed = 11, save_checkpoints_steps = 100)
#' config$replace(keep_checkpoint_max = 2)
run_config <- function(model_dir = NULL, tf_random_seed = NULL, save_summary_steps = 100,
                       save_checkpoints_steps = NULL, save_checkpoints_secs = 600,
                       session_config = NULL, keep_checkpoint_max = 5,
                       keep_checkpoint_every_n_hours = 10000, log_step_count_steps = 100, ...,
                       checkpoint_input_pipeline = FALSE, on_other_data = "stop",
                       every_n_steps = NULL) {
  abort_abbreviated_arguments()
  supplied <- names(match.call())[-1]
  if (!is.null(every_n_steps)) supplied <- c(supplied, "log_step_count_steps")
  resolve_every_n_steps(environment(), "log_step_count_steps")
  values <- c(mget(setdiff(names(formals()), c("...", "every_n_steps"))), list(...))
  config <- default_config(environment())
  changes <- values[intersect(names(values), supplied)]
  cluster_dir <- config$model_dir
  config <- config_replace(config, changes, environment())
  if (!is.null(cluster_dir) && !identical(config$model_dir, cluster_dir)) {
    abort_runhooks(
      "{.arg model_dir} is {.val {config$model_dir}} here, but {.val {cluster_dir}} in
       {.envvar TF_CONFIG}; give it only once."
    )
  }
  config
}

default_config <- function(call = parent.frame()) {
  fields <- c(config_defaults, config_read_only)
  cluster_fields <- tf_config_fields(call)
  fields[names(cluster_fields)] <- cluster_fields
  structure(fields, class = "runhooks_run_config")
}

config_replace <- function(config, changes, call) {
  if (length(changes) && (is.null(names(changes)) || !all(nzchar(names(changes))))) {
    abort_runhooks(
      c(
        "The properties need names.",
        i = "For example {.code tf_random_seed = 1, save_checkpoints_steps = 100}."
      ),
      call = call
    )
  }
  unknown <- setdiff(names(changes), names(config_defaults))
  if (length(unknown)) {
    is_seed <- unknown[[1]] %in% c("seed", "random_seed")
    abort_runhooks(
      c(
        "Replacing {unknown[[1]]} is not supported.
         Allowed properties are [{paste(names(config_defaults), collapse = ', ')}].",
        if (is_seed) c(i = "Did you mean {.arg tf_random_seed}?") else {
          did_you_mean(unknown[[1]], names(config_defaults))
        }
      ),
      call = call
    )
  }
  for (name in names(changes)) check_config_value(name, changes[[name]], call)
  folder <- absolute_path(changes$model_dir, call = call)
  if (!is.null(folder)) changes$model_dir <- folder
  intervals <- c("save_checkpoints_steps", "save_checkpoints_secs")
  supplied <- intervals[vapply(intervals, function(name) !is.null(changes[[name]]), NA)]
  if (length(supplied) == 2) {
    abort_plain(
      "`save_checkpoints_steps` and `save_checkpoints_secs` cannot be both set.", call = call
    )
  }
  if (length(supplied) == 1) changes[setdiff(intervals, supplied)] <- list(NULL)
  fields <- unclass(config)
  fields[names(changes)] <- changes
  strategy <- strategy_fields(changes$train_distribute)
  fields[names(strategy)] <- strategy
  structure(fields, class = "runhooks_run_config")
}

check_config_value <- function(name, value, call) {
  if (is.null(value)) return(invisible())
  if (name == "model_dir") {
    check_string(value, arg = name, call = call)
    if (!nzchar(value)) abort_plain("model_dir should be non-empty.", call = call)
    return(invisible())
  }
  if (name == "checkpoint_input_pipeline") return(check_flag(value, arg = name, call = call))
  if (name == "on_other_data") {
    good <- is_string(value) && value %in% c("stop", "begin")
    return(check_arg(good, value, "\"stop\" or \"begin\"", name, call))
  }
  if (name == "tf_random_seed") return(check_whole(value, arg = name, call = call))
  counts <- c(
    "save_summary_steps", "save_checkpoints_steps", "keep_checkpoint_max"
  )
  if (name %in% c(counts, "log_step_count_steps")) check_not_huge(value, name, call)
  if (name == "log_step_count_steps") {
    check_positive_whole(value, arg = name, call = call)
  } else if (name %in% counts) {
    check_arg(is_whole(value) && value >= 0, value, "a whole number of 0 or more", name, call)
  } else if (name == "save_checkpoints_secs") {
    check_arg(is_number(value) && value >= 0, value, "a number of 0 or more", name, call)
  } else if (name == "keep_checkpoint_every_n_hours") {
    check_arg(is_number(value) && value > 0, value, "a positive number", name, call)
  } else if (name == "session_config") {
    check_arg(is.list(value), value, "an object from tf$ConfigProto()", name, call)
  } else if (name == "device_fn") {
    good <- is.function(value) && identical(names(formals(args(value))), "op")
    check_arg(good, value, "a function of one argument `op`", name, call)
  } else if (name == "train_distribute") {
    check_arg(is_strategy(value), value, "an object from mpi_strategy()", name, call)
  } else if (name == "protocol") {
    check_arg(value %in% c("grpc", "grpc+verbs"), value, "\"grpc\" or \"grpc+verbs\"", name, call)
  }
}

#' @export
`$.runhooks_run_config` <- function(x, name) {
  if (name == "replace") return(function(...) config_replace(x, list(...), environment()))
  get_member(x, name, names(config_defaults))
}

#' @export
`$<-.runhooks_run_config` <- function(x, name, value) {
  config_replace(x, setNames(list(value), name), parent.frame())
}

#' @export
`[[<-.runhooks_run_config` <- function(x, i, value) {
  check_string(i)
  config_replace(x, setNames(list(value), i), parent.frame())
}

#' @export
print.runhooks_run_config <- function(x, ...) {
  format_value <- function(value) {
    if (is.null(value)) "NULL" else if (identical(value, "")) "\"\"" else format(
      value, scientific = FALSE
    )
  }
  fields <- unclass(x)[names(config_defaults)]
  # hides unset fields and fields with default values that TensorFlow does not have
  printed <- fields[!vapply(fields, is.null, NA) & vapply(fields, is_atomic, NA)]
  if (isFALSE(printed$checkpoint_input_pipeline)) printed$checkpoint_input_pipeline <- NULL
  if (identical(printed$on_other_data, "stop")) printed$on_other_data <- NULL
  line <- paste(names(printed), "=", vapply(printed, format_value, ""), collapse = ", ")
  cat("Run configuration", strwrap(line, indent = 2, exdent = 2), sep = "\n") # lint: allow stdout
  invisible(x)
}

is_run_config <- function(x) inherits(x, "runhooks_run_config")

as_run_config <- function(config, model_dir, call = parent.frame()) {
  if (is.null(config)) config <- default_config(call)
  if (!is_run_config(config)) {
    abort_runhooks(
      "{.arg config} must be an object made by {.fn run_config},
       not {describe_type(config)}.",
      call = call
    )
  }
  if (!is.null(model_dir)) check_path(model_dir, call = call)
  model_dir <- absolute_path(model_dir, call = call)
  dirs <- unique(c(model_dir, config$model_dir))
  if (length(dirs) > 1) {
    abort_runhooks(
      "{.arg model_dir} is given twice, with different values: {.val {model_dir}} and,
       in {.arg config}, {.val {config$model_dir}}.",
      call = call
    )
  }
  dir <- model_dir
  if (is.null(dir)) dir <- active_run_dir()
  if (is.null(dir)) dir <- config$model_dir
  if (is.null(dir)) dir <- tempfile("runhooks-model-")
  fields <- unclass(config)
  fields$model_dir <- absolute_path(model_dir_of_process(dir, config), call = call)
  structure(fields, class = "runhooks_run_config")
}

active_run_dir <- function() {
  if (!"tfruns" %in% loadedNamespaces()) return(NULL)
  tfruns <- asNamespace("tfruns")
  if (isTRUE(tfruns$is_run_active())) tfruns$run_dir() else NULL
}
