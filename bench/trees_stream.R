# Memory of boosted trees on batches of a CSV file: 28 generated numbers and a label per row,
# batches of 10,000 rows; the quantiles and each of two layers use the whole file. Each size runs in
# a new process. Prints the memory before and the peak after (VmHWM, reset before; Linux only). The
# peak must not depend on the size of the file.
#   Rscript bench/trees_stream.R [MB of the largest file]
arguments <- commandArgs(TRUE)

n_columns <- 28L
batch_rows <- 10000L

memory_mb <- function(what) {
  lines <- readLines("/proc/self/status")
  as.numeric(gsub("\\D", "", grep(paste0("^", what, ":"), lines, value = TRUE))) / 1024
}

# Writes one block of rows repeatedly, in different orders, and returns the number of rows.
write_csv <- function(path, megabytes) {
  set.seed(1)
  x <- matrix(round(rnorm(batch_rows * n_columns), 6), batch_rows)
  y <- as.integer(runif(batch_rows) < plogis(x[, 1] * x[, 2] + x[, 3]))
  lines <- do.call(paste, c(as.data.frame(x), list(y, sep = ",")))
  file <- file(path, "wb")
  on.exit(close(file))
  writeLines(paste(c(paste0("x", seq_len(n_columns)), "y"), collapse = ","), file)
  blocks <- ceiling(megabytes * 2^20 / sum(nchar(lines) + 1))
  for (i in seq_len(blocks)) writeLines(sample(lines), file)
  blocks * batch_rows
}

train_once <- function(path, rows) {
  suppressPackageStartupMessages(library(runhooks))
  options(runhooks.progress = FALSE, runhooks.threads = 2)
  features <- paste0("x", seq_len(n_columns))
  model <- boosted_trees_classifier(
    lapply(features, column_numeric), n_batches_per_layer = rows / batch_rows, n_trees = 1L,
    max_depth = 2L, model_dir = tempfile("stream")
  )
  input <- input_fn(
    make_csv_dataset(path, batch_rows, num_epochs = NULL, shuffle = FALSE),
    features = features, response = "y"
  )
  gc()
  before <- memory_mb("VmRSS")
  writeLines("5", "/proc/self/clear_refs")
  took <- system.time(suppressMessages(train(model, input)))
  leaves <- nrow(as.data.frame(model))
  cat(took[["elapsed"]], sum(took[1:2]), before, memory_mb("VmHWM"), leaves, "\n")
}

if (identical(arguments[1], "--one")) {
  train_once(arguments[[2]], as.numeric(arguments[[3]]))
  quit(save = "no")
}

largest <- if (length(arguments)) as.numeric(arguments[[1]]) else 500
cat(sprintf(
  "%8s %10s %8s %10s %10s %10s %6s\n", "MB", "rows", "s", "processor", "before, MB", "peak, MB", "nodes"
))
for (size in largest / c(10, 1)) {
  path <- tempfile(fileext = ".csv")
  rows <- write_csv(path, size)
  ran <- system2(
    file.path(R.home("bin"), "Rscript"), c("bench/trees_stream.R", "--one", path, sprintf("%.0f", rows)),
    stdout = TRUE
  )
  figures <- as.numeric(strsplit(trimws(tail(ran, 1)), " +")[[1]])
  cat(sprintf("%8.0f %10.0f %8.1f %10.1f %10.0f %10.0f %6.0f\n", file.size(path) / 2^20, rows,
    figures[[1]], figures[[2]], figures[[3]], figures[[4]], figures[[5]]))
  unlink(path)
}
