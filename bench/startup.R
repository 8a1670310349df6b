# Startup costs: library(runhooks) and its resident memory, and a script from the start of R to its
# first step. Medians of fresh R processes, compared with an R that does nothing and with TensorFlow
# if installed.
#   Rscript bench/startup.R [rounds]
arguments <- as.integer(commandArgs(TRUE))
rounds <- if (length(arguments)) arguments[[1]] else 9L

child <- function(script) {
  started <- format(as.numeric(Sys.time()), digits = 16)
  rscript <- file.path(R.home("bin"), "Rscript")
  output <- system2(rscript, c("-e", shQuote(script), started), stdout = TRUE, stderr = FALSE)
  as.numeric(strsplit(output[[length(output)]], " ")[[1]])
}
clock <- "now <- function() as.numeric(Sys.time()); t0 <- as.numeric(commandArgs(TRUE)[[1]])"
scripts <- list(
  nothing = "cat(now() - t0)",
  rcpp = "loadNamespace('Rcpp'); cat(now() - t0)",
  library = "before <- now(); library(runhooks); cat(now() - before)",
  step = paste(
    "library(runhooks);",
    "model <- linear_regressor(feature_columns(column_numeric('drat'), column_numeric('cyl')));",
    "input <- input_fn(mtcars, response = 'mpg', features = c('drat', 'cyl'), batch_size = 8L);",
    "train(model, input, steps = 1, hooks = session_run_hook(",
    "  after_run = function(context, values) cat(now() - t0, '\\n')))"
  ),
  train = paste(
    "library(runhooks); model <- linear_regressor(mpg ~ wt + hp, data = mtcars);",
    "before <- now(); train(model); cat(1000 * (now() - before), '\\n')"
  )
)
median_of <- function(script) {
  stats::median(vapply(seq_len(rounds), function(i) child(script), 0))
}
measured <- lapply(scripts, function(script) median_of(paste(clock, script, sep = "; ")))
# In a separate process: timing a second expression would compile the timer and load the compiler.
resident <- median_of(paste(
  "library(runhooks); status <- grep('^VmRSS', readLines('/proc/self/status'), value = TRUE);",
  "cat(as.numeric(gsub('[^0-9]', '', status)) / 1024)"
))
cat(sprintf("%d fresh processes each, medians\n", rounds))
cat(sprintf("R that does nothing               %.2f s\n", measured$nothing))
cat(sprintf("R that loads Rcpp                 %.2f s\n", measured$rcpp))
cat(sprintf(
  "library(runhooks)                 %.2f s, then %.0f MB resident (budget: 0.3 s, 100 MB)\n",
  measured$library, resident
))
cat(sprintf(
  "start of R to the first step      %.2f s (budget: 0.6 s), %.1f times R that does nothing\n",
  measured$step, measured$step / measured$nothing
))
cat(sprintf("the first train() of a formula    %.0f ms\n", measured$train))

python <- suppressWarnings(system2("sh", "tools/tf_python.sh", stdout = TRUE, stderr = FALSE))
if (length(python)) {
  elapsed <- system.time(
    system2(python[[1]], c("-c", shQuote("import tensorflow")), stdout = FALSE, stderr = FALSE)
  )[["elapsed"]]
  cat(sprintf("python -c 'import tensorflow'     %.2f s\n", elapsed))
}
