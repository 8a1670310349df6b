# The progress bar. The hook in the core decides when to draw; cli draws.

#' Show a progress bar
#'
#' Creates a hook that shows a line such as `Training 2/2 [======] - ETA:  0s - loss: 3136.10` in
#' the terminal. [train()] and [evaluate()] add one if the list has none. `options(runhooks.progress
#' = FALSE)` turns it off. It does not appear in captured or knitted output, or in processes forked
#' by the parallel package.
#'
#' The total is the number of steps, or is computed from the rows, the batch size and the epochs of
#' an [input_fn()]. If it is unknown, a spinner appears. With `train(validation = )` the line ends
#' with the newest validation metric. After two seconds it shows the rows per second and, if it
#' matters, the share of the time that steps wait for rows. If the run ends before the requested
#' number of steps, a message reports this.
#'
#' @section Errors: None. If a line cannot be drawn, the hook skips it. Values of
#'   `options(runhooks.progress = )` other than `FALSE` keep it on.
#' @inherit hook_logging_tensor return
#' @family hooks
#' @export
#' @examples
#' model <- linear_regressor(column_numeric("wt"))
#' input <- input_fn(mpg ~ wt, mtcars, batch_size = 8)
#' history <- train(model, input, hooks = hook_progress_bar())
#' history
hook_progress_bar <- function() {
  new_deferred_hook("hook_progress_bar", function(mode, steps, watch = list()) {
    bar <- progress_bar(mode, steps, watch)
    rebuild_hook(list(type = "ProgressBarHook", draw = bar$draw, finish = bar$finish))
  })
}

# Returns the functions that the core calls to show progress. `watch` may contain `planned` (the
# number of steps) and `rows` (the number of rows). It may also contain `suffix`, a function that
# returns additional text, and `may_stop` (TRUE if ending after fewer steps needs no message).
progress_bar <- function(mode, steps, watch = list()) {
  label <- c(train = "Training", eval = "Evaluating", infer = "Predicting")[[mode]]
  start_time <- Sys.time()
  n_drawn <- 0L
  total <- if (is.null(steps)) watch$planned else steps
  suffix <- if (is.null(watch$suffix)) function() "" else watch$suffix
  line <- new_progress_line()
  draw <- function(run, loss, global_step, is_last, rows = 0, seconds = 0, waited = 0, parts = "") {
    n_drawn <<- n_drawn + 1L
    tail <- paste0(
      if (nzchar(parts)) paste0(" - ", parts), suffix(),
      input_text(rows, seconds, waited, watch$rows)
    )
    line$show(if (is.null(total)) {
      step <- if (mode == "train") global_step else run
      paste0(spinner_line(label, loss, step, n_drawn), tail)
    } else {
      elapsed <- as.numeric(Sys.time() - start_time, units = "secs")
      bar_line(label, run, total, loss, elapsed, suffix = tail)
    })
    if (is_last) line$finish()
  }
  # after training, run_training() reports why the loop ended
  checks_steps <- mode != "train" && !isTRUE(watch$may_stop)
  finish <- function(runs) if (checks_steps) check_all_steps_ran(mode, runs, steps)
  list(draw = if (shows_progress()) draw, finish = finish)
}

shows_progress <- function() {
  !isFALSE(getOption("runhooks.progress")) && !is_forked() && may_be_dynamic() &&
    cli::is_dynamic_tty()
}

# A cheap pre-check for cli::is_dynamic_tty(), because loading cli is slow.
may_be_dynamic <- function() {
  is_configured <- !is.null(getOption("cli.dynamic")) ||
    any(nzchar(Sys.getenv(c("R_CLI_DYNAMIC", "RSTUDIO"))))
  is_configured || interactive() || isatty(stdout()) || isatty(stderr()) || isNamespaceLoaded("cli")
}

is_forked <- function() !identical(the$pid, Sys.getpid())

# Creates a line of the terminal, whose text its function show() replaces. While it is open, it is
# also in `the$line`, so that other output can end it. Interrupts are suspended, because an
# interrupt inside cli would leave cli in an inconsistent state.
new_progress_line <- function() {
  text <- ""
  id <- NULL
  finish <- function() {
    if (is.null(id)) return(invisible())
    suspendInterrupts(cli::cli_progress_done(id = id))
    id <<- NULL
    the$line <- NULL
  }
  show <- function(line) {
    text <<- line
    env <- parent.env(environment())
    suspendInterrupts({
      if (is.null(id)) {
        end_progress_line()
        id <<- cli::cli_progress_bar(
          format = "{text}", format_done = "{text}", format_failed = "{text}", total = NA,
          clear = FALSE, .auto_close = FALSE, .envir = env
        )
        the$line <- list(finish = finish)
      }
      cli::cli_progress_update(id = id, force = TRUE, .envir = env)
    })
  }
  list(show = show, finish = finish)
}

