# What the calls around the steps cost: predict() of one row, evaluate() of 32, a model and its first
# step, a hook of R's beside the loop. Of one library or of two, side by side: fresh processes in
# turns, the medians, and how many times as slow the second is.
#   Rscript bench/calls.R [library] [another library] [rounds]
arguments <- commandArgs(TRUE)

# --- a child: the times of each in milliseconds, on one line
child <- function(repetitions) {
  suppressMessages(library(runhooks))
  tf$logging$set_verbosity("ERROR")
  options(runhooks.progress = FALSE)
  columns <- function() feature_columns(column_numeric("drat"), column_numeric("cyl"))
  input <- function(...) {
    input_fn(mtcars, response = "mpg", features = c("drat", "cyl"), batch_size = 8L, ...)
  }
  usual <- function() linear_regressor(columns(), model_dir = tempfile("bench"))
  quiet <- function() {
    linear_regressor(columns(), model_dir = tempfile("bench"), config = run_config(
      save_checkpoints_steps = 1e9, log_step_count_steps = NULL, save_summary_steps = 0
    ))
  }
  model <- usual()
  train(model, input(num_epochs = NULL), steps = 100)
  row <- mtcars[1, ]
  all_rows <- input_fn(
    mtcars, response = "mpg", features = c("drat", "cyl"), batch_size = 32L
  )
  one_row <- input_fn(
    mtcars[1, ], response = "mpg", features = c("drat", "cyl"), batch_size = 1L
  )
  formula <- tryCatch(
    {
      made <- linear_regressor(mpg ~ drat + cyl, data = mtcars, model_dir = tempfile("bench"))
      train(made, steps = 50)
      made
    },
    error = function(e) NULL
  )
  hook <- session_run_hook(after_run = function(context, values) NULL)
  looping <- function(hooks, steps) {
    made <- quiet()
    train(made, input(num_epochs = NULL), steps = steps, hooks = hooks)
  }
  median_ms <- function(f, times = repetitions) {
    once <- function() {
      start <- Sys.time()
      f()
      1000 * as.numeric(Sys.time() - start, units = "secs")
    }
    tryCatch(
      {
        for (i in 1:3) f()
        stats::median(replicate(times, once()))
      },
      error = function(e) NA
    )
  }
  steps <- 20000
  times <- c(
    "predict(newdata = one row)" = median_ms(function() predict(model, newdata = row)),
    "predict() of one row, input_fn" = median_ms(function() predict(model, one_row)),
    "predict() of one row, formula" = median_ms(function() predict(formula, newdata = row)),
    "evaluate() of 32 rows" = median_ms(function() evaluate(model, all_rows)),
    "a model and its first step" = median_ms(function() train(usual(), input(), steps = 1)),
    "train(steps = 1) once more" = median_ms(function() train(model, input(), steps = 1)),
    "us a step: no R hook" = median_ms(function() looping(NULL, steps), 3) / steps * 1000,
    "us a step: an R hook, after_run" = median_ms(function() looping(hook, steps), 3) / steps * 1000
  )
  cat("TIMES", paste(format(times, digits = 6), collapse = " "), "\n")
  cat("NAMES", paste(names(times), collapse = "|"), "\n")
}

measured <- function(place) {
  script <- normalizePath(sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE)[[1]]))
  env <- if (nzchar(place)) paste0("R_LIBS=", place) else character()
  lines <- system2(
    file.path(R.home("bin"), "Rscript"), c(shQuote(script), "--child"), stdout = TRUE,
    stderr = FALSE, env = env
  )
  of <- function(mark) sub(paste0("^", mark, " "), "", grep(paste0("^", mark), lines, value = TRUE))
  if (length(of("TIMES")) == 0) stop("nothing was measured with the library ", place)
  names <- strsplit(trimws(of("NAMES")), "|", fixed = TRUE)[[1]]
  setNames(suppressWarnings(as.numeric(strsplit(trimws(of("TIMES")), " +")[[1]])), names)
}

if (identical(arguments, "--child")) {
  invisible(utils::capture.output(type = "message", {
    lines <- utils::capture.output(child(21))
  }))
  cat(lines, sep = "\n")
  quit(save = "no")
}
is_count <- grepl("^[0-9]+$", arguments)
rounds <- if (any(is_count)) as.integer(arguments[is_count][[1]]) else 5L
places <- arguments[!is_count]
if (length(places) == 0) places <- ""
rows <- lapply(seq_len(rounds), function(round) lapply(places, measured))
medians <- vapply(seq_along(places), function(i) {
  apply(do.call(rbind, lapply(rows, `[[`, i)), 2, stats::median)
}, rows[[1]][[1]])
cat(sprintf("%d rounds, medians in ms but where it says us\n", rounds))
cat(sprintf("%-34s %s\n", "", paste(sprintf("%12s", basename(places)), collapse = "")))
for (name in rownames(medians)) {
  ratio <- if (length(places) == 2) sprintf("   x %.2f", medians[name, 2] / medians[name, 1]) else ""
  cat(sprintf("%-34s %s%s\n", name, paste(sprintf("%12.3f", medians[name, ]), collapse = ""), ratio))
}
