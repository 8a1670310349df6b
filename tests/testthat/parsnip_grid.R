# Tunes a network with a folder for each fit, for test-suite_parsnip_kills.R: 10 candidates and 4 folds, so
# 40 fits. Arguments: the model directory, and the file for the metrics.
args <- commandArgs(TRUE)
suppressPackageStartupMessages({
  library(runhooks)
  library(parsnip)
})
spec <- set_engine(
  mlp("regression", hidden_units = tune::tune(), epochs = tune::tune(), dropout = 0.1),
  "runhooks", model_dir = args[[1]], seed = 1, optimizer = "Adam"
)
flow <- workflows::workflow(mpg ~ wt + hp, spec)
set.seed(1)
folds <- rsample::vfold_cv(mtcars, v = 4)
grid <- expand.grid(hidden_units = 2:6, epochs = c(100, 200))
tuned <- tune::tune_grid(
  flow, folds, grid = grid, metrics = yardstick::metric_set(yardstick::rmse)
)
saveRDS(tune::collect_metrics(tuned, summarize = FALSE), args[[2]])
