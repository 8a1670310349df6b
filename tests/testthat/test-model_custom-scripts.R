# Scripts as users wrote them for tfestimators' custom estimators.


test_that("iris with a stack of layers, dropout and optimize_loss()", {
  custom_model_fn <- function(features, labels, mode, params, config) {
    logits <- features %>%
      tf$contrib$layers$stack(
        tf$contrib$layers$fully_connected, c(10L, 20L, 10L),
        normalizer_fn = tf$contrib$layers$dropout, normalizer_params = list(keep_prob = 0.9)
      ) %>%
      tf$contrib$layers$fully_connected(3L, activation_fn = NULL)
    predicted_classes <- tf$argmax(logits, 1L)
    if (mode == "infer") {
      predictions <- list(class = predicted_classes, prob = tf$nn$softmax(logits))
      return(estimator_spec(mode = mode, predictions = predictions))
    }
    onehot_labels <- tf$one_hot(labels, 3L, 1L, 0L)
    loss <- tf$losses$softmax_cross_entropy(onehot_labels, logits)
    if (mode == "train") {
      global_step <- tf$train$get_global_step()
      learning_rate <- tf$train$exponential_decay(
        learning_rate = 0.1, global_step = global_step, decay_steps = 100L, decay_rate = 0.001
      )
      train_op <- tf$contrib$layers$optimize_loss(
        loss, global_step = global_step, learning_rate = learning_rate, optimizer = "Adagrad"
      )
      return(estimator_spec(mode = mode, loss = loss, train_op = train_op))
    }
    estimator_spec(
      mode = mode, loss = loss,
      eval_metric_ops = list(accuracy = tf$metrics$accuracy(labels, predicted_classes))
    )
  }
  constructed <- function() {
    input_fn(
      iris, features = c(Sepal.Length, Sepal.Width, Petal.Length, Petal.Width),
      response = Species, batch_size = 10L
    )
  }
  model <- estimator(custom_model_fn, model_dir = withr::local_tempdir())
  suppressMessages(train(model, constructed(), steps = 2L))
  metrics <- suppressMessages(evaluate(model, constructed(), steps = 2L))
  expect_named(metrics, c("accuracy", "loss", "global_step"))
  expect_equal(metrics$global_step, 2)
  predictions <- predict(model, constructed())
  expect_named(predictions, c("class", "prob"))
  expect_equal(dim(predictions), c(150, 2))
  expect_setequal(
    setdiff(variable_names(model), grep("Adagrad", variable_names(model), value = TRUE)),
    c(
      paste0("Stack/fully_connected_", 1:3, "/weights"), "fully_connected/biases",
      "fully_connected/weights", "global_step"
    )
  )
})

test_that("abalone: dense layers, root mean squared error, and an input function of arrays", {
  model_fn <- function(features, labels, mode, params) {
    first <- tf$layers$dense(features$x, 10, activation = tf$nn$relu)
    second <- tf$layers$dense(first, 10, activation = tf$nn$relu)
    output <- tf$layers$dense(second, 1)
    predictions <- tf$reshape(output, list(-1L))
    if (mode == mode_keys()$PREDICT) {
      return(estimator_spec(mode = mode, predictions = list(ages = predictions)))
    }
    loss <- tf$losses$mean_squared_error(labels, predictions)
    optimizer <- tf$train$GradientDescentOptimizer(learning_rate = params$learning_rate)
    train_op <- optimizer$minimize(loss = loss, global_step = tf$train$get_global_step())
    eval_metric_ops <- list(
      rmse = tf$metrics$root_mean_squared_error(tf$cast(labels, tf$float64), predictions)
    )
    estimator_spec(
      mode = mode, loss = loss, train_op = train_op, eval_metric_ops = eval_metric_ops
    )
  }
  x <- matrix(stats::runif(700), 100)
  y <- drop(x %*% 1:7)
  model <- estimator(model_fn, params = list(learning_rate = 0.01))
  input <- function(epochs, shuffle) {
    numpy_input_fn(list(x = x), y, num_epochs = epochs, shuffle = shuffle)
  }
  before <- suppressWarnings(evaluate(model, input(1, FALSE)))
  train(model, input(NULL, TRUE), steps = 300)
  after <- evaluate(model, input(1, FALSE))
  expect_lt(after$loss, before$loss / 10)
  expect_equal(after$rmse^2, after$loss, tolerance = 1e-5)
  expect_lt(mean((unlist(predict(model, input(1, FALSE))$ages) - y)^2), before$loss / 10)
})

test_that("a network on feature columns with manual gradient clipping", {
  columns <- feature_columns(
    column_numeric("drat"),
    column_indicator(column_categorical_with_vocabulary_list("gear", vocabulary_list = c("3", "4")))
  )
  model_fn <- function(features, labels, mode, params, config) {
    net <- input_layer(features, params$feature_columns)
    net <- tf$layers$dense(net, units = 4, activation = tf$nn$relu)
    net <- tf$layers$batch_normalization(net, training = (mode == "train"))
    out <- tf$squeeze(tf$layers$dense(net, units = 1), axis = 1L)
    if (mode == "infer") return(estimator_spec(mode, list(mpg = out)))
    loss <- tf$losses$mean_squared_error(tf$cast(labels, "float32"), out)
    optimizer <- tf$train$AdamOptimizer(0.05)
    pairs <- optimizer$compute_gradients(loss)
    clipped <- lapply(pairs, function(pair) list(tf$clip_by_value(pair[[1]], -1, 1), pair[[2]]))
    updates <- tf$get_collection(tf$GraphKeys$UPDATE_OPS)
    train_op <- with(tf$control_dependencies(updates), {
      optimizer$apply_gradients(clipped, global_step = tf$train$get_global_step())
    })
    estimator_spec(mode, loss = loss, train_op = train_op)
  }
  config <- run_config(tf_random_seed = 4)
  model <- estimator(model_fn, config = config, params = list(feature_columns = columns))
  data <- list(drat = mtcars$drat, gear = as.character(mtcars$gear))
  input <- numpy_input_fn(data, mtcars$mpg, num_epochs = 20, shuffle = TRUE, batch_size = 16)
  history <- train(model, input)
  expect_equal(history$params$steps, 40)
  expect_true("batch_normalization/moving_mean" %in% variable_names(model))
  expect_false(all(variable_value(model, "batch_normalization/moving_mean")[[1]] == 0))
})
