# The sparse linear model: 1,000,000 rows of 30 hashed columns of 1e5 buckets each, Ftrl, batches of
# 1,024. Prints rows per second of one pass, on one thread and on two.
#   Rscript bench/sparse-linear.R [rows] [columns] [integers|strings]
library(runhooks)

arguments <- commandArgs(TRUE)
rows <- if (length(arguments) >= 1) as.integer(arguments[[1]]) else 1000000L
k <- if (length(arguments) >= 2) as.integer(arguments[[2]]) else 30L
kind <- if (length(arguments) >= 3) arguments[[3]] else "integers"

set.seed(1)
# Ids with a realistic distribution: a few are frequent, most are rare.
ids <- function() as.integer(pmin(exp(stats::rexp(rows, 0.25)), 1e6))
data <- lapply(seq_len(k), function(i) if (kind == "strings") as.character(ids()) else ids())
names(data) <- sprintf("c%02d", seq_len(k))
features <- names(data)
data$y <- stats::rbinom(rows, 1, 0.3) * 1.0

columns <- column_categorical_with_hash_bucket(
  features, hash_bucket_size = 1e5, dtype = if (kind == "strings") "string" else "int32"
)
model <- linear_regressor(
  columns, model_dir = tempfile("bench"), optimizer = tf$train$FtrlOptimizer(0.05),
  config = run_config(
    save_checkpoints_steps = 1e9, log_step_count_steps = NULL, save_summary_steps = 0
  )
)
made <- system.time(
  input <- input_fn(
    data, features = tidyselect::all_of(features), response = "y", batch_size = 1024L,
    num_epochs = NULL, shuffle = FALSE
  )
)[["elapsed"]]
timed <- function(steps) system.time(train(model, input, steps = steps))[["elapsed"]]
one <- timed(1)
steps <- rows %/% 1024L
cat(sprintf(
  "%d rows x %d hashed columns (%s): input function %.2f s, start and one step %.2f s\n", rows, k,
  kind, made, one
))
pass <- function(threads) {
  options(runhooks.threads = threads)
  one <- timed(1)
  all <- timed(steps)
  steps * 1024 / c(all, all - one)
}
rounds <- replicate(3, sapply(1:2, pass))
cat(sprintf("%d steps of 1,024 rows, rows/s, median (best) of 3 rounds in turns:\n", steps))
for (threads in 1:2) {
  x <- rounds[, threads, ]
  cat(sprintf(
    "  on %d thread%s: %.0f (%.0f), without the start %.0f (%.0f)\n", threads,
    if (threads == 1) "" else "s", median(x[1, ]), max(x[1, ]), median(x[2, ]), max(x[2, ])
  ))
}
