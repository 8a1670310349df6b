# An estimator object is plain data; its state is in the checkpoint.

test_that("a model in a temporary folder survives saveRDS() with its checkpoint", {
  model <- linear_regressor(feature_columns(column_numeric("drat"), column_numeric("cyl")))
  train(model, mtcars_input(), steps = 3)
  expected <- predict(model, mtcars_input(), simplify = FALSE)
  path <- withr::local_tempfile()
  saveRDS(model, path)
  script <- sprintf("
    library(runhooks)
    model <- readRDS('%s')
    input <- input_fn(mtcars, features = c('drat', 'cyl'), response = 'mpg', batch_size = 8)
    predictions <- unlist(predict(model, input, simplify = FALSE))
    train(model, input, steps = 1)
    cat(variable_value(model, 'global_step')[[1]], sprintf('%%.9g', predictions))
  ", path)
  folder <- model_dir(model)
  hidden <- paste0(folder, "-hidden") # as if this process had ended
  file.rename(folder, hidden)
  withr::defer(unlink(hidden, recursive = TRUE))
  output <- processx::run(child_rscript(), c("-e", script), env = child_env())$stdout
  numbers <- as.numeric(strsplit(trimws(output), " ")[[1]])
  expect_equal(numbers[[1]], 4)
  expect_equal(numbers[-1], unlist(expected, use.names = FALSE), tolerance = 1e-7)
})

test_that("a model works in forked and in new processes", {
  model <- mtcars_model()
  train(model, mtcars_input(), steps = 3)
  expected <- unlist(predict(model, mtcars_input(), simplify = FALSE))
  skip_on_os("windows") # no fork() there
  forked <- in_forks(2, function(i) unlist(predict(model, mtcars_input(), simplify = FALSE)))
  expect_identical(forked, list(expected, expected))
})

test_that("the object does not contain the training data", {
  model <- linear_regressor(column_numeric("x"))
  data <- data.frame(x = rnorm(1e5), y = rnorm(1e5))
  train(model, input_fn(data, features = "x", response = "y", batch_size = 1000), steps = 2)
  expect_lt(length(serialize(model, NULL)), 20000)
})
