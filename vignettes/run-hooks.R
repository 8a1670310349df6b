## ---- include = FALSE---------------------------------------------------------
knitr::opts_chunk$set(collapse = TRUE, comment = "#>", fig.width = 6.5, fig.height = 3.5)
set.seed(1)

## -----------------------------------------------------------------------------
library(runhooks)

## -----------------------------------------------------------------------------
cars_input <- function(data, ...) {
  input_fn(data, response = "mpg", features = c("drat", "cyl"), batch_size = 8, ...)
}
standardized <- function(name) {
  values <- mtcars[[name]]
  column_numeric(name, normalizer_fn = function(x) (x - mean(values)) / sd(values))
}
new_model <- function(...) {
  linear_regressor(
    feature_columns(standardized("drat"), standardized("cyl")),
    optimizer = tf$train$AdamOptimizer(0.5), ...
  )
}

## -----------------------------------------------------------------------------
model <- new_model()
history <- model %>% train(
  cars_input(mtcars, num_epochs = 20),
  hooks = list(
    hook_history_saver(every_n_step = 4),
    hook_logging_tensor(
      list(loss = "loss", bias = "linear/linear_model/bias_weights:0"),
      every_n_iter = 20
    )
  )
)

## ---- fig.alt = "The losses of the run over its steps"------------------------
history
head(as.data.frame(history))
plot(history)

## -----------------------------------------------------------------------------
halve <- hook_learning_rate(function(epoch, rate) rate * 0.5^(epoch - 1))
history <- new_model() %>% train(
  cars_input(mtcars, num_epochs = 3),
  hooks = list(halve, hook_history_saver(every_n_step = 4, tensors = "learning_rate"))
)
history$losses$learning_rate

## -----------------------------------------------------------------------------
model <- new_model()
history <- model %>% train(
  cars_input(mtcars[1:24, ], num_epochs = NULL),
  steps = 5000,
  validation = cars_input(mtcars[25:32, ]),
  stop = early_stopping("average_loss", patience = 500)
)
tail(history$validation, 3)

## -----------------------------------------------------------------------------
hook_bias_path <- function() {
  steps <- 0
  path <- numeric()
  session_run_hook(
    before_run = function(context) {
      session_run_args(bias = "linear/linear_model/bias_weights:0")
    },
    after_run = function(context, values) {
      steps <<- steps + 1
      path[[steps]] <<- values$results$bias
    },
    end = function(session) {
      cat("The bias after", steps, "steps:", format(tail(path, 1), digits = 4), "\n")
    }
  )
}
model <- new_model()
history <- model %>% train(cars_input(mtcars, num_epochs = 20), hooks = hook_bias_path())

## -----------------------------------------------------------------------------
hook_show_losses <- function() {
  session_run_hook(
    before_run = function(context) {
      graph <- context$session$graph
      session_run_args(
        losses = graph$get_collection("losses"),
        step = graph$get_tensor_by_name("global_step:0")
      )
    },
    after_run = function(context, values) str(values$results)
  )
}
history <- model %>% train(cars_input(mtcars), steps = 1, hooks = hook_show_losses())

## -----------------------------------------------------------------------------
hook_rmse <- function() {
  rmse <- NULL
  session_run_hook(
    begin = function() {
      graph <- tf$get_default_graph()
      sum_of_squares <- graph$get_tensor_by_name("linear/head/weighted_loss/Sum:0")
      rmse <<- tf$sqrt(sum_of_squares / 8)
    },
    before_run = function(context) session_run_args(rmse = rmse),
    after_run = function(context, values) cat("RMSE of the batch:", values$results$rmse, "\n")
  )
}
history <- model %>% train(cars_input(mtcars), steps = 2, hooks = hook_rmse())

## -----------------------------------------------------------------------------
hook_patience <- function(patience) {
  best <- Inf
  waited <- 0
  session_run_hook(
    before_run = function(context) session_run_args(loss = "loss"),
    after_run = function(context, values) {
      waited <<- if (values$results$loss < best) 0 else waited + 1
      best <<- min(best, values$results$loss)
      if (waited >= patience) {
        cat("no better than", format(best, digits = 4), "for", patience, "steps\n")
        context$request_stop()
      }
    }
  )
}
model <- new_model()
history <- model %>% train(cars_input(mtcars, num_epochs = NULL), hooks = hook_patience(10))

## -----------------------------------------------------------------------------
count_batches <- function() {
  n <- 0
  session_run_hook(
    after_run = function(context, values) n <<- n + 1,
    end = function(session) cat(n, "batches\n")
  )
}
model %>% evaluate(cars_input(mtcars), hooks = count_batches())
predictions <- model %>% predict(cars_input(mtcars), hooks = count_batches())
head(unlist(predictions$predictions))

## -----------------------------------------------------------------------------
hook_csv_logger <- function(file) {
  epoch <- 1
  losses <- numeric()
  write_epoch <- function() {
    line <- sprintf("%d,%.4f", epoch, mean(losses))
    cat(line, "\n", file = file, append = TRUE, sep = "")
    losses <<- numeric()
  }
  session_run_hook(
    begin = function() cat("epoch,loss\n", file = file),
    before_run = function(context) session_run_args(loss = "loss"),
    after_run = function(context, values) {
      if (context$epoch != epoch) {
        write_epoch()
        epoch <<- context$epoch
      }
      losses <<- c(losses, values$results$loss)
    },
    end = function(session) write_epoch()
  )
}
log_file <- tempfile(fileext = ".csv")
history <- new_model() %>%
  train(cars_input(mtcars, num_epochs = 5), hooks = hook_csv_logger(log_file))
read.csv(log_file)

## -----------------------------------------------------------------------------
model <- new_model()
history <- model %>% train(
  cars_input(mtcars[1:24, ], num_epochs = NULL),
  steps = 5000,
  validation = cars_input(mtcars[25:32, ]),
  stop = early_stopping("average_loss", patience = 600),
  hooks = hook_learning_rate(reduce_on_plateau("average_loss", factor = 0.2, patience = 200))
)
tail(history$validation, 2)

## -----------------------------------------------------------------------------
careless <- session_run_hook(
  after_run = function(context, values) {
    rlang::abort("the disk is full", class = "disk_full", free = 0)
  }
)
caught <- tryCatch(
  new_model() %>% train(cars_input(mtcars), steps = 5, hooks = careless),
  disk_full = function(condition) condition
)
cat(conditionMessage(caught))
caught$free
str(caught$runhooks)

## -----------------------------------------------------------------------------
folder <- tempfile("cars")
model <- new_model(model_dir = folder, config = run_config(save_checkpoints_steps = 10))
fail_at <- function(step) {
  n <- 0
  session_run_hook(after_run = function(context, values) {
    n <<- n + 1
    if (n == step) stop("killed at step ", n)
  })
}
try(model %>% train(cars_input(mtcars, num_epochs = NULL), max_steps = 50, hooks = fail_at(25)))
basename(latest_checkpoint(folder))
model %>% train(cars_input(mtcars, num_epochs = NULL), max_steps = 50)
variable_value(model, "global_step")

## ---- include = FALSE---------------------------------------------------------
unlink(folder, recursive = TRUE)

