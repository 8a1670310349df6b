# The parsnip engine "runhooks".

skip_if_not_installed("parsnip", "1.5.0")

cars_data <- function() {
  transform(mtcars, am = factor(am, labels = c("auto", "manual")), cyl = factor(cyl))
}

invalid <- "runhooks_error_invalid_argument"

engine <- function(spec, ..., mode = NULL) {
  spec <- parsnip::set_engine(spec, "runhooks", ...)
  if (is.null(mode)) spec else parsnip::set_mode(spec, mode)
}

trained <- function(model, ...) {
  train(model, ...)
  model
}

test_that("runhooks does not load parsnip, and registers in both orders of loading", {
  skip_on_cran()
  loads <- function(...) {
    output <- processx::run(
      child_rscript(), c("-e", paste(c(...), collapse = "; ")), env = child_env()
    )
    strsplit(output$stdout, "\n")[[1]]
  }
  shown <- "cat(\"runhooks\" %in% parsnip::show_engines(\"poisson_reg\")$engine, \"\\n\")"
  expect_identical(
    loads("library(runhooks)", "cat(\"parsnip\" %in% loadedNamespaces(), \"\\n\")", shown),
    c("FALSE ", "TRUE ")
  )
  expect_identical(loads("library(parsnip)", "library(runhooks)", shown), "TRUE ")
})

test_that("linear_reg() equals the direct call and lm()", {
  spec <- engine(parsnip::linear_reg())
  fitted <- generics::fit(spec, mpg ~ wt + hp, mtcars)
  direct <- trained(linear_regressor(mpg ~ wt + hp, mtcars))
  reference <- lm(mpg ~ wt + hp, mtcars)
  expect_equal(predict(fitted, mtcars)$.pred, predict(direct, mtcars)$.pred, tolerance = 1e-12)
  expect_equal(predict(fitted, mtcars)$.pred, unname(predict(reference)), tolerance = 1e-4)
  for (type in c("conf_int", "pred_int")) {
    interval <- c(conf_int = "confidence", pred_int = "prediction")[[type]]
    found <- predict(fitted, mtcars[1:4, ], type = type, level = 0.9)
    expect_named(found, c(".pred_lower", ".pred_upper"))
    wanted <- predict(reference, mtcars[1:4, ], interval = interval, level = 0.9)[, 2:3]
    expect_equal(as.matrix(found), wanted, tolerance = 1e-4, ignore_attr = TRUE)
  }
  expect_equal(predict(fitted, mtcars, type = "raw")$.pred, predict(fitted, mtcars)$.pred)
  expect_equal(
    generics::tidy(fitted)$estimate, unname(coef(reference)), tolerance = 1e-4
  )
})

test_that("formulas have interactions, calls and offsets", {
  cars <- cars_data()
  for (formula in list(
    mpg ~ wt * hp, mpg ~ wt * cyl, log(mpg) ~ log(wt) + poly(hp, 2), mpg ~ wt + offset(hp / 50),
    mpg ~ 1, mpg ~ wt - 1
  )) {
    fitted <- generics::fit(engine(parsnip::linear_reg()), formula, cars)
    expected <- unname(predict(lm(formula, cars), cars))
    expect_equal(predict(fitted, cars)$.pred, expected, tolerance = 1e-4, label = deparse(formula))
  }
})

test_that("rows with missing values are dropped in training, and predicted as NA", {
  cars <- cars_data()
  cars$wt[3] <- NA
  cars$mpg[5] <- NA
  linear <- engine(parsnip::linear_reg())
  fitted <- generics::fit(linear, mpg ~ wt + cyl, cars)
  expected <- unname(predict(lm(mpg ~ wt + cyl, cars), cars))
  expect_equal(predict(fitted, cars)$.pred, expected, tolerance = 1e-4)
  fitted <- parsnip::fit_xy(linear, cars[c("wt", "cyl")], cars$mpg)
  expect_equal(predict(fitted, cars[c("wt", "cyl")])$.pred, expected, tolerance = 1e-4)
  trees <- engine(parsnip::boost_tree(trees = 3), mode = "regression")
  fitted <- generics::fit(trees, mpg ~ wt + cyl, cars)
  expect_identical(nrow(fitted$fit$data), 31L)
  expect_false(anyNA(predict(fitted, cars)$.pred))
  expect_error(generics::fit(linear, mpg ~ wt, cars[3, ]), "no complete rows", class = invalid)
})

