# Cases of bench/waits.R around training steps.

lines <- list(
  "start of R to the first step, ms" = line("ms", "R that does nothing", "1.7 times", function() {
    step <- paste(
      "library(runhooks);",
      "model <- linear_regressor(feature_columns(column_numeric('drat'), column_numeric('cyl')));",
      "train(model, input_fn(mtcars, c('drat', 'cyl'), 'mpg', batch_size = 8L), steps = 1)"
    )
    figures(1000 * seconds_of_r(step), 1000 * seconds_of_r("NULL"))
  }),
  "memory once loaded" = line("MB", "R that does nothing", "70", function() {
    figures(memory_of_r("library(runhooks)"), memory_of_r("NULL"))
  }),
  "the first train() of a formula, mtcars" = line("ms", "lm()", "40", function() {
    model <- linear_regressor(mpg ~ wt + hp, data = mtcars)
    figures(1000 * clock(train(model)), 1000 * clock(stats::lm(mpg ~ wt + hp, data = mtcars)))
  }),
  "predict(newdata = one row), 10 columns" = line("ms", "predict.glm()", "1 time", function() {
    model <- linear_regressor(mpg ~ ., data = mtcars)
    train(model, steps = 50)
    peer <- stats::glm(mpg ~ ., data = mtcars)
    row <- mtcars[1, ]
    figures(
      ms_of(function() predict(model, newdata = row), 500),
      ms_of(function() stats::predict(peer, newdata = row), 500)
    )
  }),
  "the first predict() of a model" = line("ms", "", "5", function() {
    model <- linear_regressor(mpg ~ ., data = mtcars)
    train(model, steps = 50)
    predict(model, newdata = mtcars[1, ]) # loads code that is needed once
    other <- linear_regressor(mpg ~ wt + hp, data = mtcars)
    train(other, steps = 50)
    figures(1000 * clock(predict(other, newdata = mtcars[1, ])))
  }),
  "evaluate() of 150 rows" = line("ms", "", "1", function() {
    model <- linear_classifier(feature_columns(column_numeric("Sepal.Length")), n_classes = 3)
    input <- input_fn(iris, features = "Sepal.Length", response = "Species")
    train(model, input, steps = 5)
    figures(ms_of(function() evaluate(model, input), 60))
  }),
  "a loaded SavedModel, one row" = line("ms", "predict.glm()", "0.04 ms", function() {
    made <- wide_and_deep(1000)
    train(made$model, made$input, steps = 2)
    loaded <- load_savedmodel(export_savedmodel(made$model, tempfile()))
    data <- as.data.frame(c(
      stats::setNames(rep(list("v1"), 8), paste0("w", 1:8)),
      stats::setNames(as.list(1:5 / 5), paste0("n", 1:5))
    ))
    peer <- stats::glm(mpg ~ ., data = mtcars)
    figures(
      ms_of(function() predict(loaded, data, "predict"), 500),
      ms_of(function() stats::predict(peer, newdata = mtcars[1, ]), 500)
    )
  }),
  "60,000 x 10 classes as R lists" = line("rows/s", "", "500,000", function() {
    model <- linear_classifier(feature_columns(column_numeric("x")), n_classes = 10)
    data <- data.frame(x = stats::runif(60000), y = rep_len(0:9, 60000))
    train(model, input_fn(data, "x", "y"), steps = 1)
    input <- input_fn(data["x"], features = "x")
    predict(model, input)
    figures(60000 / clock(predict(model, input)))
  }),
  "memory of W3 beyond its data (frame of 784 columns)" = line("MB", "the data", "100", function() {
    data <- numeric_frame(60000, 784)
    data$y <- sample(0:9, 60000, TRUE)
    columns <- lapply(setdiff(names(data), "y"), column_numeric)
    model <- dnn_classifier(c(256, 128), feature_columns = columns, n_classes = 10, config = quiet())
    input <- input_fn(data, features = setdiff(names(data), "y"), response = "y")
    figures(training_memory(model, input), as.numeric(utils::object.size(data)) / 2^20)
  }),
  "a hook that stores a loss" = line("us a step", "its closures", "1.25 times", function() {
    floor_of()
    hook <- step_hook()
    values <- list(results = list(loss = 1), options = NULL, run_metadata = NULL)
    closures <- clock(call_hook(hook$before_run, hook$after_run, new.env(), values, 1e5)) / 1e5
    figures(1e6 / steps_a_second(of_cars(), cars(), 99000, step_hook()), 1e6 * closures)
  }),
  "five such hooks" = line("steps/s", "", "45,000", function() {
    figures(steps_a_second(of_cars(), cars(), 40000, replicate(5, step_hook(), simplify = FALSE)))
  }),
  "all built-in hooks" = line("steps/s", "no hook", "800,000", function() {
    hooks <- list(
      hook_history_saver(), hook_stop_at_step(last_step = 1e9),
      hook_nan_tensor("linear/head/weighted_loss/Sum:0"),
      hook_step_counter(output_dir = tempfile()), hook_checkpoint_saver(tempfile(), save_secs = 600),
      hook_logging_tensor(list(loss = "linear/head/weighted_loss/Sum:0"), every_n_secs = 600)
    )
    figures(
      steps_a_second(of_cars(), cars(), 3e5, hooks), steps_a_second(of_cars(), cars(), 3e5)
    )
  })
)
