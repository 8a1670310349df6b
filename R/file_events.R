# Reads TensorBoard event files.

#' Read event files
#'
#' Returns the numbers in TensorBoard event files as a data frame: the summaries of [train()]
#' (`loss`, `global_step/sec`, ...; one per `save_summary_steps` of [run_config()]) and the metrics
#' of each [evaluate()].
#'
#' @param dir A directory with event files, such as `file.path(model_dir(model), "eval")`. For a
#'   model directory, the files that [train()] writes to its subdirectory `logs` are included.
#' @return A tibble with one row per number: its `step`, its `wall_time` (in seconds since 1970),
#'   its `tag` and its `value`. Rows are in the order of the file names and, within a file, in the
#'   order of writing. Other values (graphs, histograms, texts) and incomplete records at the end of
#'   a file are skipped.
#' @section Errors:
#'   * `runhooks_error_not_found`: the directory does not exist.
#'   * `runhooks_error_data_loss`: a file is damaged.
#' @seealso `tf.train.summary_iterator` of TensorFlow 1.x.
#' @family history
#' @export
#' @examples
#' model <- linear_regressor(column_numeric("drat"))
#' model |> train(input_fn(mpg ~ drat, mtcars, num_epochs = 5))
#' model |> evaluate(input_fn(mpg ~ drat, mtcars))
#' read_events(model_dir(model))
#' read_events(file.path(model_dir(model), "eval"))
read_events <- function(dir) {
  check_string(dir)
  if (!dir.exists(dir)) {
    abort_runhooks("Directory {.path {dir}} does not exist.", kind = "not_found")
  }
  tibble::as_tibble(cpp_read_events(event_files(dir), FALSE)$numbers)
}

event_files <- function(dir) {
  folders <- path.expand(c(dir, file.path(dir, "logs")))
  files <- list.files(folders, "tfevents", full.names = TRUE)
  files <- files[!dir.exists(files)]
  files[order(basename(files), method = "radix")]
}
