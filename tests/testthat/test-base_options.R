test_that("the runhooks.threads option and the machine limit the threads", {
  withr::local_options(runhooks.threads = 1)
  expect_identical(use_threads(), 1L)
  withr::local_options(runhooks.threads = 1e6)
  expect_lte(use_threads(), parallel::detectCores())
})

test_that("an invalid number of threads is an error before a run", {
  withr::local_options(runhooks.threads = 0)
  model <- mtcars_model()
  expect_error(
    train(model, mtcars_input(), steps = 1), "runhooks.threads",
    class = "runhooks_error_invalid_argument"
  )
  expect_length(list.files(model_dir(model)), 0)
})

test_that("a forked child uses one thread", {
  skip_on_os("windows") # no fork() there
  withr::local_options(runhooks.threads = 2)
  use_threads()
  children <- in_forks(2, function(i) use_threads())
  expect_identical(children, list(1L, 1L))
})

# Trains with steps that are long enough to use a second thread.
trained_on_threads <- function(threads) {
  withr::local_options(runhooks.threads = threads)
  withr::local_seed(1)
  n <- 3000
  data <- data.frame(
    x = stats::runif(n), a = sample(letters, n, TRUE), b = sample(LETTERS, n, TRUE)
  )
  data$y <- data$x + (data$a > "k")
  words <- column_categorical_with_hash_bucket(c("a", "b"), hash_bucket_size = 50)
  model <- dnn_linear_combined_regressor(
    linear_feature_columns = c(words, list(column_crossed(c("a", "b"), 300))),
    dnn_feature_columns = c(list(column_numeric("x")), lapply(words, column_embedding, 16)),
    dnn_hidden_units = c(64, 32), config = run_config(tf_random_seed = 3)
  )
  input <- input_fn(data, c(x, a, b), response = y, batch_size = 512, num_epochs = NULL)
  losses <- train(model, input, steps = 30)$losses$total_losses
  stopifnot(length(losses) > 1)
  names <- variable_names(model)
  list(losses, lapply(setNames(names, names), function(name) variable_value(model, name)))
}

test_that("the number of threads changes no bit of the results", {
  expect_identical(trained_on_threads(1), trained_on_threads(2))
})

test_that("a forked child trains on one thread after its parent used two", {
  skip_on_os("windows") # no fork() there
  here <- trained_on_threads(2)
  children <- in_forks(2, function(i) trained_on_threads(2))
  expect_identical(children, list(here, here))
})

test_that("updates of large variables have the same bits for any number of threads", {
  start <- matrix(sin(seq_len(300 * 250)), 300)
  train <- tf$train
  optimizers <- list(
    train$GradientDescentOptimizer, train$MomentumOptimizer, train$AdamOptimizer,
    train$AdagradOptimizer, train$FtrlOptimizer, train$RMSPropOptimizer
  )
  updated <- function(threads, optimizer) {
    withr::local_options(runhooks.threads = threads)
    more <- if (identical(optimizer, train$MomentumOptimizer)) list(momentum = 0.9)
    with(tf$Graph()$as_default(), {
      v <- tf$Variable(start, dtype = "float32")
      loss <- tf$reduce_sum(tf$square(tf$tanh(v) - 0.3))
      step <- do.call(optimizer, c(list(0.05), more))$minimize(loss)
      with(tf$Session() %as% session, {
        session$run(tf$global_variables_initializer())
        for (i in 1:8) session$run(step)
        session$run(v)
      })
    })
  }
  for (optimizer in optimizers) {
    one <- updated(1, optimizer)
    expect_false(isTRUE(all.equal(one, start)))
    expect_identical(updated(2, optimizer), one)
  }
})
