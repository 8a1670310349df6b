# The core copies data at most once, in the type that the model computes in.
test_that("doubles for float32 columns are cast once, not in each step", {
  built <- function(columns, input) {
    copied <- NULL
    hook <- session_run_hook(begin = function() {
      ops <- tf$get_default_graph()$get_operations()
      types <- vapply(ops, function(op) op$type, "")
      batch <- ops[types == "IteratorGetNext"][[1]]
      copied <<- list(
        dtypes = vapply(batch$outputs, function(x) x$dtype$name, ""), casts = sum(types == "Cast")
      )
    })
    model <- linear_regressor(columns, model_dir = withr::local_tempdir())
    train(model, input, steps = 2, hooks = hook)
    copied
  }
  input <- input_fn(mtcars, c("wt", "hp"), "mpg")
  columns <- list(column_numeric("wt"), column_numeric("hp"))
  rows <- tensor_slices_dataset(mtcars[c("hp", "wt", "mpg")]) %>% dataset_batch(8)
  plain <- built(columns, input)
  wide <- built(columns, input_fn(rows, c("hp", "wt"), "mpg"))
  expect_identical(plain$dtypes, c("float32", "float32", "float64"))
  expect_identical(wide$dtypes, c("float64", "float64", "float64"))
  expect_equal(wide$casts - plain$casts, 2)
  # A normalizer receives the numbers without a cast.
  columns[[1]] <- column_numeric("wt", normalizer_fn = function(x) x / 3)
  expect_identical(built(columns, input)$dtypes, c("float32", "float64", "float64"))
})

test_that("the core concatenates the columns of a custom model", {
  first <- function(data, features) {
    recorded <- NULL
    model <- estimator(function(features, labels, mode, params, config) {
      x <- tf$layers$dense(tf$cast(features, "float32"), 1L)
      loss <- tf$reduce_mean((x - tf$cast(tf$expand_dims(labels, -1L), "float32"))^2)
      recorded <<- features$dtype$name
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
    list(recorded, unname(state$values))
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

# Returns the extra peak memory of a process that trains on 80 MB of doubles (40 MB as float32).
# Resets the kernel's peak counter before the training.
peak_of_training <- function(lines) {
  skip_on_cran()
  skip_if_not_installed("processx")
  skip_if_not(file.exists("/proc/self/clear_refs"), "the system cannot reset its peak memory")
  script <- withr::local_tempfile(fileext = ".R")
  writeLines(c(
    "suppressMessages(library(runhooks))",
    "trained <- function(columns, data, features, ...) {",
    "  model <- dnn_classifier(columns, hidden_units = c(16, 8), n_classes = 10,",
    "    model_dir = tempfile('memory', folder))",
    "  input <- input_fn(data, features, 'y', batch_size = 128, num_epochs = NULL)",
    "  suppressMessages(train(model, input, steps = 50))",
    "}",
    "memory <- function(what) {",
    "  line <- grep(paste0('^', what), readLines('/proc/self/status'), value = TRUE)",
    "  as.numeric(gsub('[^0-9]', '', line)) / 1024",
    "}",
    sprintf("folder <- '%s'", withr::local_tempdir()),
    "n <- 100000",
    "y <- rep(0:9, n / 10)",
    lines[[1]],
    # The first training loads code whose memory should not count.
    "trained(list(column_numeric('a')), list(a = runif(1000), y = y[1:1000]), 'a')",
    "invisible(gc())",
    "before <- memory('VmRSS')",
    "writeLines('5', '/proc/self/clear_refs')",
    lines[-1],
    "cat(memory('VmHWM') - before)"
  ), script)
  run <- processx::run(child_rscript(), script, env = child_env(), timeout = 300)
  as.numeric(run$stdout)
}

test_that("columns and matrices of many numbers are read in place", {
  expect_lt(peak_of_training(c(
    "x <- matrix(runif(n * 100), n)",
    "trained(list(column_numeric('x', shape = 100)), list(x = x, y = y), 'x')"
  )), 30)
  expect_lt(peak_of_training(c(
    "x <- c(lapply(setNames(nm = paste0('x', 1:100)), function(name) runif(n)), list(y = y))",
    "trained(column_numeric(paste0('x', 1:100)), x, paste0('x', 1:100))"
  )), 30)
})

test_that("data that are read in place do not change after the training begins", {
  n <- 50000
  data <- list(x = matrix(as.numeric(seq_len(n * 100)), n), y = seq_len(n))
  state <- new.env()
  model <- estimator(function(features, labels, mode, params, config) {
    state$batch <- list(features, labels)
    w <- tf$get_variable("w", shape = 1L, initializer = tf$zeros_initializer())
    estimator_spec(
      mode = mode, loss = tf$reduce_sum(w),
      train_op = tf$assign_add(tf$train$get_global_step(), 1L)
    )
  }, model_dir = withr::local_tempdir())
  state$rows <- integer()
  hook <- session_run_hook(
    before_run = function(context) {
      data$x[] <<- 0
      data$y[] <<- 0L
      session_run_args(batch = state$batch)
    },
    after_run = function(context, values) {
      batch <- values$results$batch
      state$rows <- c(state$rows, batch[[2]])
      state$wrong <- any(batch[[1]] != outer(as.vector(batch[[2]]), (0:99) * n, "+"))
      stopifnot(!state$wrong)
    }
  )
  input <- input_fn(data, "x", "y", batch_size = 1500, num_epochs = 1)
  train(model, input, hooks = list(hook))
  expect_false(state$wrong)
  expect_identical(sort(as.integer(state$rows)), seq_len(n))
})