test_that("logistic_reg() equals the direct call and glm(), with factors", {
  cars <- cars_data()
  fitted <- generics::fit(engine(parsnip::logistic_reg()), am ~ wt + cyl, cars)
  direct <- trained(linear_classifier(am ~ wt + cyl, cars))
  reference <- glm(am ~ wt + cyl, binomial, cars)
  found <- predict(fitted, cars, type = "prob")
  expect_named(found, c(".pred_auto", ".pred_manual"))
  expect_equal(found, predict(direct, cars, type = "prob"), tolerance = 1e-12)
  expect_equal(found$.pred_manual, unname(predict(reference, type = "response")), tolerance = 1e-4)
  interval <- predict(fitted, cars, type = "conf_int", level = 0.9)
  link <- predict(reference, cars, se.fit = TRUE)
  high <- unname(stats::plogis(link$fit + qnorm(0.95) * link$se.fit))
  expect_equal(interval$.pred_upper_manual, high, tolerance = 1e-3)
  expect_equal(interval$.pred_lower_auto, 1 - high, tolerance = 1e-3)
  classes <- predict(fitted, cars)$.pred_class
  expect_identical(levels(classes), c("auto", "manual"))
  expect_identical(classes == "manual", found$.pred_manual > 0.5)
})

test_that("multinom_reg() and poisson_reg() equal the direct calls", {
  spec <- engine(parsnip::multinom_reg())
  fitted <- generics::fit(spec, Species ~ Sepal.Width + Sepal.Length, iris)
  direct <- trained(linear_classifier(Species ~ Sepal.Width + Sepal.Length, iris))
  expect_equal(
    predict(fitted, iris, type = "prob"), predict(direct, iris, type = "prob"), tolerance = 1e-12
  )
  counts <- generics::fit(engine(parsnip::poisson_reg()), carb ~ wt + cyl, cars_data())
  reference <- glm(carb ~ wt + cyl, poisson, cars_data())
  expect_equal(predict(counts, cars_data())$.pred, unname(fitted(reference)), tolerance = 1e-4)
  interval <- predict(counts, cars_data()[1:2, ], type = "conf_int")
  link <- predict(reference, cars_data()[1:2, ], se.fit = TRUE)
  expect_equal(
    log(interval$.pred_upper), unname(link$fit + qnorm(0.975) * link$se.fit), tolerance = 1e-3
  )
})

test_that("quantile regression has the levels of the mode", {
  skip_if_not_installed("hardhat", "1.4.1")
  levels <- c(0.1, 0.5, 0.9)
  quantiles <- function(spec) {
    parsnip::set_mode(engine(spec, seed = 1), "quantile regression", quantile_levels = levels)
  }
  fitted <- generics::fit(quantiles(parsnip::linear_reg()), mpg ~ wt, mtcars)
  found <- predict(fitted, mtcars)$.pred_quantile
  expect_identical(hardhat::extract_quantile_levels(found), levels)
  share <- colMeans(mtcars$mpg <= as.matrix(found))
  expect_equal(as.vector(share), levels, tolerance = 0.1)
  fitted <- parsnip::fit_xy(
    quantiles(parsnip::mlp(hidden_units = 3, epochs = 30)), mtcars["wt"], mtcars$mpg
  )
  direct <- trained(
    dnn_estimator(
      quantile_head(levels), mpg ~ wt, data = mtcars, hidden_units = 3,
      config = run_config(tf_random_seed = 1)
    ),
    num_epochs = 30
  )
  found <- as.matrix(predict(fitted, mtcars["wt"])$.pred_quantile)
  expected <- as.matrix(predict(direct, mtcars))
  expect_equal(found, expected, tolerance = 1e-12, ignore_attr = TRUE)
  expect_error(
    generics::fit(quantiles(parsnip::linear_reg(penalty = 1)), mpg ~ wt, mtcars),
    "quantiles have no penalty", class = invalid
  )
})

