# A training that can be killed and restarted at any moment: Rscript kill_child.R folder steps kind,
# where kind is "deep" or "trees".

library(runhooks)
args <- commandArgs(TRUE)
folder <- args[[1]]
# A resumed run must take its random numbers from the checkpoint.
set.seed(if (is.null(latest_checkpoint(folder))) 1 else Sys.getpid())

n <- 60
x <- matrix(sin(seq_len(3 * n)), n)
data <- tensor_slices_dataset(list(x = x, y = cos(seq_len(n)))) %>%
  dataset_map(function(record) {
    record$x <- record$x + tf$cast(tf$random_normal(3L, stddev = 0.1), "float64")
    record
  }) %>%
  dataset_shuffle(40) %>%
  dataset_repeat() %>%
  dataset_batch(8) %>%
  dataset_prefetch(2)
config <- run_config(save_checkpoints_steps = 5, checkpoint_input_pipeline = TRUE)
column <- column_numeric("x", shape = 3)
model <- if (args[[3]] == "trees") {
  # With 3 batches per layer, most checkpoints are saved within a layer of a tree.
  boosted_trees_regressor(
    column, n_batches_per_layer = 3, model_dir = folder, n_trees = 1e4, max_depth = 3,
    learning_rate = 0.01, config = config
  )
} else {
  dnn_regressor(
    c(16, 8), column, model_dir = folder, optimizer = "Adam", dropout = 0.3, config = config
  )
}
# Delays the training, so that it can be killed while it runs.
slow <- session_run_hook(
  after_create_session = function(session, coord) {
    cat("training\n")
    flush(stdout())
  },
  after_run = function(context, values) Sys.sleep(0.002)
)
train(model, input_fn(data, x, y), max_steps = as.numeric(args[[2]]), hooks = slow)
cat("done\n")
