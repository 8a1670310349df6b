# A training that runs until the parent stops it: Rscript run_child.R folder
library(runhooks)
folder <- commandArgs(TRUE)[[1]]
model <- linear_regressor(
  feature_columns(column_numeric("drat"), column_numeric("cyl")), model_dir = folder,
  config = run_config(tf_random_seed = 1, save_checkpoints_steps = 10)
)
input <- input_fn(
  mtcars, response = "mpg", features = c("drat", "cyl"), batch_size = 8, num_epochs = NULL
)
slow <- session_run_hook(after_run = function(context, values) {
  runs <<- runs + 1
  if (runs == 20) {
    cat("training\n")
    flush(stdout())
  }
  Sys.sleep(0.005)
})
runs <- 0
tryCatch(
  train(model, input, hooks = list(slow = slow)),
  interrupt = function(condition) cat("interrupted\n")
)
cat("done\n")
