class_data <- function(n = 40) {
  withr::with_seed(1, data.frame(
    x = round(rnorm(n), 2), z = round(rnorm(n), 2), two = rep(0:1, length.out = n),
    three = rep(0:2, length.out = n), word = rep(c("no", "yes"), length.out = n),
    count = rpois(n, 2), w = runif(n)
  ))
}

class_input <- function(response, data = class_data(), ..., batch_size = 16) {
  input_fn(
    data, features = c("x", "z", "w"), response = tidyselect::all_of(response),
    batch_size = batch_size, shuffle = FALSE, ...
  )
}

columns <- function() feature_columns(column_numeric("x"), column_numeric("z"))

test_that("labels that are not classes are errors with value and row", {
  data <- class_data()
  data$two[[21]] <- 2L
  expect_error(
    train(linear_classifier(columns()), class_input("two", data)),
    "\"two\".*0 to n_classes - 1, which is 1.*Got 2 in row 21"
  )
  data$three[[4]] <- -1L
  model <- linear_classifier(columns(), n_classes = 3)
  expect_error(train(model, class_input("three", data)), "Got -1 in row 4")
  expect_error(untrained(evaluate(model, class_input("three", data))), "Got -1 in row 4")
  data$half <- data$two + 0.5
  model <- linear_classifier(columns(), n_classes = 3)
  expect_error(train(model, class_input("half", data)), "Got 0.5 in row 1")
  data$word[[20]] <- "perhaps"
  model <- linear_classifier(columns(), label_vocabulary = c("no", "yes"))
  expect_error(train(model, class_input("word", data)), "label_vocabulary.*\"perhaps\" in row 20")
  expect_error(
    train(linear_classifier(columns()), class_input("word")),
    "\"word\" must be class numbers, not strings.*\"no\" in row 1"
  )
  expect_error(
    train(linear_classifier(columns(), label_vocabulary = c("a", "b")), class_input("two")),
    "\"two\" must be strings of the `label_vocabulary`, not integers.*Got 0 in row 1"
  )
  model <- linear_estimator(logistic_regression_head(), columns())
  expect_error(train(model, class_input("three")), "range \\[0, 1\\].*Got 2 in row 3")
})

# Returns an input function with one batch of tensors, as users write them. Such values are checked
# in the graph.
tensor_input <- function(labels, weights = rep(1, 3)) {
  function() {
    list(
      list(
        x = tf$constant(c(1, 2, 3)), z = tf$constant(c(3, 2, 1)), w = tf$constant(weights)
      ),
      tf$constant(labels)
    )
  }
}

test_that("labels and weights given as tensors are checked in the graph", {
  steps <- function(model, ...) train(model, tensor_input(...), steps = 1)
  expect_error(
    steps(linear_classifier(columns()), c(0L, 2L, 1L)),
    "0 to n_classes - 1, which is 1.*Got 2 in row 2 of the batch",
    class = "runhooks_error_invalid_argument"
  )
  three <- linear_classifier(columns(), n_classes = 3)
  expect_error(steps(three, c(0, 0.5, 1)), "Got 0.5 in row 2 of the batch")
  words <- linear_classifier(columns(), label_vocabulary = c("no", "yes"))
  expect_error(steps(words, c("no", "no", "so")), "label_vocabulary.*\"so\" in row 3 of the batch")
  expect_error(steps(words, c(0L, 1L, 0L)), "Labels dtype should be string")
  expect_error(
    steps(linear_classifier(columns()), c("a", "b", "a")), "Labels dtype should be integer"
  )
  logistic <- linear_estimator(logistic_regression_head(), columns())
  expect_error(steps(logistic, c(0, 1, 2)), "range \\[0, 1\\].*Got 2 in row 3 of the batch")
  weighted <- linear_classifier(columns(), weight_column = "w")
  expect_error(
    steps(weighted, c(0L, 1L, 0L), weights = c(1, -2, 0)), "0 or more.*Got -2 in row 2 of the batch"
  )
  expect_error(
    steps(linear_regressor(columns()), matrix(1:6 / 2, 3)),
    "labels shape must be \\[batch_size, 1\\]"
  )
})

test_that("negative weights are errors with value and row", {
  data <- class_data()
  data$w[[3]] <- -0.5
  model <- linear_classifier(columns(), weight_column = "w")
  expect_error(train(model, class_input("two", data)), "0 or more.*Got -0.5 in row 3")
})

test_that("metrics of heads do not depend on the batch size", {
  heads <- list(
    binary_class_head(thresholds = c(0.3, 0.6), weight_column = "w"), multi_class_head(3),
    poisson_regression_head(), logistic_regression_head(), regression_head()
  )
  responses <- c("two", "three", "count", "two", "z")
  for (i in seq_along(heads)) {
    model <- dnn_estimator(
      heads[[i]], hidden_units = 4, feature_columns = columns(),
      config = run_config(tf_random_seed = 3)
    )
    train(model, class_input(responses[[i]], num_epochs = NULL), steps = 5)
    results <- lapply(c(1, 7, 40), function(size) {
      metrics <- evaluate(model, class_input(responses[[i]], batch_size = size), simplify = FALSE)
      metrics[setdiff(names(metrics), "loss")]
    })
    expect_equal(results[[2]], results[[1]], tolerance = 1e-5)
    expect_equal(results[[3]], results[[1]], tolerance = 1e-5)
  }
})

