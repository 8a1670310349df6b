library(runhooks)
mtcars_input_fn <- function(data, ...)
  input_fn(data, response = "mpg", features = c("drat", "cyl"), batch_size = 8L, ...)
model <- linear_regressor(
  feature_columns = feature_columns(column_numeric("drat"), column_numeric("cyl"))
)
history <- model %>% train(
  mtcars_input_fn(mtcars), hooks = list(hook_progress_bar(), hook_history_saver(every_n_step = 2))
)
print(history); as.data.frame(history); plot(history)
CustomHook <- function() {
  .iter_count <- 0
  session_run_hook(
    before_run = function(context) session_run_args(
      losses = context$session$graph$get_collection("losses")
    ),
    after_run  = function(context, values) {
      .iter_count <<- .iter_count + 1
      if (.iter_count == 1) cat("first loss:", values$results$losses[[1]], "\n")
    },
    end = function(session) cat("done after", .iter_count, "steps\n"))
}
model %>% train(mtcars_input_fn(mtcars), steps = 2, hooks = CustomHook())
model %>% evaluate(mtcars_input_fn(mtcars, num_epochs = 1))
model %>% predict(mtcars_input_fn(mtcars))
