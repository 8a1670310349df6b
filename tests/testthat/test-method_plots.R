skip_if_not_installed("ggplot2")

test_that("calibration groups rows by what was predicted", {
  set.seed(3)
  p <- runif(2000)
  seen <- factor(ifelse(runif(2000) < p, "yes", "no"))
  table <- calibration(cbind(1 - p, p), seen)
  expect_equal(unique(table$class), "yes")
  expect_equal(nrow(table), 10)
  expect_equal(sum(table$rows), 2000)
  expect_equal(table$observed, table$predicted, tolerance = 0.2)
  group <- p <= quantile(p, 0.1)
  expect_equal(table$predicted[[1]], mean(p[group]))
  expect_equal(table$observed[[1]], mean(seen[group] == "yes"))
  # all rows alike are one group
  expect_equal(nrow(calibration(cbind(rep(0.5, 4), 0.5), factor(c("a", "b", "a", "b")))), 1)
})

test_that("a linear model's weights are drawn, the largest first, without the intercept", {
  model <- linear_regressor(Sepal.Length ~ Petal.Length + Species, iris)
  suppressMessages(train(model))
  data <- weight_data(model, environment())
  expect_setequal(data$term, setdiff(names(coef(model)), "(Intercept)"))
  expect_false(is.unsorted(rev(abs(data$weight))))
  expect_equal(data$weight[data$term == "Petal.Length"], coef(model)[["Petal.Length"]])
  classes <- linear_classifier(Species ~ Petal.Length + Petal.Width, iris)
  suppressWarnings(suppressMessages(train(classes)))
  data <- suppressWarnings(weight_data(classes, environment()))
  expect_equal(
    data$weight[data$term == "virginica: Petal.Width"],
    suppressWarnings(coef(classes))[["virginica", "Petal.Width"]]
  )
  expect_equal(nrow(data), 4)
})

test_that("each plot is drawn by both", {
  withr::local_pdf(NULL)
  cars <- linear_regressor(mpg ~ wt + hp, mtcars)
  suppressMessages(train(cars))
  classes <- dnn_classifier(Species ~ ., iris, hidden_units = 4)
  suppressMessages(train(classes, steps = 20))
  expect_identical(plot(cars, which = 1:3), cars)
  expect_identical(plot(classes, which = 1:2), classes)
  for (which in 1:3) expect_s3_class(ggplot2::autoplot(cars, which), "ggplot")
  built <- ggplot2::ggplot_build(ggplot2::autoplot(classes, 2))
  expect_equal(length(unique(built$data[[2]]$colour)), 3)
  expect_error(plot(classes, which = 3), "linear", class = "runhooks_error")
  expect_error(plot(cars, which = 4), "1 to 3", class = "runhooks_error_invalid_argument")
  expect_error(plot(cars, wich = 1), "wich", class = "runhooks_error_invalid_argument")
  expect_error(ggplot2::autoplot(cars, 1:2), "one plot", class = "runhooks_error_invalid_argument")
})