# Returns a text with the number of rows read and the speed. It is empty during the first second,
# because the speed is not known.
input_text <- function(rows, seconds, waited, total_rows = NULL) {
  if (seconds < 1 || rows == 0) return("")
  share <- waited / seconds
  paste0(
    if (!is.null(total_rows)) {
      sprintf(" - %s of %s rows", short_count(rows), short_count(total_rows))
    },
    sprintf(" - %s rows/s", short_count(rows / seconds)),
    if (share >= 0.1) sprintf(" - %.0f%% waiting for input", 100 * min(share, 1))
  )
}

# Formats a count, such as "950", "12.3k" or "1.25M".
short_count <- function(n) {
  if (n < 1e4) return(sprintf("%.0f", n))
  if (n < 1e6) return(paste0(format(signif(n / 1e3, 3)), "k"))
  if (n < 1e9) return(paste0(format(signif(n / 1e6, 3)), "M"))
  paste0(format(signif(n / 1e9, 3)), "G")
}


bar_line <- function(
  label,
  run,
  steps,
  loss,
  elapsed,
  width = min(getOption("width"), 80),
  suffix = ""
) {
  eta <- if (run >= steps) 0 else elapsed / run * (steps - run)
  prefix <- sprintf("%s %.0f/%.0f [", label, run, steps)
  tail <- sprintf("] - ETA: %3s - loss: %.2f%s", short_duration(eta), loss, suffix)
  bar_width <- max(width - nchar(prefix) - nchar(tail), 6)
  n_done <- floor(bar_width * min(run / steps, 1))
  paste0(prefix, strrep("=", n_done), strrep(".", bar_width - n_done), tail)
}

spinner_line <- function(label, loss, step, n_drawn) {
  spinner <- c("|", "/", "-", "\\")[[n_drawn %% 4 + 1]]
  sprintf("[%s] %s -- loss: %.2f, step: %.0f", spinner, label, loss, step)
}

# Formats a duration, such as "0s", "12s", "3m", "2h" or "5d".
short_duration <- function(secs) {
  if (secs < 60) return(sprintf("%.0fs", secs))
  if (secs < 3600) return(sprintf("%.0fm", secs / 60))
  if (secs < 86400) return(sprintf("%.0fh", secs / 3600))
  sprintf("%.0fd", secs / 86400)
}

# Reports that a loop has ended before the requested number of steps. `why` and `reason` are fields
# of run_history().
check_all_steps_ran <- function(
  mode,
  runs,
  steps,
  why = "",
  reason = "",
  is_counter_fixed = FALSE
) {
  if (is.null(steps) || runs == steps) return(invisible())
  verb <- if (mode == "train") "Training" else "Evaluation"
  advice <- switch(why,
    data = if (is_counter_fixed) {
      paste0(
        "\nThe step counter has not changed: use `optimizer$minimize(loss, global_step = ",
        "tf$train$get_global_step())` in the model function."
      )
    } else {
      "\nThe input has ended; use `num_epochs = NULL` in input_fn() to repeat it."
    },
    hook = sprintf("\nHook `%s` ended it.", reason),
    early_stopping = paste0(
      "\nEarly stopping ended it", if (grepl("^(since|as) ", reason)) ", " else ": ",
      sub("[.]?$", ".", reason)
    )
  )
  message(
    sprintf("\n%s completed after %.0f steps but %.0f steps were specified", verb, runs, steps),
    advice
  )
}

validation_suffix <- function(record, metric) {
  if (is.null(record)) return(NULL)
  function() {
    values <- cpp_history_read(record)$losses
    metrics <- intersect(c(metric, "average_loss", "loss"), names(values))
    if (length(metrics) == 0 || length(values[[metrics[[1]]]]) == 0) return("")
    sprintf(" - validation %s: %.4g", metrics[[1]], last_or_na(values[[metrics[[1]]]]))
  }
}
