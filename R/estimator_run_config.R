# The configuration of runs: plain data.

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

#' Configuration of an estimator's runs
#'
#' @param model_dir The folder of checkpoints and event files, or `NULL`.
#' @param tf_random_seed A whole number that fixes all randomness (shuffling, initial values). Where
#'   it is not given, seeds are drawn from R's generator, so `set.seed()` alone makes a script
#'   repeat.
#' @param save_summary_steps Write summaries every so many steps; 0 or `NULL` for never.
#' @param save_checkpoints_steps,save_checkpoints_secs Save checkpoints every so many steps or
#'   seconds: one of the two. Both `NULL`: never.
#' @param session_config Accepted; has no effect.
#' @param keep_checkpoint_max How many of the newest checkpoints are kept; 0 or `NULL` for all.
#' @param keep_checkpoint_every_n_hours Beside these one is kept for each so many hours of training.
#' @param log_step_count_steps Log loss and steps per second every so many steps; `NULL` for never.
#' @param checkpoint_input_pipeline TRUE: the model's checkpoints have where the input stands, too,
#'   and the generators of random numbers (dropout): a run that was killed and is started again ends
#'   with the same bits as one that never was. All datasets can be saved but
#'   [generator_dataset()]s without functions for their state. Data that have ended stay ended. Not
#'   a field of TensorFlow's, which has [hook_checkpoint_input_pipeline()]. FALSE leaves the
#'   positions of datasets and the generators out. Where training stands in a data frame, matrix or
#'   list, given to [train()] or to [input_fn()], is in the checkpoints either way, under names that
#'   begin with `runhooks/iterator/`, unless `resume = FALSE` is said there.
#' @param on_other_data What `checkpoint_input_pipeline` does about a position that belongs to other
#'   data, or to data that are read in another way: `"stop"` refuses it with an error that names
#'   both, `"begin"` begins at the first element, which the log says.
#' @param ... `train_distribute`: an [mpi_strategy()], by which several processes train a model;
#'   `device_fn`, `protocol`, `eval_distribute`, `experimental_distribute`: accepted; have no effect.
#' @return An object of class `RunConfig`. `config$replace(tf_random_seed = 11)` gives a changed
#'   copy; `names(config)` lists the fields.
#' @section Environment: `TF_CONFIG`, JSON as schedulers of clusters set it for TensorFlow, gives
#'   `task_type`, `cluster_spec`, `service` and `model_dir`. It is read with jsonlite.
#' @section Errors: `runhooks_error_invalid_argument` for an unknown field, a value that is none, or
#'   both intervals of checkpoints, and for a `TF_CONFIG` that is none or that names another folder;
#'   `runhooks_error_unimplemented` for a `TF_CONFIG` with more than one task, or with a server.
#' @seealso The class `tf.estimator.RunConfig` of TensorFlow 1.x.
#' @export
#' @examples
#' config <- run_config(tf_random_seed = 11, save_checkpoints_steps = 100)
#' config$replace(keep_checkpoint_max = 2)
run_config <- function(model_dir = NULL, tf_random_seed = NULL, save_summary_steps = 100,
                       save_checkpoints_steps = NULL, save_checkpoints_secs = 600,
                       session_config = NULL, keep_checkpoint_max = 5,
                       keep_checkpoint_every_n_hours = 10000, log_step_count_steps = 100, ...,
                       checkpoint_input_pipeline = FALSE, on_other_data = "stop") {
  given <- names(match.call())[-1]
  values <- c(
    list(
      model_dir = model_dir, tf_random_seed = tf_random_seed,
      save_summary_steps = save_summary_steps, save_checkpoints_steps = save_checkpoints_steps,
      save_checkpoints_secs = save_checkpoints_secs, session_config = session_config,
      keep_checkpoint_max = keep_checkpoint_max,
      keep_checkpoint_every_n_hours = keep_checkpoint_every_n_hours,
      log_step_count_steps = log_step_count_steps,
      checkpoint_input_pipeline = checkpoint_input_pipeline,
      on_other_data = on_other_data
    ),
    list(...)
  )
  config <- default_config(environment())
  changes <- values[intersect(names(values), given)]
  folder <- config$model_dir
  config <- config_replace(config, changes, environment())
  if (!is.null(folder) && !identical(config$model_dir, folder)) {
    abort_runhooks(
      "{.arg model_dir} is {.val {config$model_dir}} here and {.val {folder}} in
       {.envvar TF_CONFIG}: give it once."
    )
  }
  config
}

