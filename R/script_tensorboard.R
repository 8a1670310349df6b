# tensorboard(): starts TensorBoard if it is installed.

#' Start TensorBoard
#'
#' Starts TensorBoard on the event files that [train()] and [evaluate()] write, and returns its
#' address. TensorBoard must be on the `PATH`. [read_events()] reads event files without it.
#'
#' @param log_dir A directory: the [model_dir()] of a model, or a directory of several models.
#' @param action `"start"` (the default), or `"stop"` for all processes that this R session started.
#' @param host,port Address and port. `"auto"` (the default) is TensorBoard's default port, 6006.
#' @param launch_browser If `TRUE`, opens a browser; by default in interactive sessions.
#' @param ... Further named options of the command line, such as `reload_interval = 5`.
#' @return The address, invisibly; `NULL` for `"stop"`.
#' @section Errors:
#'   * `runhooks_error_not_found`: TensorBoard, the package processx or the directory is missing.
#' @export
#' @examples
#' model <- linear_regressor(mpg ~ wt, mtcars)
#' train(model)
#' if (interactive() && nzchar(Sys.which("tensorboard"))) {
#'   tensorboard(model_dir(model))
#'   tensorboard(action = "stop")
#' }
tensorboard <- function(log_dir, action = c("start", "stop"), host = "127.0.0.1", port = "auto",
                        launch_browser = interactive(), ...) {
  action <- check_one_of(action, c("start", "stop"))
  if (action == "stop") {
    for (process in the$tensorboards) process$kill()
    the$tensorboards <- NULL
    return(invisible())
  }
  check_string(log_dir)
  if (!dir.exists(log_dir)) {
    abort_runhooks("The directory {.path {log_dir}} does not exist.", kind = "not_found")
  }
  program <- Sys.which("tensorboard")[[1]]
  if (program == "" || !requireNamespace("processx", quietly = TRUE)) {
    abort_runhooks(
      c(
        if (program == "") {
          "TensorBoard is not on the PATH."
        } else {
          "The package processx is needed to start TensorBoard from R."
        },
        i = if (program == "") "Install it with {.code pip install tensorboard}.",
        i = "Start it in a shell: {.code tensorboard --logdir {shQuote(log_dir)}}.",
        i = "Use {.fn read_events} to read event files without TensorBoard."
      ),
      kind = "not_found"
    )
  }
  port <- if (identical(port, "auto")) 6006 else port
  check_positive_whole(port)
  options <- c(list(logdir = normalizePath(log_dir), host = host, port = port), list(...))
  options <- vapply(options, number_text, "")
  process <- processx::process$new(program, paste0("--", names(options), "=", options))
  the$tensorboards <- c(the$tensorboards, list(process))
  address <- sprintf("http://%s:%s/", host, options[["port"]])
  cli::cli_inform("TensorBoard starts at {.url {address}}.")
  if (launch_browser) utils::browseURL(address)
  invisible(address)
}
