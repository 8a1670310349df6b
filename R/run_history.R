# run_history(): the table of the training runs that a model directory records.

runs_file <- "runhooks.runs"

#' List the training runs of a model
#'
#' `run_history()` returns a tibble with one row for each [train()] in a model directory: when the
#' run began and ended, its steps, why it ended, and its configuration.
#'
#' [train()] writes the file `runhooks.runs` in the model directory. It adds an entry when the run
#' begins and completes it when the run ends, so killed processes have a row, too. Entries are only
#' appended, each with one write.
#'
#' @section Why a run ended: The column `why` has one of these values, and `reason` has the details:
#'
#'   * `"data"`: the input had no more rows.
#'   * `"steps"`: the run made `steps` steps, or the model had reached `max_steps`.
#'   * `"early_stopping"`: a metric of the evaluations stopped improving. `reason` names it.
#'   * `"hook"`: a hook requested a stop or raised [stop_iteration()]. `reason` is its name.
#'   * `"interrupt"`: the user pressed Ctrl-C.
#'   * `"error"`: an error occurred, such as a NaN loss. `reason` is the message, with the hook that
#'     raised it.
#'   * `"killed"`: the process ended without completing the run.
#'   * `"running"`: the run has not ended.
#' @section Several processes: Only one process at a time can train in a model directory. Another
#'   process that tries to train there gets an error (`runhooks_error_failed_precondition`) that
#'   names the first process and its machine. It can still evaluate and predict. A killed process
#'   does not block later trainings.
#' @param model_dir A string, the path of a model directory, or a model.
#' @return A tibble with one row for each run, in the order of the runs. Unknown values, such as the
#'   end of a killed run, are `NA`. The tibble has no rows if nothing was trained in the directory,
#'   or if TensorFlow or an earlier version of runhooks wrote it. The columns are:
#'
#'   * `run`: the number of the run.
#'   * `began`, `ended`, `seconds`: the times, and the duration in seconds.
#'   * `from_step`, `to_step`, `steps`: the global steps, and their difference.
#'   * `rows`, `rows_per_sec`, `waited`: the number of rows read, the rows per second, and the
#'     seconds that steps waited for data. They are `NA` if the input is not a dataset.
#'   * `why`, `reason`: why the run ended; see below.
#'   * `evaluations`: a tibble with the columns `step`, `data`, `metric` and `value`, for the
#'     evaluations between this run and the next one; see [tf_estimator_history].
#'   * `hooks`: the names of all hooks.
#'   * `log`: the last 100 log lines of the run.
#'   * `config`, `arguments`: the [run_config()], the arguments of `train()` and those of the input.
#'   * `seed`, `seeds`: the seed of the configuration, and the seeds that the run drew.
#'   * `version`, `host`, `machine`, `process`: the version of runhooks, and the process.
#' @section Errors:
#'   * `runhooks_error_invalid_argument`: `model_dir` is neither a path nor a model.
#' @seealso [tf_estimator_history] for the losses of a run.
#' @family history
#' @export
#' @examples
#' model <- linear_regressor(column_numeric("drat"))
#' model |> train(input_fn(mpg ~ drat, mtcars, num_epochs = 5))
#' model |> train(input_fn(mpg ~ drat, mtcars, num_epochs = NULL), steps = 10)
#' run_history(model)
#' run_history(model)$reason
run_history <- function(model_dir) {
  folder <- folder_of_model(model_dir)
  new_run_history(cpp_run_rows(path.expand(folder)), folder)
}

# Returns the model directory for an argument `model_dir`, which is a path or a model.
folder_of_model <- function(model_dir, call = parent.frame()) {
  folder <- if (is_estimator(model_dir)) model_dir.tf_estimator(model_dir) else model_dir
  check_arg(is_string(folder), model_dir, "a folder or a model", "model_dir", call)
  folder
}

