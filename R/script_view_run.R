# view_run() and view_runs(): HTML pages about training runs, which need neither a network nor a
# server.

#' View training runs in a browser
#'
#' `view_run()` writes an HTML page about the training runs of a model and returns its path. The
#' page contains:
#'
#' * the best validation, why the last run ended, and the hyperparameters;
#' * curves of the average loss and of the metrics of evaluations, with zoom and a logarithmic
#'   scale; curves of other numbers in event files are folded, and constant numbers are omitted;
#' * histograms over steps;
#' * the runs, with hooks, log lines, arguments, configuration, rows per second, and why they ended;
#' * the checkpoints, and the graph by name scopes;
#' * the time of each type of operation, if a [hook_profiler()] wrote timelines to the directory.
#'
#' `view_runs()` compares the models in the subdirectories of `dir`: a table of their last runs, the
#' differences of their arguments, and their curves. In the curves, each model has a color, and
#' evaluations are dashed.
#' `hook_view_run()` updates the page during [train()]; the browser reloads it until the run ends.
#'
#' The page is one file, which you can archive or send. The charts use dygraphs.
#'
#' @param model_dir A string, the path of a model directory, or a model.
#' @param dir A directory that contains model directories.
#' @param file Path of the page. `NULL` (the default): `run.html` in `model_dir`, or `runs.html` in
#'   `dir`.
#' @param open If `TRUE`, opens the page in the viewer or the browser; by default in interactive
#'   sessions.
#' @param every_n_secs Number of seconds between updates; 10 by default. The page is also updated at
#'   the end.
#' @return The path of the page, invisibly. `hook_view_run()` returns a hook.
#' @section Errors:
#'   * `runhooks_error_not_found`: the directory does not exist, or nothing was trained in it.
#' @family history
#' @export
#' @examples
#' model <- linear_regressor(mpg ~ wt + hp, mtcars)
#' if (requireNamespace("dygraphs", quietly = TRUE)) {
#'   train(model, steps = 200, hooks = list(hook_view_run()))
#'   view_run(model)
#'   view_runs(dirname(model_dir(model)))
#' }
view_run <- function(model_dir, file = NULL, open = interactive()) {
  folder <- path.expand(folder_of_model(model_dir))
  check_folder_exists(folder, environment())
  runs <- run_history(folder)
  if (nrow(runs) == 0) {
    abort_runhooks("Nothing has been trained in {.path {folder}}.", kind = "not_found")
  }
  page <- run_page(folder, runs)
  show_page(page, page_path(file, folder, "run.html"), open, environment())
}

#' @rdname view_run
#' @export
view_runs <- function(dir, file = NULL, open = interactive()) {
  check_string(dir)
  dir <- path.expand(dir)
  check_folder_exists(dir, environment())
  folders <- sort_bytewise(list.dirs(dir, recursive = FALSE))
  folders <- folders[file.exists(file.path(folders, runs_file))]
  if (length(folders) == 0) {
    abort_runhooks("No directory in {.path {dir}} has a trained model.", kind = "not_found")
  }
  page <- runs_page(dir, stats::setNames(folders, basename(folders)))
  show_page(page, page_path(file, dir, "runs.html"), open, environment())
}

#' @rdname view_run
#' @export
hook_view_run <- function(every_n_secs = 10) {
  abort_abbreviated_arguments()
  check_number(every_n_secs)
  check_arg(every_n_secs > 0, every_n_secs, "a positive number", "every_n_secs", environment())
  check_page_packages(environment())
  new_deferred_hook("hook_view_run", function(mode, steps, watch = list()) {
    if (is.null(watch$folder)) {
      abort_runhooks("{.fn hook_view_run} is for {.fn train} only, not for mode {.val {mode}}.")
    }
    page_update_hook(watch$folder, every_n_secs)
  })
}

# Creates the hook of hook_view_run(). Its attribute `finish` is a function. It is called after the
# run has been recorded, so the last page shows the end of the run and does not reload.
page_update_hook <- function(folder, every_n_secs) {
  last_time <- -Inf
  write <- function() {
    page <- run_page(folder, run_history(folder), every_n_secs)
    write_page(page, page_path(NULL, folder, "run.html"))
  }
  hook <- session_run_hook(
    after_run = function(context, values) {
      now <- proc.time()[["elapsed"]]
      if (now - last_time < every_n_secs) return(NULL)
      last_time <<- now
      write()
    }
  )
  structure(hook, finish = write)
}

check_folder_exists <- function(folder, call) {
  if (!dir.exists(folder)) {
    abort_runhooks("The directory {.path {folder}} does not exist.", kind = "not_found", call = call)
  }
}

check_page_packages <- function(call) {
  rlang::check_installed(c("dygraphs", "htmltools"), "to draw the page of a run.", call = call)
}

page_path <- function(file, folder, name) {
  check_string(file, null = TRUE, call = parent.frame())
  if (is.null(file)) file.path(folder, name) else absolute_path(file, "file")
}

show_page <- function(page, path, open, call) {
  check_flag(open, call = call)
  write_page(page, path)
  if (open) {
    viewer <- getOption("viewer", utils::browseURL)
    viewer(path)
  }
  invisible(path)
}
