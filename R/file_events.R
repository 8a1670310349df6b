# Event files: what a run has written down for TensorBoard, as data.

#' Numbers of event files
#'
#' What training and evaluation have written to event files, which TensorBoard shows too: the
#' summaries of [train()] (`loss`, `global_step/sec`, ...; every `save_summary_steps` of
#' [run_config()]) and the metrics of each [evaluate()].
#'
#' @param dir A folder with event files: `file.path(model_dir(model), "eval")`. Of a model's own
#'   folder those in its `logs` are read, where [train()] puts them.
#' @return A tibble with a row for each number: its `step`, the `wall_time` it was written at (in
#'   seconds since 1970), its `tag` and its `value`. The order is that of the files' names, and in a
#'   file that of writing. What is no number (graphs, histograms, texts) is left out; so is what a
#'   run that was killed has not written to its end.
#' @section Errors: `runhooks_error_not_found` where there is no such folder;
#'   `runhooks_error_data_loss` for a damaged file.
#' @seealso `tf.train.summary_iterator` of TensorFlow 1.x.
#' @family history
#' @export
#' @examples
#' model <- linear_regressor(column_numeric("drat"))
#' model %>% train(input_fn(mpg ~ drat, mtcars, num_epochs = 5))
#' model %>% evaluate(input_fn(mpg ~ drat, mtcars))
#' read_events(model_dir(model))
#' read_events(file.path(model_dir(model), "eval"))
read_events <- function(dir) {
  check_string(dir)
  if (!dir.exists(dir)) abort_runhooks("There is no folder {.path {dir}}.", kind = "not_found")
  tibble::as_tibble(cpp_read_events(event_files(dir), FALSE)$numbers)
}

event_files <- function(dir) {
  folders <- path.expand(c(dir, file.path(dir, "logs")))
  files <- list.files(folders, "tfevents", full.names = TRUE)
  files <- files[!dir.exists(files)]
  files[order(basename(files), method = "radix")]
}
