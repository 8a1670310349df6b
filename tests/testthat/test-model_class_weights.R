
two_classes <- function() {
  data <- mtcars
  data$gear4 <- factor(ifelse(data$gear == 4, "yes", "no"))
  data
}

test_that("class weights are equivalent to a weight column", {
  data <- two_classes()
  data$w <- ifelse(data$gear4 == "yes", 5, 2)
  fits <- lapply(list(
    list(class_weights = c(yes = 5, no = 2)), list(class_weights = c(2, 5)),
    list(weight_column = "w")
  ), function(extra) {
    model <- do.call(linear_classifier, c(list(gear4 ~ wt + hp, data), extra))
    suppressMessages(train(model))
    list(coef = coef(model), metrics = evaluate(model, data), summary = suppressWarnings(vcov(model)))
  })
  for (one in fits[1:2]) {
    expect_equal(one$coef, fits[[3]]$coef, tolerance = 1e-4)
    names <- c("accuracy", "average_loss", "auc", "precision", "loss")
    expect_equal(one$metrics[names], fits[[3]]$metrics[names], tolerance = 1e-4)
    expect_equal(one$summary, fits[[3]]$summary, tolerance = 1e-3)
  }
  reference <- suppressWarnings(stats::glm(gear4 ~ wt + hp, stats::binomial, data, weights = w))
  expect_equal(unname(fits[[1]]$coef), unname(stats::coef(reference)), tolerance = 1e-3)
})

test_that("balanced classes have equal total weight, and class weights multiply a weight column", {
  data <- two_classes()
  counts <- table(data$gear4)
  balanced <- linear_classifier(gear4 ~ wt, data, class_weights = "balanced")
  expect_equal(unlist(balanced$spec$class_weights), as.vector(32 / (2 * counts)))
  suppressMessages(train(balanced))
  expect_equal(mean(predict(balanced, newdata = data, type = "response")[[1]][data$gear4 == "yes"]) +
    mean(1 - predict(balanced, newdata = data, type = "response")[[1]][data$gear4 == "no"]), 1, tolerance = 0.3)
  three <- linear_classifier(Species ~ Sepal.Length, iris, class_weights = c(setosa = 1, versicolor = 2, virginica = 4))
  suppressMessages(train(three))
  w <- c(1, 2, 4)[as.integer(iris$Species)]
  by_column <- linear_classifier(
    Species ~ Sepal.Length, cbind(iris, w = w / 2), weight_column = "w", class_weights = c(2, 2, 2)
  )
  suppressMessages(train(by_column))
  expect_equal(coef(three), coef(by_column), tolerance = 1e-3)
})

test_that("deep models and heads accept class weights, and a weight can be 0", {
  data <- two_classes()
  set.seed(1)
  model <- dnn_classifier(gear4 ~ wt + hp, data, hidden_units = 4, class_weights = c(no = 1, yes = 0))
  suppressMessages(train(model, steps = 200))
  expect_true(all(predict(model, newdata = data)$.pred_class == "no"))
  of_head <- linear_estimator(
    head = binary_class_head(class_weights = c(0, 1)), feature_columns = column_numeric("wt")
  )
  input <- input_fn(am ~ wt, mtcars, batch_size = 32)
  suppressMessages(train(of_head, input))
  expect_equal(evaluate(of_head, input)$`label/mean`, 1)
})

test_that("class weights that do not match the classes are errors", {
  data <- two_classes()
  make <- function(x) linear_classifier(gear4 ~ wt, data, class_weights = x)
  expect_error(make(c(no = 1, maybe = 2)), "maybe.*no.*yes")
  expect_error(make(c(1, 2, 3)), "2 numbers, one for each class, not 3")
  expect_error(make(c(-1, 2)), "non-negative")
  expect_error(make("equal"), "balanced")
  expect_error(make(c(1, NA)), "non-negative")
  columns <- column_numeric("wt")
  expect_error(linear_classifier(columns, class_weights = "balanced"), "needs a formula")
  expect_error(linear_classifier(columns, class_weights = c(a = 1, b = 2)), "no labels")
  expect_error(linear_regressor(columns, class_weights = c(1, 2)), "class_weights")
})
