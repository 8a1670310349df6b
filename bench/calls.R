# Costs of calls around the steps: predict() of one row compared with predict.glm(), evaluate() of
# 32 and of 150 rows, predictions as R lists, constructing a model and its first step, and an R
# hook. Measures processor time of all threads, which is less sensitive to other load than wall
# time. Compares one or more libraries: fresh processes in turn, medians, and the ratio of the last
# library to each other one.
#   Rscript bench/calls.R [library] [more libraries] [rounds]
arguments <- commandArgs(TRUE)

# --- a child process: prints its times in milliseconds on one line
child <- function() {
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
  flowers <- linear_classifier(
    feature_columns(column_numeric("Sepal.Length")), n_classes = 3, model_dir = tempfile("bench")
  )
  of_flowers <- function(...) {
    input_fn(iris, response = "Species", features = "Sepal.Length", ...)
  }
  suppressMessages(train(flowers, of_flowers(num_epochs = NULL), steps = 50))
  many <- input_fn(
    data.frame(Sepal.Length = rep(iris$Sepal.Length, 400)), features = "Sepal.Length"
  )
  peer <- stats::glm(mpg ~ ., data = mtcars)
  full <- tryCatch(
    {
      full <- linear_regressor(mpg ~ ., data = mtcars, model_dir = tempfile("bench"))
      suppressMessages(train(full, steps = 50))
      full
    },
    error = function(e) NULL
  )
  after <- session_run_hook(after_run = function(context, values) NULL)
  before <- session_run_hook(before_run = function(context) NULL)
  looping <- function(hooks, steps) {
    made <- quiet()
    train(made, input(num_epochs = NULL), steps = steps, hooks = hooks)
  }
  spent_ms <- function() 1000 * sum(proc.time()[1:2])
  # R's clock has a resolution of milliseconds, so this is the median over blocks of the mean of
  # many calls.
  ms_a_call <- function(f, calls, blocks = 5) {
    block <- function() {
      start <- spent_ms()
      for (i in seq_len(calls)) f()
      (spent_ms() - start) / calls
    }
    tryCatch(
      {
        for (i in seq_len(calls)) f()
        stats::median(replicate(blocks, block()))
      },
      error = function(e) NA
    )
  }
  us_a_step <- function(hooks, steps = 50000) {
    1000 * ms_a_call(function() looping(hooks, steps), 1) / steps
  }
  times <- c(
    "predict(newdata = one row)" = ms_a_call(function() predict(model, newdata = row), 40),
    "predict() of one row, input_fn" = ms_a_call(function() predict(model, one_row), 40),
    "predict() of one row, formula" = ms_a_call(function() predict(formula, newdata = row), 40),
    "the same, 10 columns" = ms_a_call(function() predict(full, newdata = row), 200),
    "predict.glm() of it" = ms_a_call(function() predict(peer, newdata = row), 200),
    "evaluate() of 150 rows" = ms_a_call(
      function() suppressMessages(evaluate(flowers, of_flowers())), 25
    ),
    "60,000 rows as R lists" = ms_a_call(function() predict(flowers, many), 1, 3),
    "evaluate() of 32 rows" = ms_a_call(function() evaluate(model, all_rows), 25),
    "a model" = ms_a_call(function() usual(), 50),
    "a model and its first step" = ms_a_call(function() train(usual(), input(), steps = 1), 12),
    "train(steps = 1) once more" = ms_a_call(function() train(model, input(), steps = 1), 12),
    "us a step: no R hook" = us_a_step(NULL),
    "us a step: an R hook, before_run" = us_a_step(before),
    "us a step: an R hook, after_run" = us_a_step(after)
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
    lines <- utils::capture.output(child())
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
earlier <- seq_len(length(places) - 1)
padded <- function(text) paste(sprintf("%12s", text), collapse = "")
cat(sprintf("%d rounds, medians of processor time in ms unless marked us\n", rounds))
cat(sprintf(
  "%-34s %s%s\n", "", padded(basename(places)), padded(paste("x", basename(places[earlier])))
))
for (name in rownames(medians)) {
  ratios <- medians[name, length(places)] / medians[name, earlier]
  cat(sprintf(
    "%-34s %s%s\n", name, padded(sprintf("%.3f", medians[name, ])), padded(sprintf("%.2f", ratios))
  ))
}