test_that("classes are returned as strings, whatever their names", {
  words <- c("setosa", "versicolor", "virginica")
  data <- transform(iris, Species = as.character(Species))
  input <- input_fn(
    data, features = c(Sepal.Length, Petal.Length), response = Species, shuffle = TRUE,
    num_epochs = 150
  )
  model <- linear_classifier(
    feature_columns(column_numeric("Sepal.Length"), column_numeric("Petal.Length")),
    n_classes = 3, label_vocabulary = words, config = run_config(tf_random_seed = 1)
  )
  train(model, input)
  predictions <- predict(model, input_fn(data, features = c(Sepal.Length, Petal.Length)))
  expect_named(predictions, c("logits", "probabilities", "class_ids", "classes"))
  classes <- unlist(predictions$classes)
  expect_gt(mean(classes == data$Species), 0.8)
  expect_equal(words[unlist(predictions$class_ids) + 1], classes)
  all <- predict(model, input_fn(data, features = c(Sepal.Length, Petal.Length)),
    predict_keys = "all_classes", simplify = FALSE
  )
  expect_equal(as.vector(all[[1]]$all_classes), words)
})

test_that("several heads share the features, and have separate losses and metrics", {
  data <- class_data()
  input <- function(...) {
    both <- input_fn(
      data, features = c("x", "z", "two", "count"), batch_size = 20, shuffle = FALSE, ...
    )
    function(estimator) {
      next_batch <- both(estimator)
      function() {
        features <- next_batch()
        list(features[c("x", "z")], list(answer = features$two, number = features$count))
      }
    }
  }
  head <- multi_head(
    list(binary_class_head(name = "answer"), poisson_regression_head(name = "number")),
    head_weights = c(1, 0.5)
  )
  model <- linear_estimator(head, columns(), optimizer = "SGD")
  train(model, input(num_epochs = NULL), steps = 4)
  result <- evaluate(model, input())
  expect_true(all(
    c("auc/answer", "average_loss/answer", "average_loss/number", "loss/answer", "loss") %in%
      names(result)
  ))
  expect_equal(result$loss, result$`loss/answer` + 0.5 * result$`loss/number`, tolerance = 1e-6)
  predictions <- predict(model, input())
  expect_true(all(c("answer/probabilities", "number/predictions") %in% names(predictions)))
  events <- read_events(model_dir(model))
  expect_true(all(c("loss", "loss/answer", "loss/number") %in% events$tag))
  alone <- linear_estimator(
    binary_class_head(), columns(), optimizer = "SGD", config = run_config(tf_random_seed = 1)
  )
  alone_input <- input_fn(
    data, features = c("x", "z"), response = "two", batch_size = 20, shuffle = FALSE,
    num_epochs = NULL
  )
  train(alone, alone_input, steps = 4)
  weights <- variable_value(model, "linear/linear_model/x/weights")[[1]]
  expect_equal(
    weights[, 1], as.vector(variable_value(alone, "linear/linear_model/x/weights")[[1]]),
    tolerance = 1e-6
  )
  expect_error(
    train(model, class_input("two")), "no labels for head 'answer'", class = "runhooks_error"
  )
})

test_that("invalid heads are errors", {
  expect_error(binary_class_head(thresholds = 2), "between 0 and 1")
  expect_error(multi_class_head(1), "2 or more")
  expect_error(linear_estimator(multi_class_head(2), columns()), "n_classes must be > 2")
  expect_error(
    linear_estimator(binary_class_head(label_vocabulary = c("a", "b", "c")), columns()),
    "label_vocabulary must be n_classes"
  )
  expect_error(
    linear_classifier(columns(), label_vocabulary = c("a", "a")), "has \"a\" twice"
  )
  expect_error(multi_head(list(binary_class_head())), "must have a name")
  expect_error(
    multi_head(list(binary_class_head(name = "a"), regression_head(name = "a"))), "unique names"
  )
  expect_error(linear_estimator("binary", columns()), "must be a head")
  expect_error(regression_head(loss_reduction = "mean", label_dimension = 0), "positive whole")
})

# The names are those of TensorFlow 1.15's DNNLinearCombinedEstimator with public heads and
# optimizers of tf.train. Each head of a multi_head() opens its own `training` scope, so the numbers
# of the scopes increase.
test_that("a head that the user creates trains in the scope `training`", {
  powers <- function(model, input) {
    train(model, input, steps = 1)
    grep("beta1_power", variable_names(model), value = TRUE)
  }
  data <- class_data()
  one <- input_fn(data, features = c("x", "z"), response = "z", batch_size = 20)
  adam <- function() tf$train$AdamOptimizer(0.1)
  combined <- function(head) {
    dnn_linear_combined_estimator(head,
      linear_feature_columns = columns(), dnn_feature_columns = columns(), dnn_hidden_units = 2,
      linear_optimizer = adam, dnn_optimizer = adam
    )
  }
  expect_setequal(
    powers(combined(regression_head()), one), c("training/beta1_power", "training/beta1_power_1")
  )
  expect_identical(
    powers(linear_estimator(regression_head(name = "h"), columns(), optimizer = adam), one),
    "training/beta1_power"
  )
  expect_identical(
    powers(dnn_estimator(regression_head(), 2, columns(), optimizer = adam), one),
    "training/beta1_power"
  )
  two <- function(estimator) {
    next_batch <- one(estimator)
    function() {
      batch <- next_batch()
      list(batch[[1]], list(a = batch[[2]], b = batch[[2]]))
    }
  }
  heads <- multi_head(list(regression_head(name = "a"), regression_head(name = "b")))
  expect_setequal(
    powers(combined(heads), two), c("training_2/beta1_power", "training_2/beta1_power_1")
  )
  # The head of a canned estimator stays inside the estimator's scope.
  expect_identical(
    powers(dnn_regressor(2, columns(), optimizer = adam), one), "dnn/head/beta1_power"
  )
})
