## ---- include = FALSE---------------------------------------------------------
knitr::opts_chunk$set(collapse = TRUE, comment = "#>", fig.width = 6.5, fig.height = 3.5)
options(runhooks.progress = FALSE)
set.seed(1)

## -----------------------------------------------------------------------------
library(runhooks)
cars <- data.frame(scale(mtcars[c("wt", "hp")]), mpg = mtcars$mpg)
cars_input <- function(...) input_fn(mpg ~ wt + hp, cars, batch_size = 16, ...)
folder <- file.path(tempfile("models"), "cars")
new_model <- function(...) {
  linear_regressor(
    feature_columns(column_numeric("wt"), column_numeric("hp")),
    optimizer = tf$train$AdamOptimizer(0.2), model_dir = folder, ...
  )
}

## -----------------------------------------------------------------------------
model <- new_model(config = run_config(save_checkpoints_steps = 100, keep_checkpoint_max = 3))
train(model, cars_input(num_epochs = NULL), steps = 500)
list.files(folder)
basename(latest_checkpoint(folder))

## -----------------------------------------------------------------------------
again <- new_model()
train(again, cars_input(num_epochs = NULL), max_steps = 600)
again

## ---- error = TRUE------------------------------------------------------------
deep <- dnn_regressor(8, column_numeric("wt"), model_dir = folder)
train(deep, cars_input())

## -----------------------------------------------------------------------------
variable_names(model)
unlist(variable_value(model, grep("weights$|global_step", variable_names(model), value = TRUE)))
coef(lm(mpg ~ wt + hp, cars))

## -----------------------------------------------------------------------------
evaluate(model, cars_input(), checkpoint_path = file.path(folder, "model.ckpt-500"))

## -----------------------------------------------------------------------------
cars$qsec <- as.vector(scale(mtcars$qsec))
warm <- linear_regressor(
  feature_columns(column_numeric("wt"), column_numeric("hp"), column_numeric("qsec")),
  optimizer = tf$train$AdamOptimizer(0.2),
  warm_start_from = warm_start_settings(folder, vars_to_warm_start = ".*(wt|hp|bias).*")
)
history <- train(warm, input_fn(mpg ~ wt + hp + qsec, cars, num_epochs = 1))
history

## -----------------------------------------------------------------------------
saved <- character()
listener <- checkpoint_saver_listener(
  after_save = function(session, global_step) saved <<- c(saved, format(global_step))
)
train(model, cars_input(num_epochs = NULL), steps = 200, saving_listeners = listener)
saved

## -----------------------------------------------------------------------------
file <- tempfile(fileext = ".rds")
saveRDS(warm, file)
predict(readRDS(file), newdata = cars[1:2, ])

## -----------------------------------------------------------------------------
events <- read_events(folder)
table(events$tag)

## -----------------------------------------------------------------------------
model_fn <- function(features, labels, mode) {
  output <- tf$squeeze(tf$layers$dense(features, 1L), 1L)
  if (mode == "infer") return(estimator_spec(mode, predictions = output))
  loss <- tf$losses$mean_squared_error(labels, output)
  tf$summary$scalar("largest_error", tf$reduce_max(tf$abs(output - labels)))
  tf$summary$histogram("errors", output - labels)
  optimizer <- tf$train$AdamOptimizer(0.2)
  estimator_spec(mode, loss = loss, train_op = optimizer$minimize(loss, tf$train$get_global_step()))
}
own <- estimator(model_fn, config = run_config(save_summary_steps = 20))
train(own, cars_input(num_epochs = NULL), steps = 400)
errors <- subset(read_events(model_dir(own)), tag == "largest_error")
plot(value ~ step, errors, type = "b", log = "y", ylab = "largest error of a batch, mpg")

## -----------------------------------------------------------------------------
run_history(folder)[c("from_step", "to_step", "rows", "why")]

## -----------------------------------------------------------------------------
timelines <- tempfile("timelines")
train(model, cars_input(num_epochs = NULL), steps = 50,
  hooks = hook_profiler(save_steps = 25, output_dir = timelines))
list.files(timelines)

## ---- include = FALSE---------------------------------------------------------
unlink(c(dirname(folder), timelines), recursive = TRUE)

