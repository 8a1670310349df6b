# Bad input in parsnip, workflows and tune: errors that use the user's names, before training.

skip_if_not_installed("parsnip", "1.5.0")

invalid <- "runhooks_error_invalid_argument"

cars <- transform(mtcars, cyl = factor(cyl), am = factor(am))

engine <- function(spec, ...) parsnip::set_engine(spec, "runhooks", ...)
linear <- engine(parsnip::linear_reg())
logistic <- engine(parsnip::logistic_reg())
network <- function(..., engine_args = list()) {
  rlang::inject(engine(parsnip::mlp("regression", ...), !!!engine_args))
}
trees <- function(...) engine(parsnip::boost_tree("regression", ...))

# Words of runhooks' own interface, which must not occur in errors for users of tidymodels.
direct_words <- paste0(
  "train[(]|constructor|learning_rate|n_trees|max_depth|na[.]action|tf_random_seed|num_epochs|",
  "max_steps|column_numeric|loss_reduction =|validation ="
)

# Expects an error, and that nothing was trained.
expect_bad <- function(spec, pattern, formula = mpg ~ wt, data = cars, ..., class = invalid) {
  hook <- recording_hook("begin")
  spec <- parsnip::set_engine(spec, "runhooks", hooks = hook, !!!spec$eng_args)
  error <- expect_error(generics::fit(spec, formula, data, ...), pattern, class = class)
  if (inherits(error, "runhooks_error")) {
    expect_identical(conditionCall(error), quote(fit()))
    expect_no_match(conditionMessage(error), direct_words)
  }
  expect_length(calls_of(hook), 0)
}

test_that("modes, types and outcomes that a model lacks are errors of parsnip", {
  expect_error(engine(parsnip::boost_tree("censored regression")), "Available modes")
  expect_error(
    parsnip::set_mode(trees(), "quantile regression", quantile_levels = 0.5), "Available modes"
  )
  expect_error(generics::fit(engine(parsnip::mlp()), mpg ~ wt, cars), "mode")
  expect_error(wide_deep("quantile regression"), "quantile regression")
  fitted <- generics::fit(linear, mpg ~ wt, cars)
  expect_error(predict(fitted, cars, type = "prob"), "classification")
  expect_error(predict(fitted, cars, type = "quantile"), "numeric")
  net <- generics::fit(network(epochs = 1), mpg ~ wt, cars)
  expect_error(predict(net, cars, type = "conf_int"), "conf_int")
  expect_bad(linear, "numeric", am ~ wt, class = "rlang_error")
  expect_bad(logistic, "factor", mpg ~ wt, class = "rlang_error")
  expect_bad(logistic, "multinom_reg", cyl ~ wt, class = "rlang_error")
  negative <- transform(cars, carb = -carb)
  expect_bad(engine(parsnip::poisson_reg()), "0 or more", carb ~ wt, negative)
})

test_that("arguments out of range are errors that name the argument of parsnip", {
  for (rate in list(0, -1, Inf, "fast")) {
    expect_bad(network(learn_rate = rate), "`learn_rate` must be a positive number")
    expect_bad(trees(learn_rate = rate), "`learn_rate` must be a positive number",
      class = "rlang_error"
    )
    expect_bad(
      engine(parsnip::linear_reg(), learn_rate = rate, epochs = 2),
      "`learn_rate` must be a positive number"
    )
    expect_bad(engine(wide_deep("regression", learn_rate = rate)), "`learn_rate` must be a positive")
  }
  for (share in list(-0.1, 1, "half")) {
    expect_bad(network(dropout = share), "`dropout` must be", class = "rlang_error")
    expect_bad(engine(wide_deep("regression", dropout = share)), "`dropout` must be")
  }
  for (count in list(0, NA, "a", 2.5)) {
    expect_bad(network(epochs = count), "`epochs` must be", class = "rlang_error")
    expect_bad(network(hidden_units = count), "`hidden_units` must be", class = "rlang_error")
    expect_bad(trees(trees = count), "`trees` must be", class = "rlang_error")
    expect_bad(trees(stop_iter = count), "`stop_iter` must be", class = "rlang_error")
  }
  expect_bad(trees(sample_size = 0), "`sample_size` must be")
  expect_bad(trees(sample_size = 2), "`sample_size` must be", class = "rlang_error")
  expect_bad(engine(parsnip::linear_reg(penalty = -1)), "`penalty` must be", class = "rlang_error")
  expect_bad(
    engine(parsnip::linear_reg(penalty = 1, mixture = 2)), "`mixture` must be", class = "rlang_error"
  )
  for (seed in list("a", -1, 1.5, c(1, 2))) {
    expect_bad(network(engine_args = list(seed = seed)), "`seed` must be")
  }
  expect_error(
    generics::fit(network(engine_args = list(hooks = list(3))), mpg ~ wt, cars),
    "Element 1 is a number", class = invalid
  )
  expect_bad(engine(parsnip::logistic_reg(), class_weights = c(x = 1)), "class", am ~ wt)
})

