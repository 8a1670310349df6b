# The progress bar: one line of text, written over itself. When to draw is decided by the hook in
# the core.

# The functions that the core's hook calls: draw(run, loss, global_step, is_last) and finish(runs).
progress_bar <- function(mode, steps) {
  label <- c(train = "Training", eval = "Evaluating", infer = "Predicting")[[mode]]
  started <- Sys.time()
  drawn <- 0L
  draw <- function(run, loss, global_step, is_last) {
    drawn <<- drawn + 1L
    line <- if (is.null(steps)) {
      spinner_line(label, loss, if (mode == "train") global_step else run, drawn)
    } else {
      bar_line(label, run, steps, loss, as.numeric(Sys.time() - started, units = "secs"))
    }
    write_progress(line, is_last)
  }
  list(draw = if (shows_progress()) draw, finish = function(runs) check_reached(mode, runs, steps))
}

# Captured and knitted output contains nothing of the bar.
shows_progress <- function() {
  sink.number() == 0 && !isTRUE(getOption("knitr.in.progress")) && cli::is_dynamic_tty(stdout())
}

progress_width <- function() min(getOption("width"), 80)

bar_line <- function(label, run, steps, loss, elapsed, width = progress_width()) {
  eta <- if (run >= steps) 0 else elapsed / run * (steps - run)
  before <- sprintf("%s %.0f/%.0f [", label, run, steps)
  after <- sprintf("] - ETA: %3s - loss: %.2f", vague_time(eta), loss)
  room <- max(width - nchar(before) - nchar(after), 6)
  done <- floor(room * min(run / steps, 1))
  paste0(before, strrep("=", done), strrep(".", room - done), after)
}

spinner_line <- function(label, loss, step, drawn) {
  spinner <- c("|", "/", "-", "\\")[[drawn %% 4 + 1]]
  sprintf("[%s] %s -- loss: %.2f, step: %.0f", spinner, label, loss, step)
}

# "0s", "12s", "3m", "2h", "5d"
vague_time <- function(secs) {
  if (secs < 60) return(sprintf("%.0fs", secs))
  if (secs < 3600) return(sprintf("%.0fm", secs / 60))
  if (secs < 86400) return(sprintf("%.0fh", secs / 3600))
  sprintf("%.0fd", secs / 86400)
}

write_progress <- function(line, is_last) {
  # lint: allow stdout
  cat("\r", formatC(line, width = -progress_width()), if (is_last) "\n", sep = "")
  utils::flush.console()
}

check_reached <- function(mode, runs, steps) {
  if (is.null(steps) || runs == steps) return(invisible())
  verb <- if (mode == "train") "Training" else "Evaluation"
  advice <- if (mode == "train" && runs < steps) {
    "\nWhere the input has ended, `num_epochs = NULL` in input_fn() reads it as often as needed."
  }
  message(
    sprintf("\n%s completed after %.0f steps but %.0f steps was specified", verb, runs, steps),
    advice
  )
}
