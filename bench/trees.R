# Boosted trees compared with xgboost (hist) and lightgbm, each in a new process on the same rows
# (28 generated numbers), including binning: seconds and processor time of training and of
# predicting a million rows, AUC on those, and peak memory above that of the data. Compare ratios
# within a run, because machines are noisy. Prints the minimum of the rounds.
#   Rscript bench/trees.R [rows] [rounds]
# RUNHOOKS_GBM_PYTHON names a Python with xgboost, lightgbm and numpy. `Rscript bench/trees.R growth`
# measures how time grows with rows, columns and trees.
arguments <- commandArgs(TRUE)

n_trees <- 100L
n_columns <- 28L

peak_mb <- function() {
  lines <- readLines("/proc/self/status")
  as.numeric(gsub("\\D", "", grep("^VmHWM:", lines, value = TRUE))) / 1024
}
# Resets the peak, if the kernel allows it.
forget_peak <- function() {
  try(suppressWarnings(cat("5", file = "/proc/self/clear_refs")), silent = TRUE)
  peak_mb()
}

made_rows <- function(rows, seed, columns = n_columns) {
  set.seed(seed)
  x <- lapply(seq_len(max(columns, 9L)), function(k) rnorm(rows))
  names(x) <- paste0("x", seq_along(x))
  z <- x$x1 * x$x2 + 0.7 * sin(2 * x$x3) + 0.5 * (abs(x$x4) > 1) + 0.4 * x$x5 * x$x6 * x$x7 +
    0.3 * x$x8 + 0.2 * x$x9^2 - 0.4
  x <- x[seq_len(columns)]
  x$y <- as.integer(runif(rows) < plogis(1.5 * z))
  as.data.frame(x)
}

auc <- function(y, score) {
  n1 <- as.numeric(sum(y))
  (sum(rank(score)[y == 1]) - n1 * (n1 + 1) / 2) / n1 / (length(y) - n1)
}

timed <- function(code) {
  took <- system.time(code)
  c(took[["elapsed"]], sum(took[c("user.self", "sys.self")]))
}

grow <- function(data, trees = n_trees) {
  features <- setdiff(names(data), "y")
  model <- boosted_trees_classifier(
    lapply(features, column_numeric), n_batches_per_layer = 1L, n_trees = trees, max_depth = 6L,
    learning_rate = 0.1, quantile_sketch_epsilon = 1 / 253, model_dir = tempfile("trees")
  )
  input <- input_fn(
    data, features = features, response = "y", batch_size = nrow(data), shuffle = FALSE,
    num_epochs = NULL
  )
  suppressWarnings(suppressMessages(train(model, input)))
  model
}

run_ours <- function(rows, test_rows) {
  suppressPackageStartupMessages(library(runhooks))
  options(runhooks.progress = FALSE, runhooks.threads = 2)
  data <- made_rows(rows, 1)
  new <- made_rows(test_rows, 2)
  # Excludes loading and compiling code.
  invisible(predict(grow(data[1:1000, ], 1L), newdata = new[1:10, ], type = "link"))
  invisible(gc())
  before <- forget_peak()
  trained <- timed(model <- grow(data))
  peak <- peak_mb() - before
  # One number per row, like the other libraries.
  predicted <- timed(answers <- predict(model, newdata = new, type = "link"))
  cat(trained, predicted, auc(new$y, answers[[1]]), peak, "\n")
}

python_script <- '
import sys, time, resource, numpy as np
which, train, test = sys.argv[1:4]
def read(path):
    a = np.fromfile(path, dtype=np.float32).reshape(29, -1)
    return np.ascontiguousarray(a[:28].T), a[28].copy()
x, y = read(train); new, label = read(test)
def peak(): return [int(l.split()[1]) / 1024 for l in open("/proc/self/status") if l.startswith("VmHWM")][0]
if which == "xgboost":
    import xgboost as lib
    options = dict(objective="binary:logistic", tree_method="hist", max_depth=6, eta=0.1, max_bin=256, nthread=2)
    grow = lambda x, y, n: lib.train(options, lib.QuantileDMatrix(x, label=y, max_bin=256, nthread=2), n)
    answer = lambda m, x: m.inplace_predict(x)
