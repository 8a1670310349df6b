## ---- include = FALSE---------------------------------------------------------
knitr::opts_chunk$set(collapse = TRUE, comment = "#>", fig.width = 6.5, fig.height = 3.5)
options(runhooks.progress = FALSE)
set.seed(1)

## -----------------------------------------------------------------------------
library(runhooks)

mtcars_input_fn <- function(data, num_epochs = 1) {
  input_fn(
    data, features = c("disp", "cyl"), response = "mpg", batch_size = 32, num_epochs = num_epochs
  )
}
cols <- feature_columns(column_numeric("disp"), column_numeric("cyl"))
model <- linear_regressor(feature_columns = cols)
indices <- sample(1:nrow(mtcars), size = 0.80 * nrow(mtcars))
train <- mtcars[indices, ]
test <- mtcars[-indices, ]
model %>% train(mtcars_input_fn(train, num_epochs = 10))
model %>% evaluate(mtcars_input_fn(test))
model %>% predict(mtcars_input_fn(test))

## -----------------------------------------------------------------------------
normalized <- function(name) {
  column_numeric(name, normalizer_fn = function(x) (x - mean(train[[name]])) / sd(train[[name]]))
}
model <- linear_regressor(
  feature_columns(normalized("disp"), normalized("cyl")), optimizer = tf$train$AdamOptimizer(0.5)
)
model %>% train(mtcars_input_fn(train, num_epochs = 300))
sqrt(evaluate(model, mtcars_input_fn(test))$average_loss)

## -----------------------------------------------------------------------------
model <- linear_regressor(mpg ~ disp + cyl, train)
model %>% train()
sqrt(evaluate(model, test)$average_loss)
sqrt(mean((test$mpg - predict(lm(mpg ~ disp + cyl, train), test))^2))

## -----------------------------------------------------------------------------
hook_seen <- function() {
  count <- 0
  session_run_hook(
    before_run = function(context) {
      session_run_args(losses = context$session$graph$get_collection("losses"))
    },
    after_run = function(context, values) count <<- count + 1,
    end = function(session) cat("seen:", count, "steps\n")
  )
}
model %>% train(steps = 5, hooks = list(hook_seen()))

## ---- error = TRUE------------------------------------------------------------
fails <- session_run_hook(after_run = function(context, values) no_such_thing)
model %>% train(steps = 5, hooks = fails)

## -----------------------------------------------------------------------------
simple_model <- function(features, labels, mode, params, config) {
  net <- tf$layers$dense(features, 1L)
  predictions <- tf$squeeze(net, 1L)
  if (mode == "infer") return(estimator_spec(mode, predictions = list(mpg = predictions)))
  loss <- tf$losses$mean_squared_error(labels, predictions)
  optimizer <- tf$train$AdamOptimizer(params$learning_rate)
  train_op <- optimizer$minimize(loss, global_step = tf$train$get_global_step())
  estimator_spec(mode, loss = loss, train_op = train_op)
}
scaled <- data.frame(scale(mtcars[c("disp", "cyl")]), mpg = mtcars$mpg)
input <- function(num_epochs) {
  input_fn(
    scaled, features = c(disp, cyl), response = mpg, batch_size = 32, num_epochs = num_epochs
  )
}
model <- estimator(simple_model, params = list(learning_rate = 0.5))
model %>% train(input(400))
c(here = evaluate(model, input(1))$loss, lm = mean(resid(lm(mpg ~ disp + cyl, mtcars))^2))

