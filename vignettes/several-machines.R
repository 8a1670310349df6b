## ----setup, include = FALSE---------------------------------------------------
knitr::opts_chunk$set(collapse = TRUE, comment = "#>")
library(runhooks)

## ----script, eval = FALSE-----------------------------------------------------
#  # train.R
#  library(runhooks)
#  strategy <- mpi_strategy()
#  config <- run_config(
#    model_dir = "model", tf_random_seed = 1, save_checkpoints_steps = 100,
#    train_distribute = strategy
#  )
#  model <- dnn_regressor(
#    hidden_units = c(64, 32), config = config,
#    feature_columns = feature_columns(column_numeric("wt"), column_numeric("hp"))
#  )
#  history <- train(
#    model,
#    input_fn(
#      mtcars, features = c(wt, hp), response = mpg, batch_size = 16 / strategy$size, num_epochs = 50
#    )
#  )
#  if (strategy$is_chief) print(history)

## ----alone--------------------------------------------------------------------
mpi_strategy()
run_config(train_distribute = mpi_strategy())$num_worker_replicas