# Makes the table of run_history(). Its local variables must not have the names of columns, because
# tibble() would find the columns instead.
new_run_history <- function(runs, folder) {
  numbers <- function(name) vapply(runs, function(row) number_or_na(row[[name]]), 0)
  texts <- function(name) vapply(runs, `[[`, "", name)
  times <- function(name) as.POSIXct(numbers(name), origin = "1970-01-01")
  first_steps <- numbers("from")
  num_rows <- numbers("rows")
  reading_seconds <- numbers("seconds")
  has_rows <- !is.na(num_rows)
  table <- tibble::tibble(
    run = seq_along(runs),
    began = times("began"),
    ended = times("ended"),
    seconds = numbers("ended") - numbers("began"),
    from_step = first_steps,
    to_step = numbers("to"),
    steps = numbers("to") - first_steps,
    rows = num_rows,
    rows_per_sec = ifelse(has_rows & reading_seconds > 0, num_rows / reading_seconds, NA_real_),
    waited = ifelse(has_rows, numbers("waited"), NA_real_),
    why = texts("why"),
    reason = texts("reason"),
    evaluations = lapply(runs, function(row) evaluation_table(row[["evaluations"]])),
    hooks = lapply(runs, function(row) as.character(row[["hooks"]])),
    log = lapply(runs, function(row) as.character(row[["log"]])),
    config = lapply(runs, function(row) as.list(row[["config"]])),
    arguments = lapply(runs, function(row) as.list(row[["arguments"]])),
    seed = vapply(runs, function(row) if (is_number(row[["seed"]])) row[["seed"]] else NA_real_, 0),
    seeds = lapply(runs, function(row) as.numeric(row[["seeds"]])),
    version = texts("version"), host = texts("host"), machine = texts("machine"),
    process = numbers("process")
  )
  structure(table, class = c("runhooks_run_history", class(table)), folder = folder)
}

# Replaces a negative number by NA, because the C++ core writes -1 for an unknown number.
number_or_na <- function(x) if (x < 0) NA_real_ else x

# Makes a table in long form, with one row for each metric, because models have different metrics.
evaluation_table <- function(evaluations) {
  tables <- lapply(evaluations, function(evaluation) {
    metrics <- unlist(evaluation$metrics)
    metric_values(
      rep(evaluation$step, length(metrics)), evaluation_data(evaluation$name),
      as.character(names(metrics)), unname(metrics)
    )
  })
  do.call(rbind_values, tables)
}

#' @export
print.runhooks_run_history <- function(x, ...) {
  columns <- c("run", "began", "seconds", "from_step", "to_step", "rows_per_sec", "why", "reason")
  if (!all(columns %in% names(x))) {
    class(x) <- setdiff(class(x), "runhooks_run_history")
    print(x, ...) # lint: allow stdout
    return(invisible(x))
  }
  folder <- attr(x, "folder")
  n <- nrow(x)
  # lint: allow stdout
  cat(n, if (n == 1) " run" else " runs", if (!is.null(folder)) paste(" in", folder), "\n", sep = "")
  if (n > 0) cat(run_lines(x), sep = "\n") # lint: allow stdout
  invisible(x)
}

run_lines <- function(x) {
  count <- function(n) ifelse(is.na(n), "?", format(n, big.mark = ",", scientific = FALSE, trim = TRUE))
  rate <- vapply(x$rows_per_sec, function(n) if (is.na(n)) "" else short_count(n), "")
  columns <- list(
    run = x$run,
    began = format(x$began, "%Y-%m-%d %H:%M:%S"),
    took = vapply(x$seconds, short_time, ""),
    steps = paste(count(x$from_step), "to", count(x$to_step)),
    "rows/s" = rate
  )
  columns <- Map(function(name, cells) format(c(name, cells), justify = "right"),
    names(columns), lapply(columns, as.character)
  )
  why <- paste0(x$why, ": ", sub("\n.*$", "", x$reason))
  lines <- paste0("  ", do.call(paste, c(unname(columns), sep = "  ")), "  ", c("ended by", why))
  substr(lines, 1, max(getOption("width"), 60))
}

short_time <- function(seconds) {
  if (is.na(seconds)) return("?")
  if (seconds < 100) return(paste(format(signif(seconds, 2), scientific = FALSE), "s"))
  if (seconds < 6000) return(paste(format(signif(seconds / 60, 2), scientific = FALSE), "min"))
  paste(format(signif(seconds / 3600, 2), scientific = FALSE), "h")
}

# Returns the description that a run records when it begins. `run_args`: the arguments of train()
# except `steps` and `max_steps`.
run_description <- function(steps, max_steps, input, run_args) {
  input_info <- attr(input, "about")
  input_info$features <- utils::head(input_info$features, 100)
  arguments <- c(list(steps = steps, max_steps = max_steps), run_args, input_info)
  list(
    version = getNamespaceInfo(topenv(), "spec")[["version"]],
    arguments = arguments[lengths(arguments) > 0]
  )
}