test_that("mlp() equals the direct call", {
  spec <- parsnip::mlp(
    hidden_units = c(8, 4), dropout = 0.1, epochs = 20, activation = "elu", learn_rate = 0.01
  )
  options <- list(batch_size = 16, optimizer = "Adam", seed = 3)
  fitted <- generics::fit(
    engine(spec, !!!options, mode = "classification"), Species ~ ., iris
  )
  direct <- trained(
    dnn_classifier(
      Species ~ ., iris, hidden_units = c(8, 4), dropout = 0.1, activation_fn = "elu",
      learning_rate = 0.01, optimizer = "Adam", config = run_config(tf_random_seed = 3)
    ),
    num_epochs = 20, batch_size = 16
  )
  expect_equal(
    predict(fitted, iris, type = "prob"), predict(direct, iris, type = "prob"), tolerance = 1e-12
  )
  numbers <- generics::fit(
    engine(parsnip::mlp(hidden_units = 4, epochs = 5), seed = 2, mode = "regression"),
    mpg ~ wt + hp, mtcars
  )
  direct <- trained(
    dnn_regressor(mpg ~ wt + hp, mtcars, hidden_units = 4, config = run_config(tf_random_seed = 2)),
    num_epochs = 5
  )
  expect_equal(predict(numbers, mtcars)$.pred, predict(direct, mtcars)$.pred, tolerance = 1e-12)
})

test_that("boost_tree() equals the direct call, with the rows of min_n", {
  cars <- cars_data()
  spec <- parsnip::boost_tree(trees = 15, tree_depth = 3, learn_rate = 0.3)
  fitted <- generics::fit(engine(spec, mode = "regression"), mpg ~ ., cars)
  direct <- trained(
    boosted_trees_regressor(mpg ~ ., cars, n_trees = 15, max_depth = 3, learning_rate = 0.3)
  )
  expect_equal(predict(fitted, cars)$.pred, predict(direct, cars)$.pred, tolerance = 1e-12)
  classes <- generics::fit(engine(spec, mode = "classification"), Species ~ ., iris)
  direct <- trained(
    boosted_trees_classifier(Species ~ ., iris, n_trees = 15, max_depth = 3, learning_rate = 0.3)
  )
  expect_equal(
    predict(classes, iris, type = "prob"), predict(direct, iris, type = "prob"), tolerance = 1e-12
  )
  sampled <- parsnip::set_args(spec, mtry = 3, sample_size = 0.7)
  fitted <- generics::fit(engine(sampled, seed = 2, mode = "regression"), mpg ~ ., cars)
  direct <- trained(
    boosted_trees_regressor(
      mpg ~ ., cars, n_trees = 15, max_depth = 3, learning_rate = 0.3, mtry = 3,
      sample_size = 0.7, config = run_config(tf_random_seed = 2)
    )
  )
  expect_equal(predict(fitted, cars)$.pred, predict(direct, cars)$.pred, tolerance = 1e-12)
  # `min_n` is the minimum number of rows on each side of a split
  for (min_n in c(2, 6, 7, 13)) {
    spec <- parsnip::boost_tree(trees = 1, tree_depth = 2, min_n = min_n)
    found <- predict(generics::fit(engine(spec, mode = "regression"), mpg ~ wt, mtcars), mtcars)
    sizes <- table(found$.pred)
    expect_gt(length(sizes), 1)
    expect_gte(min(sizes), min_n)
  }
  spec <- parsnip::boost_tree(trees = 1, min_n = 17)
  found <- predict(generics::fit(engine(spec, mode = "regression"), mpg ~ wt, mtcars), mtcars)
  expect_length(unique(found$.pred), 1)
})

