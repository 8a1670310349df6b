# Peak memory of training a DNN: hidden units 1024 and 512, batches of 4,096, with the default hooks
# of train(), compared with a loop without hooks and with the weights and one batch alone. Each runs
# in a new process. Reads the kernel's peak (VmHWM), so this needs Linux.
#   Rscript bench/memory.R [steps]
# Another installed version, for a comparison at the same time:
#   R_LIBS=<its library> Rscript bench/memory.R [steps]
arguments <- commandArgs(TRUE)

peak_mb <- function() {
  lines <- readLines("/proc/self/status")
  kb <- as.numeric(gsub("\\D", "", grep("^VmHWM:", lines, value = TRUE)))
  kb / 1024
}

train_once <- function(what, steps) {
  library(runhooks)
  set.seed(1)
  rows <- 8192L
  data <- as.data.frame(matrix(runif(rows * 20), rows))
  data$y <- rowSums(data[1:3])
  input <- input_fn(
    data, response = "y", features = paste0("V", 1:20), batch_size = 4096L, num_epochs = NULL
  )
  config <- switch(what,
    "default hooks" = run_config(save_summary_steps = 100L, tf_random_seed = 1L),
    run_config(
      save_checkpoints_steps = 1e9, log_step_count_steps = NULL, save_summary_steps = 0,
      tf_random_seed = 1L
    )
  )
  columns <- lapply(paste0("V", 1:20), column_numeric)
  model <- dnn_regressor(
    feature_columns = columns, hidden_units = c(1024, 512), model_dir = tempfile("memory"),
    config = config
  )
  before <- peak_mb()
  if (what != "no training") train(model, input, steps = steps)
  cat(sprintf("%.1f %.1f\n", before, peak_mb()))
}

if (length(arguments) == 3 && arguments[[1]] == "--one") {
  train_once(arguments[[2]], as.integer(arguments[[3]]))
  quit(save = "no")
}

steps <- if (length(arguments) >= 1) arguments[[1]] else "210"
cat(sprintf("%-16s %12s %12s\n", "what", "peak, MB", "by training"))
for (what in c("no training", "no hooks", "default hooks")) {
  ran <- system2(
    file.path(R.home("bin"), "Rscript"), c("bench/memory.R", "--one", shQuote(what), steps),
    stdout = TRUE, stderr = FALSE
  )
  mb <- as.numeric(strsplit(tail(ran, 1), " ")[[1]])
  cat(sprintf("%-16s %12.0f %12.0f\n", what, mb[[2]], mb[[2]] - mb[[1]]))
}
