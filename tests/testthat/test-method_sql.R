# Models as expressions and SQL: tidypredict and orbital.

skip_on_cran()
skip_if_not_installed("tidypredict")
skip_if_not_installed("dplyr")

sql_data <- function(n = 200) {
  withr::local_seed(4)
  data <- data.frame(x = round(rnorm(n), 1), w = rexp(n))
  data$f <- factor(sample(c("a", "b c", "d"), n, TRUE))
  data$l <- data$w > 1
  data$y <- data$x + (data$f == "d") * data$w + 0.1 * rnorm(n)
  data$two <- factor(ifelse(data$y + rnorm(n) > 0.5, "yes", "no"))
  data$three <- cut(data$y + rnorm(n), c(-Inf, 0, 1, Inf), c("low", "mid", "high"))
  data$count <- rpois(n, exp(data$x / 2))
  data
}

gappy <- function(data) {
  data$x[c(1, 5)] <- NA
  data$f[c(2, 5)] <- NA
  data
}

fitted_model <- function(make, ...) {
  model <- make(...)
  suppressWarnings(suppressMessages(train(model)))
  model
}

# The columns that the expressions give in R and in SQLite.
computed <- function(model, data) {
  found <- tidypredict::tidypredict_fit(model)
  if (!is.list(found)) found <- list(found)
  here <- lapply(found, function(expr) eval(expr, data, globalenv()))
  if (requireNamespace("RSQLite", quietly = TRUE) && requireNamespace("dbplyr", quietly = TRUE)) {
    connection <- DBI::dbConnect(RSQLite::SQLite(), ":memory:")
    on.exit(DBI::dbDisconnect(connection))
    DBI::dbWriteTable(connection, "data", transform(data, f = as.character(f)))
    for (i in seq_along(found)) {
      sql <- dbplyr::translate_sql(!!found[[i]], con = connection)
      values <- DBI::dbGetQuery(connection, paste("SELECT", sql, "AS p FROM data"))$p
      expect_equal(as.numeric(values), as.numeric(here[[i]]), tolerance = 1e-12)
    }
  }
  lapply(here, as.numeric)
}

test_that("linear models are expressions and SQL", {
  data <- sql_data()
  formula <- y ~ x * f + I(x^2) + log(w + 1) + l
  model <- fitted_model(linear_regressor, formula, data)
  rows <- gappy(data)
  expect_equal(computed(model, rows)[[1]], predict(model, rows)$.pred, tolerance = 1e-5)
  model <- fitted_model(linear_classifier, two ~ x + f + offset(w), data)
  expected <- suppressWarnings(predict(model, rows, type = "prob"))
  expect_equal(computed(model, rows)[[1]], expected$.pred_yes, tolerance = 1e-5)
  model <- fitted_model(linear_classifier, three ~ x + f, data)
  found <- computed(model, rows)
  expected <- predict(model, rows, type = "prob")
  for (k in 1:3) expect_equal(found[[k]], expected[[k]], tolerance = 1e-5)
  model <- fitted_model(
    linear_estimator, poisson_regression_head(), count ~ x + f, data = data
  )
  expect_equal(computed(model, rows)[[1]], predict(model, rows)[[1]], tolerance = 1e-5)
})

test_that("trees are expressions and SQL, also at thresholds and with missing values", {
  data <- sql_data()
  rows <- gappy(data)
  trees <- function(...) fitted_model(..., n_trees = 8L, max_depth = 3L)
  for (train_rows in list(data, rows)) {
    model <- trees(boosted_trees_regressor, y ~ x + w + f + l, train_rows)
    expected <- suppressWarnings(predict(model, rows))$.pred
    expect_equal(computed(model, rows)[[1]], expected, tolerance = 1e-5)
    model <- trees(boosted_trees_classifier, two ~ x + w + f, train_rows)
    expected <- suppressWarnings(predict(model, rows, type = "prob"))$.pred_yes
    expect_equal(computed(model, rows)[[1]], expected, tolerance = 1e-5)
    model <- trees(boosted_trees_classifier, three ~ x + log(w) + f, train_rows)
    found <- computed(model, rows)
    expected <- suppressWarnings(predict(model, rows, type = "prob"))
    for (k in 1:3) expect_equal(found[[k]], expected[[k]], tolerance = 1e-5)
  }
})

test_that("models without expressions are errors", {
  invalid <- "runhooks_error_invalid_argument"
  data <- sql_data(50)
  model <- fitted_model(dnn_regressor, y ~ x, data, hidden_units = 2)
  expect_error(tidypredict::tidypredict_fit(model), "linear model or boosted", class = invalid)
  model <- fitted_model(linear_regressor, y ~ poly(x, 2), data)
  expect_error(tidypredict::tidypredict_fit(model), "has no expression", class = invalid)
  model <- linear_regressor(list(column_numeric("x")))
  expect_error(tidypredict::tidypredict_fit(model), "formula", class = invalid)
})

test_that("orbital() predicts fits of parsnip", {
  skip_if_not_installed("orbital", "0.5.0")
  skip_if_not_installed("parsnip", "1.5.0")
  data <- sql_data()
  fit_of <- function(spec, formula, mode) {
    spec <- parsnip::set_engine(parsnip::set_mode(spec, mode), "runhooks")
    suppressWarnings(suppressMessages(generics::fit(spec, formula, data)))
  }
  trees <- parsnip::boost_tree(trees = 4, tree_depth = 2)
  for (spec in list(parsnip::linear_reg(), trees)) {
    fitted <- fit_of(spec, y ~ x + f, "regression")
    found <- predict(orbital::orbital(fitted), data)
    expect_equal(found$.pred, predict(fitted, data)$.pred, tolerance = 1e-5)
  }
  cases <- list(
    list(parsnip::logistic_reg(), two ~ x + f), list(parsnip::multinom_reg(), three ~ x + f),
    list(trees, two ~ x + f), list(trees, three ~ x + f)
  )
  for (case in cases) {
    fitted <- fit_of(case[[1]], case[[2]], "classification")
    found <- predict(orbital::orbital(fitted, type = c("prob", "class")), data)
    expected <- predict(fitted, data, type = "prob")
    expect_equal(as.list(found[names(expected)]), as.list(expected), tolerance = 1e-5)
    expect_identical(found$.pred_class, as.character(predict(fitted, data)$.pred_class))
  }
  expect_error(orbital::orbital(fitted$fit), "workflow of tidymodels", class = "runhooks_error")
})