else:
    import lightgbm as lib
    options = dict(objective="binary", max_depth=6, num_leaves=64, learning_rate=0.1, max_bin=255, num_threads=2, verbose=-1)
    grow = lambda x, y, n: lib.train(options, lib.Dataset(x, y, params=options), n)
    answer = lambda m, x: m.predict(x, num_threads=2)
answer(grow(x[:1000], y[:1000], 1), new[:10])
try: open("/proc/self/clear_refs", "w").write("5")
except OSError: pass
before = peak(); t, c = time.time(), time.process_time()
m = grow(x, y, 100)
t1, c1 = time.time(), time.process_time(); above = peak() - before
p = answer(m, new)
t2, c2 = time.time(), time.process_time()
order = np.argsort(p, kind="stable"); rank = np.empty(len(p)); rank[order] = np.arange(1, len(p) + 1)
n1 = label.sum(dtype=float); auc = (rank[label == 1].sum() - n1 * (n1 + 1) / 2) / n1 / (len(p) - n1)
print(t1 - t, c1 - c, t2 - t1, c2 - c1, auc, above)
'

write_rows <- function(data, path) {
  file <- file(path, "wb")
  on.exit(close(file))
  for (column in data) writeBin(as.double(column), file, size = 4)
}

one_run <- function(what, rows, folder) {
  ran <- if (what == "runhooks") {
    system2(file.path(R.home("bin"), "Rscript"), c("bench/trees.R", "--one", rows), stdout = TRUE)
  } else {
    system2(
      Sys.getenv("RUNHOOKS_GBM_PYTHON"),
      c(file.path(folder, "peers.py"), what, file.path(folder, c("train", "test"))), stdout = TRUE
    )
  }
  as.numeric(strsplit(trimws(tail(ran, 1)), " +")[[1]])
}

test_rows <- 1e6

if (length(arguments) == 2 && arguments[[1]] == "--one") {
  run_ours(as.numeric(arguments[[2]]), test_rows)
  quit(save = "no")
}

growth <- function() {
  suppressPackageStartupMessages(library(runhooks))
  options(runhooks.progress = FALSE, runhooks.threads = 2)
  show <- function(what, sizes, made, trees = function(size) 10L) {
    seconds <- vapply(sizes, function(size) {
      data <- made(size)
      min(vapply(1:2, function(i) timed(grow(data, trees(size)))[[2]], 0))
    }, 0)
    each <- seconds / sizes
    cat(sprintf("%-8s %9.0f: %7.2f s of the processor, %5.2f x linear\n", what, sizes, seconds,
      each / each[[1]]), sep = "")
  }
  show("rows", c(50000, 500000, 5e6), function(n) made_rows(n, 1))
  show("columns", c(10, 100, 1000), function(p) made_rows(20000, 1, p))
  show("trees", c(6, 60, 600), function(n) made_rows(50000, 1), as.integer)
}

if (identical(arguments, "growth")) {
  growth()
  quit(save = "no")
}

rows <- if (length(arguments) >= 1) as.numeric(arguments[[1]]) else 500000
rounds <- if (length(arguments) >= 2) as.integer(arguments[[2]]) else 3L
folder <- tempfile("trees")
dir.create(folder)
sides <- "runhooks"
if (nzchar(Sys.getenv("RUNHOOKS_GBM_PYTHON"))) {
  write_rows(made_rows(rows, 1), file.path(folder, "train"))
  write_rows(made_rows(test_rows, 2), file.path(folder, "test"))
  writeLines(python_script, file.path(folder, "peers.py"))
  sides <- c(sides, "xgboost", "lightgbm")
}
figures <- list()
for (round in seq_len(rounds)) {
  for (side in sides) figures[[side]] <- rbind(figures[[side]], one_run(side, rows, folder))
}
cat(sprintf(
  "%-10s %10s %10s %12s %12s %8s %10s\n", "", "train, s", "processor", "predict, s", "processor", "AUC",
  "memory, MB"
))
for (side in sides) {
  best <- apply(figures[[side]], 2, min)
  cat(sprintf("%-10s %10.2f %10.2f %12.2f %12.2f %8.4f %10.0f\n", side, best[[1]], best[[2]], best[[3]],
    best[[4]], best[[5]], best[[6]]))
}
unlink(folder, recursive = TRUE)
