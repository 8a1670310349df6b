# Shapes of the columns of datasets for formula models.

new_folder <- function() withr::local_tempdir(.local_envir = parent.frame())

test_that("a dataset that is batched twice is refused", {
  rows <- tensor_slices_dataset(mtcars)
  model <- linear_regressor(mpg ~ wt, mtcars, model_dir = new_folder())
  train(model, steps = 2)
  refused <- function(expr) expect_error(expr, "batches of batches.*one `dataset_batch", class = "runhooks_error")
  twice <- list(
    rows %>% dataset_batch(4) %>% dataset_batch(4),
    rows %>% dataset_batch(4, drop_remainder = TRUE) %>% dataset_batch(2) %>% dataset_prefetch(1),
    rows %>% dataset_batch(4) %>% dataset_map(function(r) r) %>% dataset_batch(8)
  )
  for (dataset in twice) {
    refused(linear_regressor(mpg ~ wt, dataset))
    refused(linear_regressor(cbind(mpg, qsec) ~ wt + hp, dataset))
    refused(train(model, dataset))
    refused(evaluate(model, dataset))
    refused(predict(model, dataset))
    refused(train(model, input_fn(dataset, features = wt, response = mpg), steps = 1))
    withr::with_options(list(runhooks.values_in_memory = 0), refused(linear_regressor(mpg ~ wt, dataset)))
  }
  # Columns that are matrices of the same width are not taken for batches of batches.
  pairs <- dataset_batch(tensor_slices_dataset(list(y = matrix(rnorm(40), 20), x = matrix(rnorm(40), 20))), 5)
  wide <- linear_regressor(y ~ x, pairs, model_dir = new_folder())
  train(wide, pairs)
  expect_equal(dim(coef(wide)), c(3, 2))
  train(wide, input_fn(pairs, features = x, response = y), steps = 1)
  expect_equal(dim(as.matrix(predict(wide, pairs))), c(20, 2))
})

test_that("columns of shape [batch, 1] are numbers, strings and weights", {
  file <- withr::local_tempfile(fileext = ".csv")
  cars <- transform(mtcars, g = rep(c("a", "b"), 16), w = rep(1:4, 8))
  write.csv(cars, file, row.names = FALSE)
  csv <- function() make_csv_dataset(file, batch_size = 1, num_epochs = 1, shuffle = FALSE)
  columns <- lapply(as.list(cars), matrix)
  reference <- lm(mpg ~ wt + g + offset(qsec / 10), cars, weights = w)
  for (dataset in list(dataset_batch(tensor_slices_dataset(columns), 8), dataset_batch(csv(), 8))) {
    formula <- mpg ~ wt + g + offset(qsec / 10)
    make <- function(data) {
      linear_regressor(formula, data, weight_column = "w", model_dir = new_folder())
    }
    model <- make(dataset)
    train(model)
    expect_equal(coef(model), coef(reference), tolerance = 1e-4)
    model <- make(cars)
    train(model, dataset)
    expect_equal(coef(model), coef(reference), tolerance = 1e-4)
    input <- input_fn(dataset, features = c(wt, g, qsec, w), response = mpg)
    loss <- evaluate(model, cars)$average_loss
    expect_equal(evaluate(model, input)$average_loss, loss, tolerance = 1e-5)
    expect_equal(evaluate(model, dataset)$average_loss, loss, tolerance = 1e-5)
    expect_equal(predict(model, dataset), predict(model, cars), tolerance = 1e-5)
    rows <- predict(model, input_fn(dataset, features = c(wt, g, qsec)))
    expect_equal(unlist(rows), predict(model, cars)$.pred, ignore_attr = TRUE, tolerance = 1e-5)
    train(model, input, steps = 2)
  }
  classes <- linear_classifier(g ~ scale(wt), cars, model_dir = new_folder())
  train(classes, input_fn(dataset, features = wt, response = g))
  expect_equal(evaluate(classes, dataset), evaluate(classes, cars), tolerance = 1e-5)
})
