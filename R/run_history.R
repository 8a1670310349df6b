# run_history(): what the folder of a model says of the runs that have trained it.

runs_file <- "runhooks.runs"

#' The runs that have trained a model
#'
#' Each [train()] leaves a row in the folder of the model, in the file `runhooks.runs`: it is begun
#' when the run begins and completed when it ends, so that of a process that was killed there is a
#' row, too. Entries are only added to the file, each by one write.
#'
#' @section Why a run ended: `why` is one word, `reason` says the rest:
#'
#'   * `"data"`: the input had no more rows.
#'   * `"steps"`: `steps` were made, or `max_steps` was reached (or had been reached before).
#'   * `"early_stopping"`: a metric of evaluations got no better; `reason` says which and since when.
#'   * `"hook"`: a hook asked to stop, or raised [stop_iteration()]; `reason` is its name.
#'   * `"interrupt"`: Ctrl-C.
#'   * `"error"`: `reason` is its text, with the hook that raised it. A loss that is NaN is one.
#'   * `"killed"`: the process ended without a word.
#'   * `"running"`: it has not ended yet.
#' @section Several processes: Only one at a time trains in a folder. While it does, another one is
#'   refused (`runhooks_error_failed_precondition`) by an error that names the process and the
#'   machine; it may evaluate and predict. A process that is killed holds nobody up.
#' @param model_dir A folder, or a model.
#' @return A tibble of a row for each run, the first one first: `run`, its number; `began`, `ended`,
#'   `seconds`; `from_step`, `to_step`, `steps`; `rows` that were read, `rows_per_sec`, and `waited`,
#'   how many seconds the steps have waited for rows (all NA where the input is no dataset); `why`
#'   and `reason`; `evaluations`, a tibble of each evaluation by [evaluate()], a hook or
#'   `train(validation = )` until the next run (`at`, `step`, `name`, `metric`, `value`); `hooks`,
#'   the names of all; `log`, the last 100 lines that they and the run have shown; `config`, what [run_config()] said; `arguments`, those of `train()` and how
#'   the data were read; `seed`, that of the configuration, and `seeds`, those that were drawn;
#'   `version` of runhooks, `host`, `machine`, `process`. Of what nobody knows (the end of a run that
#'   was killed) there is NA. A folder in which nothing was trained has no rows, nor has one that
#'   TensorFlow or an earlier version of runhooks wrote.
#' @section Errors: `runhooks_error_invalid_argument` for what is neither a folder nor a model.
#' @seealso [tf_estimator_history] for the losses of a run.
#' @family history
#' @export
#' @examples
#' model <- linear_regressor(column_numeric("drat"))
#' model %>% train(input_fn(mpg ~ drat, mtcars, num_epochs = 5))
#' model %>% train(input_fn(mpg ~ drat, mtcars, num_epochs = NULL), steps = 10)
#' run_history(model)
#' run_history(model)$reason
run_history <- function(model_dir) {
  folder <- model_dir
  if (is_estimator(folder)) folder <- model_dir.tf_estimator(folder)
  good <- is_string(folder)
  check_arg(good, model_dir, "a folder or a model", "model_dir", environment())
  new_run_history(cpp_run_rows(path.expand(folder)), folder)
}

# Names of columns would hide those of variables: tibble() looks there first.
new_run_history <- function(runs, folder) {
  numbers <- function(name) vapply(runs, function(row) known_number(row[[name]]), 0)
  texts <- function(name) vapply(runs, `[[`, "", name)
  times <- function(name) as.POSIXct(numbers(name), origin = "1970-01-01")
  from <- numbers("from")
  read <- numbers("rows")
  reading <- numbers("seconds")
  is_read <- !is.na(read)
  table <- tibble::tibble(
    run = seq_along(runs),
    began = times("began"),
    ended = times("ended"),
    seconds = numbers("ended") - numbers("began"),
    from_step = from,
    to_step = numbers("to"),
    steps = numbers("to") - from,
    rows = read,
    rows_per_sec = ifelse(is_read & reading > 0, read / reading, NA_real_),
    waited = ifelse(is_read, numbers("waited"), NA_real_),
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

# The core says -1 of what is not known.
known_number <- function(x) if (x < 0) NA_real_ else x

# In long form, as models have metrics of different names.
evaluation_table <- function(evaluations) {
  each <- lengths(lapply(evaluations, `[[`, "metrics"))
  field <- function(name, type) rep(vapply(evaluations, `[[`, type, name), each)
  metrics <- unlist(lapply(evaluations, `[[`, "metrics"))
  tibble::tibble(
    at = as.POSIXct(field("at", 0), origin = "1970-01-01"), step = field("step", 0),
    name = field("name", ""), metric = as.character(names(metrics)),
    value = as.numeric(unname(metrics))
  )
}

# A line for each run; what was chosen of the columns is printed as a tibble.
#' @export
print.runhooks_run_history <- function(x, ...) {
  shown <- c("run", "began", "seconds", "from_step", "to_step", "rows_per_sec", "why", "reason")
  if (!all(shown %in% names(x))) {
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
  # the first line of an error says most
  why <- paste0(x$why, ": ", sub("\n.*$", "", x$reason))
  lines <- paste0("  ", do.call(paste, c(unname(columns), sep = "  ")), "  ", c("ended by", why))
  substr(lines, 1, max(getOption("width"), 60))
}

# "0.25 s", "12 s", "3 min", "2.5 h"
short_time <- function(seconds) {
  if (is.na(seconds)) return("?")
  if (seconds < 100) return(paste(format(signif(seconds, 2), scientific = FALSE), "s"))
  if (seconds < 6000) return(paste(format(signif(seconds / 60, 2), scientific = FALSE), "min"))
  paste(format(signif(seconds / 3600, 2), scientific = FALSE), "h")
}

# What the record of a run is told at its beginning. `asked` are arguments beside the number of
# steps.
run_about <- function(steps, max_steps, input, asked) {
  about <- attr(input, "about")
  about$features <- utils::head(about$features, 100)
  given <- c(list(steps = steps, max_steps = max_steps), asked, about)
  list(
    version = getNamespaceInfo(topenv(), "spec")[["version"]], arguments = given[lengths(given) > 0]
  )
}
