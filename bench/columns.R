# Costs of many numeric columns: constructing a linear model and its first step (of 500, and of
# 1,000 in a process that has trained before), and a step, compared with one matrix of the same
# size. Processor time, one thread. Compares one or more libraries: fresh processes in turn,
# medians.
#   Rscript bench/columns.R [library] [more libraries] [rounds]
arguments <- commandArgs(TRUE)

# --- a child process: prints milliseconds to the first step and microseconds per step on one line
child <- function(kind, columns = if (kind == "wide") 1000L else 500L, steps = 1500L) {
  suppressMessages(library(runhooks))
  options(runhooks.threads = 1L, runhooks.progress = FALSE)
  set.seed(1)
  x <- matrix(runif(5000 * columns), 5000)
  y <- runif(5000)
  words <- paste0("x", seq_len(columns))
  data <- data.frame(x, y)
  names(data) <- c(words, "y")
  of_matrix <- function() {
    rows <- dataset_shuffle(tensor_slices_dataset(list(list(x = x), y)), 5000)
    dataset_batch(dataset_repeat(rows), 128)
  }
  if (kind == "wide") {
    # Excludes work that happens once per process.
    small <- linear_regressor(list(column_numeric("x1")), model_dir = tempfile("small"))
    rows <- input_fn(data[1:100, ], features = "x1", response = "y", num_epochs = NULL)
    suppressMessages(train(small, rows, steps = 1))
    steps <- 100L
  }
  used <- function(...) sum(proc.time()[c("user.self", "sys.self")])
  before <- used()
  one <- kind == "matrix"
  made <- if (one) list(column_numeric("x", shape = columns)) else lapply(words, column_numeric)
  model <- if (kind == "network") {
    dnn_regressor(32L, feature_columns = made, model_dir = tempfile("bench"))
  } else {
    linear_regressor(feature_columns = made, model_dir = tempfile("bench"))
  }
  input <- if (one) {
    of_matrix
  } else {
    input_fn(data, features = words, response = "y", batch_size = 128, num_epochs = NULL)
  }
  trained <- function(steps) suppressMessages(train(model, input, steps = steps))
  trained(1)
  first <- used() - before
  again <- used()
  trained(1)
  again <- used() - again
  many <- used()
  trained(1 + steps)
  many <- used() - many
  cat("figures", 1000 * first, 1e6 * (many - again) / steps, "\n")
}
if (length(arguments) > 1 && arguments[[1]] == "child") {
  child(arguments[[2]])
  quit()
}

numbers <- suppressWarnings(as.integer(arguments))
rounds <- c(numbers[!is.na(numbers)], 3L)[[1]]
libraries <- arguments[is.na(numbers)]
if (length(libraries) == 0) libraries <- .libPaths()[[1]]
script <- sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE))
measured <- function(library, kind) {
  rscript <- file.path(R.home("bin"), "Rscript")
  output <- system2(
    rscript, c(script, "child", kind),
    stdout = TRUE, stderr = FALSE, env = paste0("R_LIBS=", library)
  )
  line <- strsplit(grep("^figures", output, value = TRUE), " ")[[1]]
  as.numeric(line[2:3])
}
kinds <- c(
  wide = "1,000 columns, linear", linear = "500 columns, linear",
  network = "500 columns, 32 units", matrix = "one matrix"
)
for (kind in names(kinds)) {
  runs <- lapply(seq_len(rounds), function(i) {
    vapply(libraries, measured, numeric(2), kind = kind)
  })
  for (library in libraries) {
    of_it <- vapply(runs, function(run) run[, library], numeric(2))
    cat(sprintf(
      "%-22s %-30s %5.0f ms to the first step, %4.0f us a step (%.0f to %.0f)\n", kinds[[kind]],
      library, stats::median(of_it[1, ]), stats::median(of_it[2, ]),
      min(of_it[2, ]), max(of_it[2, ])
    ))
  }
}