test_that("stop_iter stops by held-out rows", {
  set.seed(1)
  data <- data.frame(x = rnorm(200))
  data$y <- data$x + rnorm(200)
  for (spec in list(
    parsnip::boost_tree(trees = 500, stop_iter = 5, tree_depth = 4, learn_rate = 0.3),
    engine(parsnip::mlp(hidden_units = 30, epochs = 2000), stop_iter = 5, optimizer = "Adam")
  )) {
    spec <- parsnip::set_args(spec, validation = 0.2, seed = 1)
    before <- globalenv()$.Random.seed
    fitted <- generics::fit(engine(spec, !!!spec$eng_args, mode = "regression"), y ~ x, data)
    expect_identical(globalenv()$.Random.seed, before)
    expect_identical(nrow(fitted$fit$data), 160L)
    expect_lt(evaluate(fitted$fit, data)$global_step, 1000)
    again <- generics::fit(engine(spec, !!!spec$eng_args, mode = "regression"), y ~ x, data)
    expect_identical(predict(fitted, data), predict(again, data))
  }
})

test_that("loss_reduction removes splits with less gain", {
  y <- c(1, 1, 3, 3)
  data <- data.frame(x = 1:4, y = rep(y, 50))
  # the gain of the split: half the decrease of the sum of squares
  gain <- sum((y - mean(y))^2) * 50 / 2
  nodes_of <- function(loss_reduction) {
    spec <- parsnip::boost_tree(trees = 1, tree_depth = 1, loss_reduction = loss_reduction)
    fitted <- suppressWarnings(generics::fit(engine(spec, mode = "regression"), y ~ x, data))
    sum(!as.data.frame(fitted$fit)$is_leaf)
  }
  expect_identical(nodes_of(gain * 0.98), 1L)
  expect_identical(nodes_of(gain * 1.02), 0L)
})

test_that("multi_predict() equals fits with fewer trees", {
  spec <- parsnip::boost_tree(trees = 12, tree_depth = 3)
  fitted <- generics::fit(engine(spec, mode = "regression"), mpg ~ ., mtcars)
  several <- parsnip::multi_predict(fitted, mtcars, trees = c(12, 1, 5))
  expect_identical(dim(several), c(32L, 1L))
  expect_identical(several$.pred[[1]]$trees, c(1, 5, 12))
  for (n in c(1, 5, 12)) {
    fewer <- generics::fit(
      engine(parsnip::boost_tree(trees = n, tree_depth = 3), mode = "regression"), mpg ~ ., mtcars
    )
    found <- vapply(several$.pred, function(row) row$.pred[row$trees == n], 0)
    expect_equal(found, predict(fewer, mtcars)$.pred, tolerance = 1e-12)
  }
  expect_equal(predict(fitted, mtcars)$.pred, found, tolerance = 1e-12)
  classes <- generics::fit(engine(spec, mode = "classification"), Species ~ ., iris)
  rows <- parsnip::multi_predict(classes, iris[c(1, 51), ], trees = c(2, 12), type = "prob")$.pred
  expect_named(rows[[1]], c("trees", ".pred_setosa", ".pred_versicolor", ".pred_virginica"))
  expect_equal(rows[[2]][2, -1], predict(classes, iris[51, ], type = "prob"), tolerance = 1e-12)
  rows <- parsnip::multi_predict(classes, iris[1:2, ], trees = c(2, 12))$.pred
  expect_s3_class(rows[[1]]$.pred_class, "factor")
  expect_error(
    parsnip::multi_predict(fitted, mtcars, trees = 13), "between 1 and 12", class = invalid
  )
  expect_error(parsnip::multi_predict(fitted, mtcars, foo = 3), "foo", class = invalid)
})

