library(runhooks)
cars_input <- function(data, ...)
  input_fn(data, response = "mpg", features = c("drat", "cyl"), batch_size = 8L, ...)
model <- linear_regressor(
  feature_columns = feature_columns(column_numeric("drat"), column_numeric("cyl")),
  optimizer = tf$train$AdamOptimizer(0.5)
)
history <- model |> train(
  cars_input(mtcars, num_epochs = 200),
  hooks = list(hook_progress_bar(), hook_history_saver(every_n_step = 40))
)
print(history); tail(as.data.frame(history), 2); plot(history)
CustomHook <- function() {
  count <- 0
  session_run_hook(
    before_run = function(context) session_run_args(loss = "loss"),
    after_run = function(context, values) {
      count <<- count + 1
      if (count == 1) cat("first loss:", values$results$loss, "\n")
    },
    end = function(session) cat("done after", count, "steps\n")
  )
}
model |> train(cars_input(mtcars), steps = 2, hooks = CustomHook())
model |> evaluate(cars_input(mtcars))
data.frame(mpg = mtcars$mpg, predict(model, newdata = mtcars))[1:5, ]
