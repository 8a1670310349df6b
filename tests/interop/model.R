# A run in three parts: 10 steps here, 10 in TensorFlow (model.py), 10 here. The results of each
# part are passed on as JSON and compared with a run of 30 steps.
#   Rscript tests/interop/model.R begin|end FOLDER
library(runhooks)

arguments <- commandArgs(TRUE)
folder <- arguments[[2]]
shared <- file.path(folder, "shared")
input <- function(...) {
  input_fn(
    mtcars, features = c("drat", "cyl"), response = "mpg", batch_size = 8, shuffle = FALSE,
    resume = FALSE, ...
  )
}
new_model <- function(model_dir) {
  linear_regressor(
    feature_columns(column_numeric("drat"), column_numeric("cyl")), model_dir = model_dir,
    optimizer = tf$train$AdamOptimizer(learning_rate = 0.1), config = run_config(tf_random_seed = 1)
  )
}
# The losses of ten steps.
train_ten <- function(model) {
  losses <- numeric()
  keep <- session_run_hook(
    before_run = function(context) session_run_args("linear/head/weighted_loss/Sum:0"),
    after_run = function(context, values) losses <<- c(losses, values$results[[1]])
  )
  profile <- hook_profiler(save_steps = 9, output_dir = file.path(model_dir(model), "profile"))
  hooks <- list(keep, profile)
  utils::capture.output(train(model, input(num_epochs = NULL), steps = 10, hooks = hooks))
  losses
}
values_of <- function(model) {
  names <- variable_names(model)
  lapply(stats::setNames(nm = names), function(name) as.vector(variable_value(model, name)[[1]]))
}
write_json <- function(x, name) {
  jsonlite::write_json(x, file.path(folder, name), digits = NA, auto_unbox = FALSE)
}
read_json <- function(name) jsonlite::fromJSON(file.path(folder, name))

compare <- function(what, actual, expected) {
  actual <- unlist(actual)
  expected <- unlist(expected)
  error <- max(abs(actual - expected) / pmax(abs(expected), 1e-3))
  good <- length(actual) == length(expected) && is.finite(error) && error <= 1e-5
  verdict <- if (good) "ok     " else "FAILED "
  cat(sprintf("%s %s (largest relative error %.1e)\n", verdict, what, error))
  good
}

if (arguments[[1]] == "begin") {
  whole <- new_model(file.path(folder, "whole"))
  for (part in 1:3) {
    losses <- train_ten(whole)
    write_json(list(losses = losses, variables = values_of(whole)), sprintf("part%d.json", part))
    if (part == 1) {
      dir.create(shared)
      files <- list.files(model_dir(whole), full.names = TRUE)
      invisible(file.copy(files[!dir.exists(files)], shared))
      metrics <- evaluate(whole, input(), simplify = FALSE)
      predictions <- unlist(predict(whole, input(), simplify = FALSE))
      write_json(list(metrics = metrics, predictions = predictions), "outputs.json")
    }
  }
  events <- lapply(c(logs = "logs", eval = "eval"), function(name) {
    as.list(read_events(file.path(model_dir(whole), name)))
  })
  write_json(events, "events.json")
} else {
  shared_model <- new_model(shared)
  written <- read_json("part2.json")$variables
  expected <- read_json("part3.json")
  good <- c(
    compare(
      "variables and slots that TensorFlow wrote", values_of(shared_model)[names(written)], written
    ),
    compare("losses after TensorFlow's checkpoint", train_ten(shared_model), expected$losses),
    compare("variables at step 30", values_of(shared_model), expected$variables)
  )
  quit(save = "no", status = as.integer(!all(good)))
}