test_that("penalties minimize the objective of glmnet", {
  z <- function(x) (x - mean(x)) / sqrt(mean((x - mean(x))^2))
  cars <- cars_data()
  x <- apply(cars[c("wt", "hp", "qsec")], 2, z)
  minimum <- function(loss, mixture, penalty) {
    objective <- function(p) {
      penalized <- (1 - mixture) / 2 * sum(p[-1]^2) + mixture * sum(abs(p[-1]))
      mean(loss(p[1] + x %*% p[-1])) + penalty * penalized
    }
    best <- stats::optim(rep(0, 4), objective, method = "BFGS", control = list(reltol = 1e-15))
    as.vector(best$par[1] + x %*% best$par[-1])
  }
  yes <- cars$am == "manual"
  spec <- engine(parsnip::logistic_reg(penalty = 0.1, mixture = 0))
  found <- predict(generics::fit(spec, am ~ wt + hp + qsec, cars), cars, type = "prob")$.pred_manual
  expected <- minimum(function(eta) log1p(exp(eta)) - yes * eta, 0, 0.1)
  expect_equal(qlogis(found), expected, tolerance = 1e-4)
  spec <- engine(parsnip::poisson_reg(penalty = 0.1, mixture = 0))
  found <- predict(generics::fit(spec, carb ~ wt + hp + qsec, cars), cars)$.pred
  expected <- minimum(function(eta) exp(eta) - cars$carb * eta, 0, 0.1)
  expect_equal(log(found), expected, tolerance = 1e-4)
  # glmnet standardizes the outcome, so that its penalty is relative to the standard deviation
  s <- sqrt(mean((mtcars$mpg - mean(mtcars$mpg))^2))
  for (mixture in c(0, 0.5)) {
    spec <- engine(parsnip::linear_reg(penalty = 1, mixture = mixture))
    found <- predict(generics::fit(spec, mpg ~ wt + hp + qsec, mtcars), mtcars)$.pred
    b <- stats::lm.fit(x, found - mean(found))$coefficients / s
    slope <- crossprod(x, z(mtcars$mpg) - x %*% b) / 32 - (1 - mixture) / s * b
    expect_true(all(abs(slope) <= mixture / s + 1e-4))
    expect_equal(as.vector(slope)[abs(b) > 1e-5], mixture / s * sign(b[abs(b) > 1e-5]),
      tolerance = 1e-3, ignore_attr = TRUE
    )
  }
  # the bias has no penalty
  spec <- engine(parsnip::logistic_reg(penalty = 1e3, mixture = 1))
  found <- predict(generics::fit(spec, am ~ wt + cyl, cars), cars, type = "prob")$.pred_manual
  expect_equal(found, rep(mean(yes), 32), tolerance = 1e-4)
  spec <- engine(parsnip::mlp(hidden_units = 3, penalty = 0.1), optimizer = "LBFGS", seed = 1)
  few <- generics::fit(parsnip::set_mode(spec, "classification"), Species ~ ., iris)
  expect_lt(max(predict(few, iris, type = "prob")), 0.98)
})

test_that("case weights are equivalent to repeated rows", {
  skip_if_not_installed("hardhat")
  cars <- cars_data()
  times <- rep(1:2, 16)
  twice <- cars[rep(seq_len(32), times), ]
  for (weights in list(hardhat::frequency_weights(times), hardhat::importance_weights(times))) {
    fitted <- generics::fit(
      engine(parsnip::linear_reg()), mpg ~ wt + cyl, cars, case_weights = weights
    )
    reference <- lm(mpg ~ wt + cyl, twice)
    expect_equal(predict(fitted, cars)$.pred, unname(predict(reference, cars)), tolerance = 1e-4)
  }
  for (spec in list(parsnip::logistic_reg(), parsnip::logistic_reg(penalty = 0.1, mixture = 0))) {
    weighted <- generics::fit(engine(spec), am ~ cyl, cars, case_weights = weights)
    repeated <- generics::fit(engine(spec), am ~ cyl, twice)
    expected <- predict(repeated, cars, type = "prob")
    expect_equal(predict(weighted, cars, type = "prob"), expected, tolerance = 1e-4)
  }
  tree <- engine(parsnip::boost_tree(trees = 5, tree_depth = 2), mode = "regression")
  plain <- generics::fit(tree, mpg ~ wt, cars)
  weighted <- generics::fit(tree, mpg ~ wt, cars, case_weights = weights)
  expect_false(isTRUE(all.equal(predict(plain, cars)$.pred, predict(weighted, cars)$.pred)))
})

