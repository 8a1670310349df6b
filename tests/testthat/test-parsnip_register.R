# Tuning by tune, finetune, future and mirai.

skip_on_cran()
skip_if_not_installed("parsnip", "1.5.0")
skip_if_not_installed("tune", "2.0.0")
for (package in c("workflows", "rsample", "yardstick", "dials")) skip_if_not_installed(package)

tuned_flow <- function(spec, ..., mode = "regression", formula = mpg ~ .) {
  workflows::workflow(formula, parsnip::set_engine(parsnip::set_mode(spec, mode), "runhooks", ...))
}

folds_of <- function(data, v = 2) {
  withr::local_seed(1)
  rsample::vfold_cv(data, v = v)
}

network <- function() parsnip::mlp(hidden_units = tune::tune(), epochs = 3)

test_that("tune_bayes() proposes arguments in their ranges", {
  skip_if_not_installed("GauPro")
  spec <- parsnip::boost_tree(
    trees = 5, tree_depth = tune::tune(), learn_rate = tune::tune(), sample_size = tune::tune()
  )
  set.seed(1)
  found <- suppressMessages(tune::tune_bayes(
    tuned_flow(spec, seed = 1), folds_of(mtcars), initial = 4, iter = 2,
    metrics = yardstick::metric_set(yardstick::rmse),
    control = tune::control_bayes(verbose = FALSE)
  ))
  all <- tune::collect_metrics(found)
  expect_identical(nrow(all), 6L)
  expect_true(all(is.finite(all$mean)))
  expect_true(all(all$sample_size > 0 & all$sample_size <= 1))
})

test_that("mtry has its range from the data", {
  spec <- parsnip::boost_tree(trees = 3, mtry = tune::tune())
  set.seed(1)
  found <- suppressMessages(tune::tune_grid(tuned_flow(spec, seed = 1), folds_of(mtcars), grid = 3))
  expect_true(all(tune::collect_metrics(found)$mtry <= 10))
  expect_identical(sum(vapply(found$.notes, nrow, 0L)), 0L)
})

test_that("last_fit() and fit_best() train the chosen model", {
  data <- transform(mtcars, am = factor(am))
  set.seed(2)
  split <- rsample::initial_split(data)
  flow <- tuned_flow(parsnip::logistic_reg(), mode = "classification", formula = am ~ wt)
  last <- tune::last_fit(flow, split)
  direct <- linear_classifier(am ~ wt, rsample::training(split))
  train(direct)
  expected <- predict(direct, rsample::testing(split), type = "prob")$.pred_1
  expect_equal(tune::collect_predictions(last)$.pred_1, expected, tolerance = 1e-12)
  found <- tune::tune_grid(
    tuned_flow(network(), seed = 1), folds_of(mtcars), grid = data.frame(hidden_units = c(2, 5)),
    metrics = yardstick::metric_set(yardstick::rmse),
    control = tune::control_grid(save_workflow = TRUE)
  )
  best <- tune::fit_best(found)
  expect_identical(nrow(predict(best, mtcars)), 32L)
})

test_that("races of finetune drop arguments", {
  skip_if_not_installed("finetune")
  skip_if_not_installed("lme4")
  spec <- parsnip::boost_tree(trees = tune::tune(), tree_depth = 2, learn_rate = 0.3)
  set.seed(1)
  found <- suppressMessages(finetune::tune_race_anova(
    tuned_flow(spec), folds_of(mtcars, 5), grid = data.frame(trees = c(1, 5, 20)),
    metrics = yardstick::metric_set(yardstick::rmse)
  ))
  expect_true(any(tune::collect_metrics(found)$trees == 20))
})

test_that("simulated annealing of finetune tunes arguments", {
  skip_if_not_installed("finetune")
  set.seed(1)
  found <- suppressMessages(finetune::tune_sim_anneal(
    tuned_flow(network(), seed = 1), folds_of(mtcars), iter = 2, initial = 1,
    metrics = yardstick::metric_set(yardstick::rmse),
    control = finetune::control_sim_anneal(verbose = FALSE)
  ))
  expect_identical(nrow(tune::collect_metrics(found)), 3L)
})

test_that("parallel workers find the same metrics", {
  tuned <- function() {
    tune::collect_metrics(tune::tune_grid(
      tuned_flow(network(), seed = 1), folds_of(mtcars),
      grid = data.frame(hidden_units = c(2, 5)),
      control = tune::control_grid(allow_par = TRUE)
    ))
  }
  here <- tuned()
  libraries <- .libPaths()
  withr::local_envvar(R_LIBS = paste(libraries, collapse = .Platform$path.sep))
  if (all(vapply(c("future", "future.apply"), requireNamespace, NA, quietly = TRUE))) {
    old <- future::plan("multisession", workers = 2)
    found <- tuned()
    future::plan(old)
    expect_equal(found, here)
  }
  skip_if_not_installed("mirai")
  mirai::daemons(2)
  withr::defer(mirai::daemons(0))
  expect_equal(tuned(), here)
})

test_that("tuning continues if a fit fails, and the notes name the cause", {
  spec <- parsnip::boost_tree(trees = 2, mtry = tune::tune())
  found <- suppressWarnings(suppressMessages(tune::tune_grid(
    tuned_flow(spec, seed = 1, formula = mpg ~ wt + hp), folds_of(mtcars),
    grid = data.frame(mtry = c(2, 3))
  )))
  expect_identical(unique(tune::collect_metrics(found)$mtry), 2)
  notes <- tune::collect_notes(found)
  expect_true(all(grepl("`mtry` is 3, but the model has only 2 predictors", notes$note)))
})
