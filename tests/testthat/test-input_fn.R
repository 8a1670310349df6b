batches_of <- function(input, mode = "train", seed = 1) {
  graph <- tf$Graph()
  with_graph(graph, {
    tf$set_random_seed(seed)
    parts <- as_model_input(input, NULL)(mode)
    session <- tf$Session()
  })
  batches <- list()
  repeat {
    batch <- tryCatch(
      session$run(Filter(Negate(is.null), parts)), runhooks_error_out_of_range = function(e) NULL
    )
    if (is.null(batch)) break
    batches[[length(batches) + 1]] <- batch
    if (length(batches) == 20) break
  }
  session$close()
  batches
}

test_that("selections support the forms of tidyselect", {
  expected <- c("cyl", "drat")
  features <- "drat"
  response <- "mpg"
  names_of <- function(...) names(batches_of(input_fn(mtcars, ..., response = mpg))[[1]][[1]])
  expect_equal(names_of(features = c(drat, cyl)), expected)
  expect_equal(names_of(features = c("drat", "cyl")), expected)
  expect_equal(names_of(features = tidyselect::one_of("drat", "cyl")), expected)
  expect_equal(names_of(features = -c(mpg, disp, hp, wt, qsec, vs, am, gear, carb)), expected)
  expect_equal(names_of(features = features), "drat")
  repeated <- c(one = "drat", two = "cyl", three = "drat")
  expect_equal(names_of(features = repeated), expected)
  cyl <- "drat" # a column takes precedence over a variable
  expect_equal(names_of(features = cyl), "cyl")
  absent <- c("drat", "cylinders")
  expect_error(names_of(features = absent), class = "runhooks_error_not_found")
  expect_equal(names_of(features = setdiff(names(mtcars)[1:5], c("mpg", "disp", "hp"))), expected)
  labels <- batches_of(
    input_fn(mtcars, features = "drat", response = response, shuffle = FALSE)
  )[[1]][[2]]
  expect_equal(as.vector(labels), mtcars$mpg)
})

test_that("every type of column becomes the right tensor", {
  data <- data.frame(
    i = 1:2, d = c(0.5, 1.5), l = c(TRUE, FALSE), s = c("a", "b"), stringsAsFactors = FALSE
  )
  data$f <- factor(c("x", "y"))
  data$m <- matrix(c(1, 2, 3, 4), 2)
  graph <- tf$Graph()
  expect_message(
    features <- with_graph(graph, input_fn(data, features = everything(), shuffle = FALSE)(NULL)()),
    "The following factor levels of 'f' have been encoded:\n- 'x' => 0\n- 'y' => 1", fixed = TRUE
  )
  expect_equal(
    vapply(features, function(x) x$dtype$name, ""),
    c(d = "float64", f = "int32", i = "int32", l = "bool", m = "float64", s = "string")
  )
  session <- with_graph(graph, tf$Session())
  values <- session$run(features)
  expect_equal(values$m, data$m)
  expect_equal(as.vector(values$f), 0:1)
  expect_equal(as.vector(values$s), c("a", "b"))
  session$close()
})

test_that("the input function has the signature that scripts expect", {
  with_labels <- with_graph(
    tf$Graph(), input_fn(mtcars, features = c(drat, cyl), response = mpg)(NULL)()
  )
  expect_null(names(with_labels))
  expect_named(with_labels[[1]], c("cyl", "drat"))
  expect_true(all(vapply(with_labels[[1]], is.tensor, NA), is.tensor(with_labels[[2]])))
  alone <- with_graph(tf$Graph(), input_fn(mtcars, features = c(drat, cyl))(NULL)())
  expect_named(alone, c("cyl", "drat"))
})

test_that("batches can span epochs, and the last one can be short", {
  sizes <- function(...) {
    vapply(
      batches_of(input_fn(mtcars, features = drat, ...)), function(b) length(b[[1]][[1]]), 0L
    )
  }
  expect_equal(sizes(batch_size = 10), c(10, 10, 10, 2))
  expect_equal(sizes(batch_size = 24, num_epochs = 2), c(24, 24, 16))
  expect_equal(sizes(), 32)
  expect_equal(sizes(batch_size = 40, num_epochs = NULL), rep(40, 20))
})

test_that("rows are shuffled in training and evaluation, never in prediction", {
  input <- input_fn(mtcars, features = drat, response = mpg)
  labels <- function(mode, ...) as.vector(batches_of(input, mode, ...)[[1]][[2]])
  expect_equal(labels("infer"), mtcars$mpg)
  expect_false(identical(labels("train"), mtcars$mpg))
  expect_equal(sort(labels("eval")), sort(mtcars$mpg))
  expect_equal(labels("train", seed = 3), labels("train", seed = 3))
  expect_equal(labels("infer"), mtcars$mpg)
  wrapped <- function(...) do.call(input_fn, list(mtcars, features = "drat", response = "mpg", ...))
  expect_equal(
    as.vector(batches_of(wrapped(shuffle = TRUE), "infer")[[1]][[2]]),
    as.vector(batches_of(wrapped(), "train")[[1]][[2]])
  )
  expect_equal(as.vector(batches_of(wrapped(shuffle = FALSE), "train")[[1]][[2]]), mtcars$mpg)
})

