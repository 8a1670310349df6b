# The wide-and-deep classifier of a census-like data frame: 200,000 rows, 5 numeric and 8 string
# columns, 3 crosses of up to 100,000 buckets, embeddings of 8, hidden 100-50, batches of 256.
# Prints rows per second of one pass, on one thread and on two, and the phases of a step.
#   Rscript bench/wide-deep.R [rows] [batch]
library(runhooks)

arguments <- commandArgs(TRUE)
rows <- if (length(arguments) >= 1) as.integer(arguments[[1]]) else 200000L
batch <- if (length(arguments) >= 2) as.integer(arguments[[2]]) else 256L

set.seed(1)
# Each column has as many strings as in the census, a few of them frequent.
words <- c(
  workclass = 9, education = 16, marital_status = 7, occupation = 15, relationship = 6, race = 5,
  gender = 2, native_country = 42
)
draw <- function(name) {
  n <- words[[name]]
  sprintf("%s %d", name, sample.int(n, rows, replace = TRUE, prob = 1 / seq_len(n)))
}
data <- lapply(stats::setNames(names(words), names(words)), draw)
data$age <- floor(stats::runif(rows, 17, 90))
data$education_num <- floor(stats::runif(rows, 1, 17))
data$capital_gain <- round(stats::rexp(rows, 1e-3))
data$capital_loss <- round(stats::rexp(rows, 1e-2))
data$hours_per_week <- floor(stats::runif(rows, 1, 99))
data <- as.data.frame(data)
numbers <- setdiff(names(data), names(words))
score <- (data$age - 40) / 20 + (data$education_num - 10) / 4 +
  (data$education == "education 1") + stats::rnorm(rows)
data$income <- ifelse(score > 0, ">50K", "<=50K")

hashed <- lapply(names(words), function(name) {
  column_categorical_with_hash_bucket(name, hash_bucket_size = 1000)
})
age_buckets <- column_bucketized(
  column_numeric("age"), c(18, 25, 30, 35, 40, 45, 50, 55, 60, 65)
)
crosses <- list(
  column_crossed(c("education", "occupation"), 1e4),
  column_crossed(list(age_buckets, "education", "occupation"), 1e5),
  column_crossed(c("native_country", "occupation"), 1e5)
)
wide <- c(hashed, list(age_buckets), crosses)
deep <- c(
  lapply(numbers, function(name) {
    column_numeric(name, normalizer_fn = function(x) x / 100)
  }),
  lapply(hashed, function(column) column_embedding(column, dimension = 8))
)
model <- dnn_linear_combined_classifier(
  model_dir = tempfile("bench"), linear_feature_columns = wide, dnn_feature_columns = deep,
  dnn_hidden_units = c(100L, 50L), n_classes = 2L, label_vocabulary = c("<=50K", ">50K"),
  config = run_config(
    tf_random_seed = 1, save_checkpoints_steps = 1e9, log_step_count_steps = NULL,
    save_summary_steps = 0
  )
)
input <- input_fn(
  data,
  features = tidyselect::all_of(c(names(words), numbers)), response = "income",
  batch_size = batch, num_epochs = NULL, shuffle = TRUE
)
timed <- function(steps, hooks = NULL) {
  system.time(train(model, input, steps = steps, hooks = hooks))[["elapsed"]]
}
invisible(timed(1))
steps <- rows %/% batch
pass <- function(threads) {
  options(runhooks.threads = threads)
  start <- timed(1)
  whole <- timed(steps)
  steps * batch / c(whole, whole - start)
}
rounds <- replicate(5, sapply(1:2, pass))
cat(sprintf("%d steps of %d rows, rows/s, median (best) of 5 rounds in turns:\n", steps, batch))
for (threads in 1:2) {
  x <- rounds[, threads, ]
  cat(sprintf(
    "  on %d thread%s: %.0f (%.0f), without start and end %.0f (%.0f)\n", threads,
    if (threads == 1) "" else "s", median(x[1, ]), max(x[1, ]), median(x[2, ]), max(x[2, ])
  ))
}
options(runhooks.threads = 1)

# The phases, from traces of every 20th step of another pass. Tracing makes operations somewhat
# slower.
folder <- tempfile("trace")
invisible(
  timed(min(steps, 400L), hooks = list(hook_profiler(save_steps = 20, output_dir = folder)))
)
phase_of <- function(name, type) {
  ifelse(type == "IteratorGetNext", "data in",
    ifelse(grepl("Apply|AssignAdd", type), "updates",
      ifelse(grepl("gradients", name), "backward",
        ifelse(grepl("Ids$|Hash|Lookup2", type), "hashing and columns",
          ifelse(grepl("FusedEmbedding", type), "look-ups", "forward")
        )
      )
    )
  )
}
files <- list.files(folder, "^timeline-.*json$", full.names = TRUE)
read <- function(file) {
  events <- jsonlite::fromJSON(file)$traceEvents
  events <- events[events$ph == "X", ]
  data.frame(
    name = events$args$name, phase = phase_of(events$args$name, events$name), type = events$name,
    us = events$dur
  )
}
# The minimum time of each operation, to exclude other load.
events <- do.call(rbind, lapply(files[-seq_len(2)], read))
events <- stats::aggregate(us ~ name + phase + type, events, min)
shares <- function(by) {
  sums <- sort(tapply(events$us, by, sum), decreasing = TRUE)
  data.frame(us_a_step = round(sums, 1), share = round(sums / sum(sums), 2))
}
cat("Phases of a step on one thread:\n")
print(shares(events$phase))
cat("The costliest kinds of operations:\n")
print(utils::head(shares(paste(events$phase, events$type)), 12))