test_that("list columns, other weights and missing rows are errors", {
  lists <- cars
  lists$l <- as.list(1:32)
  expect_bad(linear, "not a list", mpg ~ l, lists)
  expect_error(parsnip::fit_xy(linear, lists["l"], lists$mpg), "not a list", class = invalid)
  expect_bad(linear, "no column `nothing`", mpg ~ nothing, class = "runhooks_error_not_found")
  for (spec in list(linear, trees(), network(epochs = 1))) {
    expect_bad(spec, "The data have no rows", data = cars[0, ])
    expect_error(
      parsnip::fit_xy(spec, cars[0, "wt", drop = FALSE], numeric()), "no rows", class = invalid
    )
    expect_error(parsnip::fit_xy(spec, cars[0], cars$mpg), "no predictors", class = invalid)
  }
  fitted <- generics::fit(linear, mpg ~ wt, cars)
  expect_identical(nrow(predict(fitted, cars[0, ])), 0L)
  infinite <- transform(cars, wt = replace(wt, 3, Inf))
  expect_bad(linear, "finite numbers", data = infinite)
  skip_if_not_installed("hardhat")
  counts <- hardhat::frequency_weights
  weights <- hardhat::importance_weights
  expect_bad(linear, "must have 32 elements, one for each row, not 3", case_weights = counts(1:3))
  expect_bad(linear, "case_weights", case_weights = 1:32, class = "rlang_error")
  expect_bad(trees(), "All `case_weights` are 0", case_weights = weights(numeric(32)))
  expect_bad(
    network(), "`case_weights` must be finite", case_weights = weights(c(NA, rep(1, 31)))
  )
})

test_that("strings are levels, and new levels give a warning", {
  text <- transform(cars, s = rep(c("a", "b"), 16))
  expected <- unname(predict(lm(mpg ~ s, text)))
  for (fitted in list(
    generics::fit(linear, mpg ~ s, text), parsnip::fit_xy(linear, text["s"], text$mpg)
  )) {
    expect_equal(predict(fitted, text)$.pred, expected, tolerance = 1e-5)
    new <- data.frame(s = c("a", "z"))
    expect_warning(found <- predict(fitted, new), "z", class = "runhooks_warning_new_levels")
    expect_identical(nrow(found), 2L)
  }
  fitted <- generics::fit(linear, mpg ~ s, text)
  expect_error(predict(fitted, cars["wt"]), "\"s\"", class = "runhooks_error_not_found")
})

test_that("fits print no messages about train()", {
  expect_silent(generics::fit(network(hidden_units = 64, epochs = 1), mpg ~ ., mtcars))
  expect_silent(generics::fit(
    network(epochs = 200, engine_args = list(stop_iter = 1, optimizer = "Adam")), mpg ~ ., mtcars
  ))
  expect_silent(generics::fit(
    trees(trees = 30, stop_iter = 2), mpg ~ ., mtcars
  ))
  error <- expect_error(
    suppressMessages(generics::fit(network(epochs = 3, learn_rate = 1e30), mpg ~ wt, cars)),
    class = "runhooks_error_nan_loss"
  )
  expect_no_match(conditionMessage(error), direct_words)
  hook <- session_run_hook(after_run = function(context, values) stop("boom"))
  error <- expect_error(
    generics::fit(network(engine_args = list(hooks = hook)), mpg ~ wt, cars), "boom",
    class = "runhooks_error_hook"
  )
  expect_identical(conditionCall(error), quote(after_run(context, values)))
})

test_that("an interrupted fit prints no message about train()", {
  hook <- session_run_hook(after_run = function(context, values) rlang::interrupt())
  expect_silent(tryCatch(
    generics::fit(network(engine_args = list(hooks = hook)), mpg ~ wt, cars),
    interrupt = function(condition) NULL
  ))
})

test_that("workflows and tune show the causes", {
  skip_on_cran()
  skip_if_not_installed("tune", "2.0.0")
  for (package in c("workflows", "rsample", "recipes")) skip_if_not_installed(package)
  empty <- workflows::workflow(
    recipes::step_rm(recipes::recipe(mpg ~ wt, cars), "wt"), linear
  )
  expect_error(generics::fit(empty, cars), "no predictors", class = invalid)
  set.seed(1)
  folds <- rsample::vfold_cv(mtcars, v = 2)
  for (bad in list(
    list(parsnip::mlp("regression", hidden_units = tune::tune(), epochs = 1), c(0, 3), "hidden_units"),
    list(parsnip::mlp("regression", learn_rate = tune::tune(), epochs = 1), c(-1, 0.01), "learn_rate"),
    list(parsnip::boost_tree("regression", tree_depth = tune::tune(), trees = 2), c(30, 2), "tree_depth")
  )) {
    flow <- workflows::workflow(mpg ~ ., engine(bad[[1]], seed = 1))
    grid <- setNames(data.frame(bad[[2]]), bad[[3]])
    found <- suppressWarnings(suppressMessages(tune::tune_grid(flow, folds, grid = grid)))
    expect_identical(unique(tune::collect_metrics(found)[[bad[[3]]]]), bad[[2]][[2]])
    notes <- tune::collect_notes(found)$note
    expect_length(notes, 2)
    expect_match(notes, paste0("`", bad[[3]], "` must be"))
  }
})