test_that("formula, x/y and recipe give the same model", {
  cars <- cars_data()
  names <- c("wt", "cyl", "am")
  for (spec in list(
    engine(parsnip::linear_reg()),
    engine(parsnip::boost_tree(trees = 4, tree_depth = 2), mode = "regression"),
    engine(parsnip::mlp(hidden_units = 3, epochs = 3), seed = 1, mode = "regression")
  )) {
    by_formula <- predict(generics::fit(spec, mpg ~ wt + cyl + am, cars), cars)$.pred
    by_xy <- predict(parsnip::fit_xy(spec, cars[names], cars$mpg), cars[names])$.pred
    expect_equal(by_formula, by_xy, tolerance = 1e-12)
    skip_if_not_installed("workflows")
    skip_if_not_installed("recipes")
    recipe <- recipes::recipe(mpg ~ wt + cyl + am, cars)
    flow <- workflows::workflow(recipe, spec)
    expect_equal(predict(generics::fit(flow, cars), cars)$.pred, by_xy, tolerance = 1e-12)
  }
  # fit_xy() with a matrix of numbers
  matrix <- as.matrix(mtcars[c("wt", "hp")])
  fitted <- parsnip::fit_xy(engine(parsnip::linear_reg()), matrix, mtcars$mpg)
  expect_equal(
    predict(fitted, matrix)$.pred, unname(fitted(lm(mpg ~ wt + hp, mtcars))), tolerance = 1e-4
  )
})

test_that("sparse matrices and tibbles give the model of dense columns", {
  skip_if_not_installed("sparsevctrs")
  set.seed(1)
  x <- Matrix::rsparsematrix(100, 8, 0.2)
  colnames(x) <- paste0("w", 1:8)
  y <- as.vector(x %*% 1:8) + rnorm(100)
  dense <- as.data.frame(as.matrix(x))
  spec <- engine(parsnip::linear_reg())
  expected <- predict(parsnip::fit_xy(spec, dense, y), dense)
  expect_identical(predict(parsnip::fit_xy(spec, x, y), x), expected)
  table <- sparsevctrs::coerce_to_sparse_tibble(x)
  expect_identical(predict(parsnip::fit_xy(spec, table, y), table), expected)
})

test_that("a butchered workflow predicts the same after saving", {
  skip_if_not_installed("butcher", "0.3.0")
  skip_if_not_installed("workflows")
  flow <- workflows::workflow(mpg ~ wt + hp, engine(parsnip::linear_reg()))
  fitted <- generics::fit(flow, mtcars)
  file <- withr::local_tempfile()
  saveRDS(butcher::butcher(fitted), file)
  expect_lt(file.size(file), 20000)
  expect_identical(predict(readRDS(file), mtcars), predict(fitted, mtcars))
})

test_that("a workflow has case weights and hooks", {
  skip_if_not_installed("workflows")
  skip_if_not_installed("hardhat")
  cars <- cars_data()
  cars$times <- hardhat::frequency_weights(rep(1:2, 16))
  hook <- recording_hook()
  flow <- workflows::workflow(mpg ~ wt, engine(parsnip::linear_reg(), hooks = hook))
  flow <- workflows::add_case_weights(flow, times)
  fitted <- generics::fit(flow, cars)
  reference <- lm(mpg ~ wt, cars, weights = as.numeric(cars$times))
  expect_equal(predict(fitted, cars)$.pred, unname(predict(reference, cars)), tolerance = 1e-4)
  expect_true(all(c("begin", "after_run", "end") %in% calls_of(hook)))
})

