# The peak memory of training on 60,000 rows of 784 doubles (376 MB in R), a process each: as the
# columns of a data frame, as one matrix, and by a dataset. What counts is the kernel's own record
# (VmHWM), so this runs on Linux only.
#   Rscript bench/memory_input.R [rows]
arguments <- commandArgs(TRUE)

peak_mb <- function() {
  lines <- readLines("/proc/self/status")
  as.numeric(gsub("\\D", "", grep("^VmHWM:", lines, value = TRUE))) / 1024
}

train_once <- function(what, rows) {
  suppressPackageStartupMessages(library(runhooks))
  set.seed(1)
  width <- 784
  columns <- list()
  if (what == "data frame") {
    for (k in seq_len(width)) columns[[paste0("x", k)]] <- runif(rows)
  } else {
    columns$x <- matrix(0, rows, width)
    for (k in seq_len(width)) columns$x[, k] <- runif(rows)
  }
  columns$y <- runif(rows)
  if (what == "data frame") columns <- as.data.frame(columns)
  before <- peak_mb()
  features <- setdiff(names(columns), "y")
  shape <- if (what == "data frame") 1 else width
  model <- linear_regressor(
    lapply(features, column_numeric, shape = shape), model_dir = tempfile("memory"),
    config = run_config(tf_random_seed = 1)
  )
  input <- switch(what,
    "dataset of a matrix" = tensor_slices_dataset(columns) %>%
      dataset_shuffle(10000) %>%
      dataset_batch(128) %>%
      input_fn("x", "y"),
    input_fn(columns, features = features, response = "y")
  )
  took <- system.time(suppressMessages(train(model, input, steps = 200)))[["elapsed"]]
  cat(sprintf("%.1f %.1f %.2f\n", before, peak_mb(), took))
}

if (length(arguments) == 3 && arguments[[1]] == "--one") {
  train_once(arguments[[2]], as.numeric(arguments[[3]]))
  quit(save = "no")
}

rows <- if (length(arguments) >= 1) arguments[[1]] else "60000"
cat(sprintf("%-22s %12s %12s %12s %12s\n", "data", "in R, MB", "peak, MB", "by training", "seconds"))
for (what in c("data frame", "matrix", "dataset of a matrix")) {
  ran <- system2(
    file.path(R.home("bin"), "Rscript"), c("bench/memory_input.R", "--one", shQuote(what), rows),
    stdout = TRUE
  )
  mb <- as.numeric(strsplit(tail(ran, 1), " ")[[1]])
  cat(sprintf("%-22s %12.0f %12.0f %12.0f %12.2f\n", what, mb[[1]], mb[[2]], mb[[2]] - mb[[1]],
    mb[[3]]))
}