default_config <- function(call = parent.frame()) {
  fields <- c(config_defaults, config_read_only)
  from_cluster <- tf_config_fields(call)
  fields[names(from_cluster)] <- from_cluster
  structure(fields, class = "RunConfig")
}

config_replace <- function(config, changes, call) {
  unknown <- setdiff(names(changes), names(config_defaults))
  if (length(unknown) || is.null(names(changes)) && length(changes)) {
    abort_runhooks(
      "Replacing {unknown[[1]]} is not supported.
       Allowed properties are [{paste(names(config_defaults), collapse = ', ')}].",
      call = call
    )
  }
  for (name in names(changes)) check_config_value(name, changes[[name]], call)
  folder <- absolute_path(changes$model_dir, call = call)
  if (!is.null(folder)) changes$model_dir <- folder
  both <- c("save_checkpoints_steps", "save_checkpoints_secs")
  given <- both[vapply(both, function(name) !is.null(changes[[name]]), NA)]
  if (length(given) == 2) {
    abort_plain(
      "`save_checkpoints_steps` and `save_checkpoints_secs` cannot be both set.", call = call
    )
  }
  if (length(given) == 1) changes[setdiff(both, given)] <- list(NULL)
  fields <- unclass(config)
  fields[names(changes)] <- changes
  of_process <- strategy_fields(changes$train_distribute)
  fields[names(of_process)] <- of_process
  structure(fields, class = "RunConfig")
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
    check_arg(is.list(value), value, "what tf$ConfigProto() gives", name, call)
  } else if (name == "device_fn") {
    good <- is.function(value) && identical(names(formals(args(value))), "op")
    check_arg(good, value, "a function of one argument `op`", name, call)
  } else if (name == "train_distribute") {
    check_arg(is_strategy(value), value, "what mpi_strategy() gives", name, call)
  } else if (name == "protocol") {
    check_arg(value %in% c("grpc", "grpc+verbs"), value, "\"grpc\" or \"grpc+verbs\"", name, call)
  }
}

#' @export
`$.RunConfig` <- function(x, name) {
  if (name == "replace") return(function(...) config_replace(x, list(...), environment()))
  unclass(x)[[name]]
}

#' @export
print.RunConfig <- function(x, ...) {
  text <- function(value) {
    if (is.null(value)) "NULL" else if (identical(value, "")) "\"\"" else format(
      value, scientific = FALSE
    )
  }
  fields <- unclass(x)[names(config_defaults)]
  # what nobody has set, and what is as it must be, says nothing
  shown <- fields[!vapply(fields, is.null, NA) & vapply(fields, is_atomic, NA)]
  if (isFALSE(shown$checkpoint_input_pipeline)) shown$checkpoint_input_pipeline <- NULL
  if (identical(shown$on_other_data, "stop")) shown$on_other_data <- NULL
  line <- paste(names(shown), "=", vapply(shown, text, ""), collapse = ", ")
  cat("Run configuration", strwrap(line, indent = 2, exdent = 2), sep = "\n") # lint: allow stdout
  invisible(x)
}

is_run_config <- function(x) inherits(x, "RunConfig")

as_run_config <- function(config, model_dir, call = parent.frame()) {
  if (is.null(config)) config <- default_config(call)
  if (!is_run_config(config)) {
    abort_runhooks(
      "{.arg config} must be an object made by {.fn run_config},
       not {kind_of(config)}.",
      call = call
    )
  }
  model_dir <- absolute_path(model_dir, call = call)
  given <- unique(c(model_dir, config$model_dir))
  if (length(given) > 1) {
    abort_runhooks(
      "{.arg model_dir} is given twice, with different values: {.val {model_dir}} and,
       in {.arg config}, {.val {config$model_dir}}.",
      call = call
    )
  }
  folder <- model_dir
  if (is.null(folder)) folder <- active_run_dir()
  if (is.null(folder)) folder <- config$model_dir
  if (is.null(folder)) folder <- tempfile("runhooks-model-")
  fields <- unclass(config)
  fields$model_dir <- absolute_path(folder_of_process(folder, config), call = call)
  structure(fields, class = "RunConfig")
}

# The folder of the tfruns run that is active, if there is one.
active_run_dir <- function() {
  if (!"tfruns" %in% loadedNamespaces()) return(NULL)
  tfruns <- asNamespace("tfruns")
  if (isTRUE(tfruns$is_run_active())) tfruns$run_dir() else NULL
}