test_that("a saved fit predicts the same in another process", {
  skip_on_cran()
  skip_if_not_installed("workflows")
  spec <- parsnip::boost_tree(trees = 6, tree_depth = 2)
  flow <- workflows::workflow(Species ~ ., engine(spec, mode = "classification"))
  fitted <- generics::fit(flow, iris)
  folder <- withr::local_tempdir()
  file <- file.path(folder, "fit.rds")
  result <- file.path(folder, "result.rds")
  saveRDS(fitted, file)
  code <- sprintf(
    "library(workflows); saveRDS(predict(readRDS('%s'), iris, type = 'prob'), '%s')", file, result
  )
  processx::run(child_rscript(), c("-e", code), env = child_env())
  expect_identical(readRDS(result), predict(fitted, iris, type = "prob"))
})

test_that("a model directory has a folder for each fit, which is trained once", {
  folder <- withr::local_tempdir()
  hook <- recording_hook("begin")
  fit_of <- function(data, hidden_units = 3, ...) {
    spec <- engine(
      parsnip::mlp(hidden_units = hidden_units, epochs = 4), model_dir = folder, seed = 1,
      hooks = hook, ..., mode = "regression"
    )
    generics::fit(spec, mpg ~ wt + hp, data)
  }
  first <- fit_of(mtcars)
  again <- fit_of(mtcars)
  expect_length(calls_of(hook), 1)
  expect_identical(predict(again, mtcars), predict(first, mtcars))
  fit_of(mtcars[1:20, ])
  fit_of(mtcars, hidden_units = 4)
  expect_length(list.dirs(folder, recursive = FALSE), 3)
})

test_that("arguments that cannot be applied are errors before training", {
  cars <- cars_data()
  expect_invalid <- function(spec, pattern, formula = mpg ~ wt, data = cars, ...) {
    hook <- recording_hook("begin")
    spec <- parsnip::set_engine(spec, "runhooks", hooks = hook, !!!spec$eng_args)
    expect_error(generics::fit(spec, formula, data, ...), pattern, class = invalid)
    expect_length(calls_of(hook), 0)
  }
  tree <- function(...) parsnip::boost_tree("regression", ...)
  expect_invalid(tree(mtry = 2), "has only 1 predictor")
  expect_invalid(tree(mtry = 0.5), "`mtry` must be a whole number")
  expect_invalid(tree(stop_iter = 0), "`stop_iter` must be")
  expect_invalid(engine(tree(), validation = 1), "`validation` must be")
  expect_invalid(tree(tree_depth = 21), "`tree_depth` must be a whole number between 1 and 20")
  expect_invalid(tree(trees = 0), "`trees` must be")
  expect_invalid(tree(loss_reduction = -1), "`loss_reduction` must be")
  expect_invalid(tree(learn_rate = "fast"), "`learn_rate` must be")
  linear <- parsnip::linear_reg(penalty = 0.1)
  expect_invalid(engine(linear, batch_size = 8), "needs all rows in each step")
  expect_invalid(engine(linear, optimizer = "Adam"), "needs all rows in each step")
  expect_invalid(engine(parsnip::linear_reg(), batch = 8), "no argument `batch`")
  expect_invalid(engine(parsnip::linear_reg(), optimizer = "Adem"), "Adem")
  expect_invalid(engine(parsnip::linear_reg(), seed = "a"), "seed")
  expect_invalid(engine(parsnip::linear_reg(), model_dir = 3), "model_dir")
  expect_invalid(engine(parsnip::linear_reg(), class_weights = c(1, 2)), "class_weights")
  net <- function(...) parsnip::mlp("regression", ...)
  expect_invalid(net(penalty = 0.1), "has a penalty")
  expect_invalid(net(activation = "rely"), "`activation` must be")
  expect_invalid(net(hidden_units = 2.5), "`hidden_units` must be")
  expect_invalid(net(epochs = 0), "`epochs` must be")
  expect_invalid(net(dropout = 1), "dropout")
  expect_invalid(net(learn_rate = -1), "learn_rate")
  expect_invalid(engine(net(learn_rate = 1), optimizer = "LBFGS"), "no effect")
  list_column <- transform(cars, l = I(as.list(seq_len(32))))
  expect_error(
    parsnip::fit_xy(engine(parsnip::linear_reg()), list_column["l"], cars$mpg), class = invalid
  )
  expect_error(
    parsnip::fit_xy(engine(parsnip::linear_reg()), cars["wt"], cars[c("mpg", "hp")]),
    "needs one outcome", class = invalid
  )
})

