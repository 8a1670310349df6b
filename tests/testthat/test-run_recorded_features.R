# Custom models store the names of features and response.

own_regressor <- function(output = function(features) tf$layers$dense(features, 1L), ...) {
  estimator(function(features, labels, mode) {
    value <- tf$squeeze(output(features), 1L)
    if (mode == "infer") return(estimator_spec(mode, predictions = list(value = value)))
    loss <- tf$losses$mean_squared_error(labels, value)
    step <- tf$train$AdamOptimizer(0.1)$minimize(loss, tf$train$get_global_step())
    estimator_spec(mode, predictions = list(value = value), loss = loss, train_op = step)
  }, ...)
}

own_classifier <- function() {
  estimator(function(features, labels, mode) {
    logits <- tf$layers$dense(features, 3L)
    class <- tf$argmax(logits, 1L)
    if (mode == "infer") {
      return(estimator_spec(mode, predictions = list(class = class, prob = tf$nn$softmax(logits))))
    }
    loss <- tf$losses$sparse_softmax_cross_entropy(labels, logits)
    step <- tf$train$AdamOptimizer(0.1)$minimize(loss, tf$train$get_global_step())
    estimator_spec(mode, predictions = list(class = class), loss = loss, train_op = step,
                   eval_metric_ops = list(accuracy = tf$metrics$accuracy(labels, class)))
  })
}

test_that("columns in another order are rearranged to that of the training", {
  set.seed(1)
  model <- own_regressor()
  suppressMessages(train(model, input_fn(mpg ~ wt + hp, mtcars, num_epochs = 30)))
  values <- function(...) unlist(predict(model, input_fn(...))$value)
  expected <- values(mpg ~ wt + hp, mtcars)
  expect_identical(values(mpg ~ hp + wt, mtcars), expected)
  expect_identical(values(mtcars[c("hp", "wt")], features = everything()), expected)
  losses <- lapply(list(mpg ~ wt + hp, mpg ~ hp + wt), function(formula) {
    evaluate(model, input_fn(formula, mtcars))$loss
  })
  expect_identical(losses[[1]], losses[[2]])
  weights <- function(formula) {
    set.seed(1)
    one <- own_regressor()
    suppressMessages(train(one, input_fn(mpg ~ wt + hp, mtcars, shuffle = FALSE)))
    suppressMessages(train(one, input_fn(formula, mtcars, shuffle = FALSE)))
    variable_value(one)
  }
  expect_identical(weights(mpg ~ hp + wt), weights(mpg ~ wt + hp))
  expect_error(values(mtcars, features = c(wt, hp, cyl)), "'wt', 'hp', not on 'wt', 'hp', 'cyl'")
  again <- own_regressor(model_dir = model_dir(model))
  expect_identical(unlist(predict(again, input_fn(mpg ~ hp + wt, mtcars))$value), expected)
})

test_that("data frames are matched to the training by name in predict() and evaluate()", {
  set.seed(1)
  model <- own_regressor()
  suppressMessages(train(model, input_fn(log(mpg) ~ wt + hp + sqrt(cyl), mtcars, num_epochs = 20)))
  expected <- unlist(predict(model, input_fn(log(mpg) ~ wt + hp + sqrt(cyl), mtcars))$value)
  shuffled <- mtcars[rev(names(mtcars))]
  expect_equal(predict(model, newdata = shuffled)$.pred_value, expected)
  expect_equal(predict(model, newdata = mtcars[3, ])$.pred_value, expected[[3]], tolerance = 1e-6)
  holes <- mtcars
  holes$wt[[2]] <- NA
  some <- predict(model, newdata = holes)$.pred_value
  expect_true(is.na(some[[2]]))
  expect_equal(some[-2], expected[-2])
  by_function <- evaluate(model, input_fn(log(mpg) ~ wt + hp + sqrt(cyl), mtcars, batch_size = 32))
  expect_equal(evaluate(model, shuffled)$loss, by_function$loss, tolerance = 1e-6)
  expect_error(predict(model, newdata = mtcars["wt"]), "hp", class = "runhooks_error_not_found")
  expect_error(evaluate(model, mtcars["wt"]), "lack", class = "runhooks_error_not_found")
  expect_error(predict(model, newdata = mtcars, type = "prob"), "type")
  expect_error(evaluate(model, mtcars, epochs = 3), "num_epochs")
  expect_error(predict(own_regressor(), newdata = mtcars), "names of the features")
  expect_error(evaluate(own_regressor(), mtcars), "must be a function")
})