test_that("matrices, lists and objects that convert to data frames are data", {
  matrix <- as.matrix(mtcars)
  expect_equal(
    as.vector(
      batches_of(input_fn(matrix, features = drat, response = mpg, shuffle = FALSE))[[1]][[2]]
    ), mtcars$mpg
  )
  list <- list(a = 1:3, b = matrix(1:6, 3), y = c(0.5, 1, 2))
  batch <- batches_of(input_fn(list, features = c(a, b), response = y, shuffle = FALSE))[[1]]
  expect_equal(batch[[1]]$b, matrix(1:6, 3))
  table <- as.table(matrix(1:4, 2, dimnames = list(NULL, c("u", "v"))))
  expect_s3_class(table, "table")
  expect_type(input_fn(table, features = Freq), "closure")
  expect_error(
    input_fn(unname(matrix)),
    "cannot create input function from matrix without column names",
    fixed = TRUE
  )
})

test_that("two input functions of the same data are equal, however they are written", {
  expect_true(all.equal(
    input_fn(
      mtcars, features = c(drat, cyl), response = mpg
    ), input_fn(mpg ~ drat + cyl, data = mtcars)
  ))
})

test_that("arguments without effect are named", {
  expect_message(input_fn(mtcars, features = drat, epochs = 3), "epochs")
  expect_no_message(input_fn(mtcars, features = drat, queue_capacity = 10, num_threads = 2))
})

test_that("invalid data are errors when the input function is created", {
  bad <- mtcars
  bad$drat[c(4, 9)] <- c(NA, Inf)
  bad$mpg[[7]] <- NaN
  bad$when <- as.Date("2024-01-01")
  expect_snapshot_text({
    input_fn(mtcars, features = c("drat", "horses"), response = "mpg")
    input_fn(mtcars, features = horses)
    input_fn(mtcars, features = drat, response = miles)
    input_fn(bad, features = drat)
    input_fn(bad, features = cyl, response = mpg)
    input_fn(bad, features = when)
    input_fn(mtcars[0, ], features = drat)
    input_fn(mtcars, features = drat, batch_size = 0)
    input_fn(mtcars, features = drat, batch_size = -5)
    input_fn(mtcars, features = drat, num_epochs = 0)
    input_fn(mtcars, features = drat, shuffle = "always")
    input_fn(mtcars, features = drat, response = c(mpg, cyl))
    input_fn(mtcars, response = mpg)
    input_fn(list(a = 1:3, y = 1:2), features = a, response = y)
    input_fn(list(1:3), features = a)
    input_fn(quote(x), features = a)
  })
})

test_that("names in a selection do not rename columns", {
  expected <- names(input_fn(mtcars, features = c("drat", "cyl"))(NULL)())
  expect_equal(names(input_fn(mtcars, features = c(n1 = "drat", n2 = "cyl"))(NULL)()), expected)
  expect_equal(names(input_fn(mtcars, features = c(n1 = drat, n2 = cyl))(NULL)()), expected)
  chosen <- c(n1 = "drat", n2 = "cyl")
  batch <- input_fn(mtcars, features = chosen, response = c(y = mpg))(NULL)()
  expect_equal(names(batch[[1]]), expected)
})

test_that("an input function works for an estimator object without a folder", {
  input <- mtcars_input()
  bare <- structure(list(), class = c("tf_estimator_regressor", "tf_estimator"))
  expect_equal(names(input(bare)()[[1]]), names(input(NULL)()[[1]]))
})

test_that("a response among the features is warned about", {
  expect_warning(
    input_fn(mtcars, everything(), mpg), class = "runhooks_warning_response_feature"
  )
  expect_warning(input_fn(as.list(mtcars), c("wt", "mpg"), "mpg"), "\"mpg\" is also a feature")
  batches <- dataset_batch(tensor_slices_dataset(mtcars), 8)
  expect_warning(input_fn(batches, everything(), mpg), "also a feature")
  expect_warning(dataset_prepare(batches, everything(), mpg), "also a feature")
  expect_no_warning(input_fn(mtcars, -mpg, mpg))
  expect_no_warning(input_fn(mpg ~ ., mtcars))
})

test_that("a model function finds columns of datasets by name", {
  recorded <- NULL
  model <- estimator(function(features, labels, mode) {
    recorded <<- dim(features$wt)
    out <- features$wt * 2 + features[, "hp"]
    loss <- tf$losses$mean_squared_error(tf$cast(labels, tf$float32), tf$cast(out, tf$float32))
    estimator_spec(mode, predictions = list(p = out), loss = loss,
      train_op = tf$assign_add(tf$train$get_global_step(), tf$constant(1, tf$int64)))
  })
  batches <- dataset_batch(tensor_slices_dataset(mtcars), 8)
  train(model, input_fn(batches, c(wt, hp), mpg), steps = 1)
  expect_length(recorded, 1)
  ours <- evaluate(model, input_fn(batches, c(wt, hp), mpg))$loss
  frame <- input_fn(mtcars, c(wt, hp), mpg, batch_size = 8)
  expect_equal(ours, evaluate(model, frame)$loss, tolerance = 1e-6)
})
