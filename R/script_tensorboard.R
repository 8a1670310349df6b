# TensorBoard, where there is one.

#' Start TensorBoard
#'
#' Starts the TensorBoard on the PATH, if there is one, on a folder of models: it reads the event
#' files that [train()] and [evaluate()] write. [read_events()] reads them without.
#'
#' @param log_dir The folder: a model's [model_dir()], or one that has several of them.
#' @param action `"start"`, or `"stop"` for all that this session has started.
#' @param host,port Where TensorBoard listens; `"auto"`: TensorBoard's own choice, 6006.
#' @param launch_browser Show it in a browser?
#' @param ... Further options of the command line by name: `reload_interval = 5`.
#' @return The address, invisibly; `NULL` for `"stop"`.
#' @section Errors: `runhooks_error_not_found` where there is no TensorBoard or no such folder, with
#'   advice.
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
    abort_runhooks("There is no folder {.path {log_dir}}.", kind = "not_found")
  }
  program <- Sys.which("tensorboard")[[1]]
  if (program == "" || !requireNamespace("processx", quietly = TRUE)) {
    abort_runhooks(
      c(
        if (program == "") {
          "There is no TensorBoard on the PATH."
        } else {
          "The package processx is needed to start TensorBoard from R."
        },
        i = if (program == "") "{.code pip install tensorboard} installs one.",
        i = "By hand: {.code tensorboard --logdir {shQuote(log_dir)}}.",
        i = "{.fn read_events} reads the numbers of event files without it."
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
