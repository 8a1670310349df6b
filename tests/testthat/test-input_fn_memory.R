# Data go into the core once: in the type that the model computes in, side by side.
test_that("doubles that columns take as float32 are cast once, not in each step", {
  built <- function(columns, input) {
    found <- NULL
    hook <- session_run_hook(begin = function() {
      ops <- tf$get_default_graph()$get_operations()
      types <- vapply(ops, function(op) op$type, "")
      batch <- ops[types == "IteratorGetNext"][[1]]
      found <<- list(
        dtypes = vapply(batch$outputs, function(x) x$dtype$name, ""), casts = sum(types == "Cast")
      )
    })
    model <- linear_regressor(columns, model_dir = withr::local_tempdir())
    train(model, input, steps = 2, hooks = hook)
    found
  }
  input <- input_fn(mtcars, c("wt", "hp"), "mpg")
  columns <- list(column_numeric("wt"), column_numeric("hp"))
  rows <- tensor_slices_dataset(mtcars[c("hp", "wt", "mpg")]) %>% dataset_batch(8)
  plain <- built(columns, input)
  wide <- built(columns, input_fn(rows, c("hp", "wt"), "mpg"))
  expect_identical(plain$dtypes, c("float32", "float32", "float64"))
  expect_identical(wide$dtypes, c("float64", "float64", "float64"))
  expect_equal(wide$casts - plain$casts, 2)
  # a normalizer is given the numbers as they are
  columns[[1]] <- column_numeric("wt", normalizer_fn = function(x) x / 3)
  expect_identical(built(columns, input)$dtypes, c("float32", "float64", "float64"))
})

test_that("the columns of a custom model are put side by side by the core", {
  first <- function(data, features) {
    seen <- NULL
    model <- estimator(function(features, labels, mode, params, config) {
      x <- tf$layers$dense(tf$cast(features, "float32"), 1L)
      loss <- tf$reduce_mean((x - tf$cast(tf$expand_dims(labels, -1L), "float32"))^2)
      seen <<- features$dtype$name
      state$features <- features
      optimizer <- tf$train$GradientDescentOptimizer(0)
      estimator_spec(mode = mode, loss = loss,
        train_op = optimizer$minimize(loss, global_step = tf$train$get_global_step()))
    }, model_dir = withr::local_tempdir())
    hook <- session_run_hook(
      before_run = function(context) session_run_args(state$features),
      after_run = function(context, values) state$values <- values$results[[1]]
    )
    train(model, input_fn(data, features, "y", shuffle = FALSE), steps = 1, hooks = hook)
    list(seen, unname(state$values))
  }
  state <- new.env()
  data <- list(i = 1:3, x = c(0.5, 1.5, 2.5), m = matrix(as.numeric(1:6), 3), l = c(TRUE, FALSE, TRUE),
    y = c(1, 2, 3))
  expect_identical(first(data, c("i", "x", "m", "l")),
    list("float64", unname(cbind(data$i, data$x, data$m, data$l))))
  expect_identical(first(data, c("i", "l")), list("int32", unname(cbind(data$i, as.integer(data$l)))))
  expect_identical(first(data, "m"), list("float64", data$m))
  expect_identical(first(data, "x"), list("float64", matrix(data$x)))
})
