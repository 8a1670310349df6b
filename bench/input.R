# Speed of input pipelines, compared with data.table::fread and vroom/readr if installed:
#   Rscript bench/input.R [MB of delimited text, default 200]
# and resident memory while a model trains on a larger file of delimited text:
#   Rscript bench/input.R resident [MB, default 2000]
# Elements are dropped immediately, to measure reading instead of training. Uses two threads: one
# runs the session, and one reads ahead if the pipeline has a prefetch. Times are the best of three
# rounds.
suppressPackageStartupMessages(library(runhooks))
arguments <- commandArgs(TRUE)
options(runhooks.threads = 2)

has <- function(package) requireNamespace(package, quietly = TRUE)
seconds <- function(run) as.numeric(system.time(run(), gcFirst = TRUE)[["elapsed"]])

# Ten columns: a number, one of twenty strings, an integer, and seven more numbers.
write_csv <- function(path, mb) {
  set.seed(1)
  n <- 20000
  block <- data.frame(
    x1 = sprintf("%.4f", rnorm(n)), word = sample(paste0("word", 1:20), n, TRUE),
    whole = sample(1e6, n, TRUE)
  )
  for (k in 2:8) block[[paste0("x", k)]] <- sprintf("%.5f", runif(n, -100, 100))
  text <- do.call(paste, c(unname(as.list(block)), sep = ","))
  con <- file(path, "wb")
  writeLines(paste(names(block), collapse = ","), con)
  while (file.size(path) < mb * 1e6) {
    writeLines(text, con)
    flush(con)
  }
  close(con)
  invisible(path)
}

# Runs a pipeline to its end; the elements never reach R.
drain <- function(dataset) {
  with(tf$Graph()$as_default(), {
    value <- iterator_get_next(make_iterator_one_shot(dataset))
    op <- do.call(tf$group, unname(if (is.list(value)) value else list(value)))
    with(tf$Session() %as% session, until_out_of_range(session$run(op)))
  })
}

peak_mb <- function() {
  lines <- readLines("/proc/self/status")
  as.numeric(gsub("\\D", "", grep("^VmHWM:", lines, value = TRUE))) / 1024
}

if (identical(arguments[1], "resident")) {
  mb <- if (length(arguments) > 1) as.numeric(arguments[[2]]) else 2000
  path <- write_csv(tempfile(fileext = ".csv"), mb)
  before <- peak_mb()
  data <- make_csv_dataset(path, 4096, label_name = "x1", num_epochs = 1)
  columns <- c(
    lapply(paste0("x", 2:8), column_numeric),
    list(column_categorical_with_hash_bucket("word", hash_bucket_size = 100))
  )
  model <- linear_regressor(columns, model_dir = tempfile("resident"))
  took <- seconds(function() suppressMessages(train(model, function() data)))
  cat(sprintf("%.0f MB of delimited text trained on in %.0f s; peak %.0f MB resident (%.0f before)\n",
    file.size(path) / 1e6, took, peak_mb(), before))
  unlink(path)
  quit(save = "no")
}

rounds <- function(runs, n = 3) {
  best <- rep(Inf, length(runs))
  for (round in seq_len(n)) {
    for (i in seq_along(runs)) best[[i]] <- min(best[[i]], seconds(runs[[i]]))
  }
  setNames(best, names(runs))
}

table_of <- function(title, best, amount, unit) {
  cat(sprintf("\n%s\n", title))
  cat(sprintf("  %-58s %8.2f s %10.4g %s\n", names(best), best, amount / best, unit), sep = "")
}

# --- delimited text

mb <- if (length(arguments)) as.numeric(arguments[[1]]) else 200
path <- write_csv(tempfile(fileext = ".csv"), mb)
spec <- csv_record_spec(path)
batches <- function(...) make_csv_dataset(path, 4096, num_epochs = 1, ...)
runs <- list(
  "make_csv_dataset(shuffle = FALSE)" = function() drain(batches(shuffle = FALSE)),
  "the same, without a prefetch thread" = function() {
    drain(batches(shuffle = FALSE, prefetch_buffer_size = 0))
  },
  "text_line_dataset(record_spec) |> dataset_batch()" = function() {
    drain(dataset_batch(text_line_dataset(path, record_spec = spec), 4096))
  },
  "make_csv_dataset(), shuffled" = function() drain(batches())
)
if (has("data.table")) {
  runs[["data.table::fread(), 2 threads"]] <- function() {
    data.table::fread(path, nThread = 2, showProgress = FALSE)
  }
}
if (has("vroom")) {
  runs[["vroom::vroom(altrep = FALSE), 2 threads"]] <- function() {
    vroom::vroom(path, num_threads = 2, altrep = FALSE, progress = FALSE, show_col_types = FALSE)
  }
}
if (has("readr")) {
  runs[["readr::read_csv(), 2 threads"]] <- function() {
    readr::read_csv(path, num_threads = 2, lazy = FALSE, progress = FALSE, show_col_types = FALSE)
  }
}
table_of(
  sprintf("%.0f MB of delimited text, 10 columns, batches of 4,096", file.size(path) / 1e6),
  rounds(runs), file.size(path) / 1e6, "MB/s"
)
unlink(path)

# --- records: copies of a TensorFlow file, because record files can be concatenated

golden <- "tests/testthat/golden/files/tfrecord/examples.tfrecord"
count <- length(dataset_collect(tfrecord_dataset(golden)))
bytes <- readBin(golden, "raw", file.size(golden))
times <- ceiling(1e6 / count)
path <- tempfile(fileext = ".tfrecord")
writeBin(rep(bytes, times), path)
runs <- list(
  "tfrecord_dataset() |> dataset_batch()" = function() {
    drain(dataset_batch(tfrecord_dataset(path), 1024))
  },
  "the same |> dataset_prefetch()" = function() {
    drain(dataset_prefetch(dataset_batch(tfrecord_dataset(path), 1024), 2))
  },
  "|> dataset_map(parse_example) |> dataset_prefetch()" = function() {
    features <- list(
      age = tf$VarLenFeature(tf$int64), name = tf$VarLenFeature(tf$string),
      score = tf$VarLenFeature(tf$float32)
    )
    parsed <- tfrecord_dataset(path) %>%
      dataset_batch(1024) %>%
      dataset_map(function(record) {
        lapply(tf$parse_example(record, features), function(column) column$values)
      })
    drain(dataset_prefetch(parsed, 2))
  }
)
table_of(
  sprintf("%.2g records of %.0f bytes, batches of 1,024", count * times, length(bytes) / count),
  rounds(runs), count * times / 1e6, "million records/s"
)
unlink(path)

# --- rows in memory

for (n in c(1e5, 2e6)) {
  frame <- as.data.frame(matrix(runif(n * 10), n))
  data <- tensor_slices_dataset(frame)
  epochs <- 1e7 / n
  shuffled <- function(size) {
    function() drain(data %>% dataset_shuffle(size) %>% dataset_repeat(epochs) %>% dataset_batch(1024))
  }
  runs <- list(
    "|> dataset_shuffle(10,000) |> dataset_batch(1,024)" = shuffled(1e4),
    "|> dataset_shuffle(nrow) |> dataset_batch(1,024)" = shuffled(n),
    "|> dataset_batch(1,024)" = function() {
      drain(data %>% dataset_repeat(epochs) %>% dataset_batch(1024))
    }
  )
  table_of(
    sprintf("%.0e rows of 10 columns of doubles in memory, as %.0f passes", n, epochs),
    rounds(runs), n * epochs / 1e6, "million rows/s"
  )
}