test_that("class codes are those of the training, whatever levels the data have", {
  set.seed(2)
  model <- own_classifier()
  suppressMessages(train(model, input_fn(Species ~ ., iris, num_epochs = 60)))
  some <- iris[iris$Species != "setosa", ]
  accuracy <- suppressMessages(evaluate(model, input_fn(Species ~ ., some))$accuracy)
  expect_gt(accuracy, 0.5)
  rest <- iris[rev(names(iris))]
  expect_equal(
    suppressMessages(evaluate(model, input_fn(Species ~ ., droplevels(some))))$accuracy, accuracy
  )
  expect_equal(suppressMessages(evaluate(model, droplevels(some)))$accuracy, accuracy)
  shown <- predict(model, newdata = rest)
  expect_identical(names(shown), c(".pred_class", ".pred_prob_1", ".pred_prob_2", ".pred_prob_3"))
  expect_identical(shown, predict(model, newdata = iris))
})

test_that("a model of a list of arrays receives them by name", {
  set.seed(3)
  model <- own_regressor(function(features) {
    tf$layers$dense(tf$stack(list(features$a, features$b), axis = 1L), 1L)
  })
  data <- list(a = mtcars$wt, b = mtcars$hp)
  suppressMessages(train(model, numpy_input_fn(data, mtcars$mpg, shuffle = FALSE, num_epochs = 5)))
  expected <- unlist(predict(model, numpy_input_fn(data, shuffle = FALSE))$value)
  expect_equal(predict(model, newdata = data.frame(b = mtcars$hp, a = mtcars$wt))$.pred_value, expected)
})

test_that("canned models of columns can be evaluated on a data frame", {
  model <- linear_regressor(feature_columns(column_numeric("wt"), column_numeric("hp")))
  suppressMessages(train(model, input_fn(mpg ~ hp + wt, mtcars, num_epochs = 5)))
  expect_equal(
    evaluate(model, mtcars)$loss, evaluate(model, input_fn(mpg ~ hp + wt, mtcars, batch_size = 32))$loss,
    tolerance = 1e-6
  )
})

test_that("the columns of the feature matrix are matched by name", {
  seen <- NULL
  model <- own_regressor(function(features) {
    tf$layers$dense(tf$stack(list(
      features$wt, features[["hp"]], features[, "cyl"], features[, c("wt", "cyl")][, 2],
      features[, c("cyl", "wt", "hp")][, "hp"]
    ), axis = 1L), 1L)
  })
  picked <- function(choose) {
    one <- estimator(function(features, labels, mode) {
      value <- choose(features)
      if (length(dim(value)) == 1) value <- tf$expand_dims(value, 1L)
      estimator_spec(mode, predictions = list(value = value))
    })
    shown <- suppressWarnings(predict(one, input_fn(mtcars, features = c(wt, hp, cyl)), simplify = FALSE))
    do.call(rbind, lapply(shown, function(row) as.vector(row$value)))
  }
  expect_equal(picked(function(f) f$hp), as.matrix(mtcars$hp))
  expect_equal(picked(function(f) f[["cyl"]]), as.matrix(mtcars$cyl))
  expect_equal(picked(function(f) f[, "wt"]), as.matrix(mtcars$wt), tolerance = 1e-6)
  for (names in list(c("cyl", "wt"), c("wt", "hp"), c("cyl", "wt", "hp"))) {
    expect_equal(picked(function(f) f[, names]), unname(as.matrix(mtcars[names])), tolerance = 1e-6)
  }
  expect_equal(picked(function(f) f[, c("cyl", "wt", "hp")][, "hp"]), as.matrix(mtcars$hp))
  expect_equal(picked(function(f) f[, "hp", drop = FALSE]), as.matrix(mtcars$hp))
  expect_error(picked(function(f) f$weight), "no member weight.*wt.*hp.*cyl")
  expect_error(picked(function(f) f[["weight"]]), "no member weight.*wt", class = "runhooks_error_not_found")
  expect_error(picked(function(f) tf$identity(f)[, "wt"]), "no names")
  expect_error(picked(function(f) f["wt"]), "only allowed for columns")
  expect_error(picked(function(f) f[[1]]), "one number for each dimension")
  suppressMessages(train(model, input_fn(mpg ~ wt + hp + cyl, mtcars)))
  expect_length(predict(model, newdata = mtcars)$.pred_value, 32)
})
