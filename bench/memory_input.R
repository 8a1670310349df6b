# Peak memory of training a network of 256 and 128 units on 60,000 rows of 784 doubles (376 MB in
# R): as columns of a data frame, as one matrix, and as a dataset. Each runs in a new process.
# Prints the memory before and the peak after, by the kernel's counter (VmHWM, reset before the
# training), so this needs Linux.
#   Rscript bench/memory_input.R [rows]
arguments <- commandArgs(TRUE)

memory_mb <- function(what) {
  lines <- readLines("/proc/self/status")
  as.numeric(gsub("\\D", "", grep(paste0("^", what, ":"), lines, value = TRUE))) / 1024
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
  columns$y <- sample(0:9, rows, TRUE)
  if (what == "data frame") columns <- as.data.frame(columns)
  gc()
  before <- memory_mb("VmRSS")
  writeLines("5", "/proc/self/clear_refs")
  features <- setdiff(names(columns), "y")
  shape <- if (what == "data frame") 1 else width
  model <- dnn_classifier(
    lapply(features, column_numeric, shape = shape), hidden_units = c(256, 128), n_classes = 10,
    model_dir = tempfile("memory"), config = run_config(tf_random_seed = 1)
  )
  input <- switch(what,
    "dataset of a matrix" = tensor_slices_dataset(columns) %>%
      dataset_shuffle(10000) %>%
      dataset_batch(128) %>%
      input_fn("x", "y"),
    input_fn(columns, features = features, response = "y")
  )
  took <- system.time(suppressMessages(train(model, input, steps = 200)))[["elapsed"]]
  cat(sprintf("%.1f %.1f %.2f\n", before, memory_mb("VmHWM"), took))
}

if (length(arguments) == 3 && arguments[[1]] == "--one") {
  train_once(arguments[[2]], as.numeric(arguments[[3]]))
  quit(save = "no")
}

rows <- if (length(arguments) >= 1) arguments[[1]] else "60000"
cat(sprintf(
  "%-22s %12s %12s %12s %12s\n", "data", "before, MB", "peak, MB", "by training", "seconds"
))
for (what in c("data frame", "matrix", "dataset of a matrix")) {
  ran <- system2(
    file.path(R.home("bin"), "Rscript"), c("bench/memory_input.R", "--one", shQuote(what), rows),
    stdout = TRUE
  )
  mb <- as.numeric(strsplit(tail(ran, 1), " ")[[1]])
  cat(sprintf("%-22s %12.0f %12.0f %12.0f %12.2f\n", what, mb[[1]], mb[[2]], mb[[2]] - mb[[1]],
    mb[[3]]))
}