test_that("tune_grid() fits once for all values of trees", {
  skip_on_cran()
  skip_if_not_installed("tune", "2.0.0")
  skip_if_not_installed("workflows")
  skip_if_not_installed("rsample")
  skip_if_not_installed("yardstick")
  hook <- recording_hook("begin")
  spec <- parsnip::boost_tree(trees = tune::tune(), tree_depth = tune::tune())
  flow <- workflows::workflow(mpg ~ ., engine(spec, hooks = hook, mode = "regression"))
  set.seed(1)
  folds <- rsample::vfold_cv(mtcars, v = 2)
  grid <- expand.grid(trees = c(2, 5, 10), tree_depth = 2:3)
  rmse <- yardstick::metric_set(yardstick::rmse)
  tuned <- tune::tune_grid(flow, folds, grid = grid, metrics = rmse)
  expect_identical(nrow(tune::collect_metrics(tuned)), 6L)
  expect_length(calls_of(hook), 2 * 2)
  chosen <- tune::collect_metrics(tuned, summarize = FALSE)
  chosen <- chosen[chosen$id == "Fold1" & chosen$trees == 5 & chosen$tree_depth == 3, ]
  train <- rsample::analysis(folds$splits[[1]])
  held_out <- rsample::assessment(folds$splits[[1]])
  direct <- trained(boosted_trees_regressor(mpg ~ ., train, n_trees = 5, max_depth = 3))
  rmse <- sqrt(mean((predict(direct, held_out)$.pred - held_out$mpg)^2))
  expect_equal(chosen$.estimate, rmse, tolerance = 1e-12)
})

test_that("a grid over trees has one run in the history for each fold", {
  skip_on_cran()
  skip_if_not_installed("tune", "2.0.0")
  for (package in c("workflows", "rsample", "yardstick")) skip_if_not_installed(package)
  folder <- withr::local_tempdir()
  spec <- engine(
    parsnip::boost_tree(trees = tune::tune(), tree_depth = 2), model_dir = folder, seed = 1,
    mode = "regression"
  )
  set.seed(1)
  tuned <- tune::tune_grid(
    workflows::workflow(mpg ~ ., spec), rsample::vfold_cv(mtcars, v = 2),
    grid = data.frame(trees = c(10, 50, 100)), metrics = yardstick::metric_set(yardstick::rmse)
  )
  expect_identical(tune::collect_metrics(tuned)$trees, c(10, 50, 100))
  fits <- list.dirs(folder, recursive = FALSE)
  expect_length(fits, 2)
  for (fit in fits) expect_identical(nrow(run_history(fit)), 1L)
})

test_that("dials has a range for each argument", {
  skip_if_not_installed("dials", "1.4.2")
  skip_if_not_installed("hardhat")
  tuned <- list(
    engine(parsnip::linear_reg(penalty = hardhat::tune(), mixture = hardhat::tune())),
    engine(
      parsnip::mlp(
        hidden_units = hardhat::tune(), penalty = hardhat::tune(), dropout = hardhat::tune(),
        epochs = hardhat::tune(), activation = hardhat::tune(), learn_rate = hardhat::tune()
      ),
      batch_size = hardhat::tune(), mode = "regression"
    ),
    engine(
      parsnip::boost_tree(
        trees = hardhat::tune(), tree_depth = hardhat::tune(), min_n = hardhat::tune(),
        learn_rate = hardhat::tune(), loss_reduction = hardhat::tune(),
        sample_size = hardhat::tune(), stop_iter = hardhat::tune()
      ),
      mode = "regression"
    )
  )
  for (spec in tuned) {
    parameters <- hardhat::extract_parameter_set_dials(spec)
    expect_s3_class(dials::grid_regular(parameters, levels = 2), "tbl_df")
  }
})
