# view_run(): a model's folder as one page of HTML that needs no network and no server.

#' Look at runs in a browser
#'
#' `view_run()` writes what a model's folder says of its training into one page: curves of the
#' losses and of all evaluations (zoom by dragging, values under the pointer, smoothing, logarithmic
#' scale), histograms over steps, the runs with their hooks and the lines that these have shown,
#' arguments, configuration, rows a second and why they ended, the checkpoints, the graph by name
#' scopes, and the time a step took by operation where a [hook_profiler()] wrote a timeline into the
#' folder. `view_runs()` puts the models in the folders of `dir` side by side, with what differs
#' between them. `hook_view_run()` writes the page anew while [train()] goes on; the page in the
#' browser loads itself again until the run has ended.
#'
#' The page is one file, which can be sent or kept; it is written to another name and renamed. Its
#' charts are those of dygraphs.
#'
#' @param model_dir A folder, or a model.
#' @param dir A folder with folders of models.
#' @param file The page; `NULL`: `run.html` (of `view_runs()` `runs.html`) in the folder.
#' @param open Open it in the viewer, or in the browser?
#' @param every_n_secs The page is written every so many seconds, and at the end.
#' @return The path of the page, invisibly; `hook_view_run()`: a hook.
#' @section Errors: `runhooks_error_not_found` where there is no such folder, or where nothing was
#'   trained in it.
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
  folder <- model_dir
  if (is_estimator(folder)) folder <- model_dir.tf_estimator(folder)
  good <- is_string(folder)
  check_arg(good, model_dir, "a folder or a model", "model_dir", environment())
  folder <- path.expand(folder)
  check_folder_exists(folder, environment())
  runs <- run_history(folder)
  if (nrow(runs) == 0) {
    abort_runhooks("Nothing was trained in {.path {folder}} yet.", kind = "not_found")
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
  folders <- sorted_words(list.dirs(dir, recursive = FALSE))
  folders <- folders[file.exists(file.path(folders, runs_file))]
  if (length(folders) == 0) {
    abort_runhooks("No folder in {.path {dir}} has a trained model.", kind = "not_found")
  }
  page <- runs_page(dir, stats::setNames(folders, basename(folders)))
  show_page(page, page_path(file, dir, "runs.html"), open, environment())
}

#' @rdname view_run
#' @export
hook_view_run <- function(every_n_secs = 10) {
  check_number(every_n_secs)
  check_arg(every_n_secs > 0, every_n_secs, "a positive number", "every_n_secs", environment())
  check_page_packages(environment())
  new_deferred_hook("hook_view_run", function(mode, steps, watch = list()) {
    if (is.null(watch$folder)) {
      abort_runhooks("{.fn hook_view_run} is a hook for {.fn train}, not for mode {.val {mode}}.")
    }
    page_hook(watch$folder, every_n_secs)
  })
}

# The page while the run goes on, and once more when it is recorded, which is after end(): then it
# does not load itself again.
page_hook <- function(folder, every_n_secs) {
  last <- -Inf
  write <- function() {
    page <- run_page(folder, run_history(folder), every_n_secs)
    write_page(page, page_path(NULL, folder, "run.html"))
  }
  hook <- session_run_hook(
    after_run = function(context, values) {
      now <- proc.time()[["elapsed"]]
      if (now - last < every_n_secs) return(NULL)
      last <<- now
      write()
    }
  )
  structure(hook, finish = write)
}

check_folder_exists <- function(folder, call) {
  if (!dir.exists(folder)) {
    abort_runhooks("There is no folder {.path {folder}}.", kind = "not_found", call = call)
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
