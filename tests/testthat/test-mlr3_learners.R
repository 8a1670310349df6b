# Tests the learners for the package mlr3.

skip_on_cran()
skip_if_not_installed("mlr3", "1.0.0")
lgr::get_logger("mlr3")$set_threshold("warn")

families <- c("linear", "dnn", "wide_deep", "trees")

learner <- function(key, ...) mlr3::lrn(sub("[.]", ".runhooks.", key), ...)

cars_task <- function(rows = seq_len(32)) mlr3::as_task_regr(mtcars[rows, ], target = "mpg", id = "cars")

noisy_task <- function(n = 200) {
  withr::local_seed(5)
  data <- data.frame(x = rnorm(n))
  data$y <- data$x + rnorm(n)
  mlr3::as_task_regr(data, target = "y", id = "noisy")
}

test_that("runhooks does not load mlr3, and registers in both orders of loading", {
  loads <- function(...) {
    output <- processx::run(
      child_rscript(), c("-e", paste(c(...), collapse = "; ")), env = child_env()
    )
    strsplit(output$stdout, "\n")[[1]]
  }
  made <- "cat(lrn(\"regr.runhooks.linear\")$id)"
  is_loaded <- "cat(\"mlr3\" %in% loadedNamespaces(), \"\\n\")"
  expect_identical(
    loads("library(runhooks)", is_loaded, "library(mlr3)", made),
    c("FALSE ", "regr.runhooks.linear")
  )
  expect_identical(loads("library(mlr3)", "library(runhooks)", made), "regr.runhooks.linear")
})

test_that("all learners pass the tests of mlr3", {
  skip_if_not_installed("mirai")
  env <- new.env(parent = globalenv())
  env$with_seed <- withr::with_seed
  for (name in c("lrn", "default_fallback", "resample", "rsmp")) {
    env[[name]] <- getExportedValue("mlr3", name)
  }
  env$as.data.table <- data.table::as.data.table
  sys.source(system.file("testthat", "helper_autotest.R", package = "mlr3"), env)
  withr::local_envvar(R_LIBS = paste(.libPaths(), collapse = .Platform$path.sep))
  mirai::daemons(1, .compute = "mlr3_encapsulation")
  withr::defer(mirai::daemons(0, .compute = "mlr3_encapsulation"))
  for (type in c("regr", "classif")) for (family in families) {
    key <- paste(type, family, sep = ".")
    found <- env$suppress_fallback_warnings(env$run_autotest(learner(key)))
    expect_true(isTRUE(found), label = key, info = found$error)
  }
})

test_that("learners equal the direct calls", {
  task <- cars_task()
  data <- as.data.frame(task$data())
  config <- run_config(tf_random_seed = 2)
  linear <- learner("regr.linear", penalty = 0.5, mixture = 0)$train(task)
  reference <- learner("regr.linear")$train(task)
  expect_equal(
    reference$predict(task)$response, unname(predict(lm(mpg ~ ., mtcars))), tolerance = 1e-4
  )
  expect_lt(
    sum(coef(linear$model)[-1]^2), sum(coef(reference$model)[-1]^2)
  )
  direct <- dnn_regressor(mpg ~ ., data, hidden_units = c(4, 2), dropout = 0.1, config = config)
  suppressMessages(train(direct, num_epochs = 4, batch_size = 8))
  network <- learner(
    "regr.dnn", hidden_units = c(4, 2), dropout = 0.1, epochs = 4, batch_size = 8, seed = 2
  )
  expect_equal(
    network$train(task)$predict(task)$response, predict(direct, data)$.pred, tolerance = 1e-12
  )
  iris_task <- mlr3::tsk("iris")
  rows <- as.data.frame(iris_task$data())
  direct <- boosted_trees_classifier(Species ~ ., rows, n_trees = 5, max_depth = 2)
  train(direct)
  trees <- learner("classif.trees", n_trees = 5, max_depth = 2, predict_type = "prob")
  trees$train(iris_task)
  expect_equal(
    unname(trees$predict(iris_task)$prob), unname(as.matrix(predict(direct, rows, type = "prob"))),
    tolerance = 1e-12
  )
  found <- trees$importance()
  expected <- feature_importances(direct)
  expect_equal(found, setNames(expected$importance, expected$feature))
})

test_that("weights are equivalent to repeated rows", {
  data <- transform(mtcars[c("mpg", "wt", "hp")], times = rep(1:2, 16))
  task <- mlr3::as_task_regr(data, target = "mpg")
  task$set_col_roles("times", roles = "weights_learner")
  found <- learner("regr.linear")$train(task)$predict(task)$response
  expected <- unname(predict(lm(mpg ~ wt + hp, data, weights = times)))
  expect_equal(found, expected, tolerance = 1e-4)
})

test_that("a class without rows and missing values are predicted", {
  task <- mlr3::tsk("iris")
  for (family in families) {
    few <- learner(paste0("classif.", family), predict_type = "prob")
    if (family %in% c("dnn", "wide_deep")) few$param_set$set_values(epochs = 2)
    suppressMessages(few$train(task, 1:100))
    expect_identical(dim(few$predict(task)$prob), c(150L, 3L))
  }
  gaps <- mtcars
  gaps$wt[1:5] <- NA
  gaps <- mlr3::as_task_regr(gaps, target = "mpg")
  expect_false(anyNA(learner("regr.trees", n_trees = 3)$train(gaps)$predict(gaps)$response))
  expect_error(learner("regr.linear")$train(gaps), "missing")
})

test_that("validation gives scores, and patience the number of trees or epochs", {
  task <- noisy_task()
  trees <- learner("regr.trees", n_trees = 500, learning_rate = 0.3, patience = 5, validate = 0.3)
  network <- learner(
    "regr.dnn", hidden_units = 30, epochs = 1000, patience = 5, optimizer = "Adam", validate = 0.3
  )
  for (stopped in list(trees, network)) {
    set.seed(1)
    stopped$train(task)
    tuned <- stopped$internal_tuned_values[[1]]
    expect_type(tuned, "integer")
    expect_lt(tuned, 400)
    expect_identical(
      names(stopped$internal_tuned_values), if (identical(stopped, trees)) "n_trees" else "epochs"
    )
    expect_lt(stopped$internal_valid_scores$average_loss, 2)
  }
  for (family in families) {
    plain <- learner(paste0("regr.", family), validate = "predefined")
    if (family != "trees") plain$param_set$set_values(epochs = 2)
    divided <- noisy_task(60)
    rows <- as.data.frame(divided$data(rows = 41:60))
    divided$internal_valid_task <- 41:60
    plain$train(divided)
    expected <- mean((plain$predict_newdata(rows)$response - rows$y)^2)
    expect_equal(plain$internal_valid_scores$average_loss, expected, tolerance = 1e-5, label = family)
    expect_length(plain$internal_tuned_values, 0)
  }
  expect_error(
    learner("regr.dnn", patience = 3)$train(task), "`patience` needs `validate`",
    class = "runhooks_error_invalid_argument"
  )
})

test_that("mlr3tuning tunes internally", {
  skip_if_not_installed("mlr3tuning")
  tuned <- learner("regr.trees", patience = 3, learning_rate = 0.3, validate = "test")
  tuned$param_set$set_values(
    n_trees = paradox::to_tune(upper = 300, internal = TRUE), max_depth = paradox::to_tune(1, 2)
  )
  set.seed(2)
  found <- mlr3tuning::tune(
    mlr3tuning::tnr("grid_search", resolution = 2), noisy_task(), tuned, mlr3::rsmp("cv", folds = 2),
    mlr3::msr("internal_valid_score", select = "average_loss", minimize = TRUE)
  )
  number <- found$result$internal_tuned_values[[1]]$n_trees
  expect_true(number >= 1 && number < 300)
  tuned$param_set$set_values(patience = NULL)
  expect_error(
    mlr3tuning::tune(
      mlr3tuning::tnr("grid_search"), noisy_task(), tuned, mlr3::rsmp("cv", folds = 2),
      mlr3::msr("internal_valid_score", select = "average_loss", minimize = TRUE)
    ),
    "set `patience`"
  )
})

test_that("a hotstart equals one training and leaves the first learner as it was", {
  task <- cars_task()
  for (few in list(
    learner("regr.dnn", hidden_units = 4, dropout = 0.1, epochs = 5, batch_size = 8, seed = 1),
    learner("regr.wide_deep", dnn_hidden_units = 4, epochs = 5, seed = 1),
    learner("regr.linear", epochs = 5, seed = 1),
    learner("regr.trees", n_trees = 5, sample_size = 0.8, mtry = 3, seed = 1)
  )) {
    number <- few$param_set$ids(tags = "hotstart")
    more <- few$clone(deep = TRUE)
    more$param_set$values[[number]] <- 12L
    whole <- more$clone(deep = TRUE)
    few$train(task)
    before <- few$predict(task)$response
    more$hotstart_stack <- mlr3::HotstartStack$new(few)
    more$train(task)
    whole$train(task)
    expect_identical(
      more$predict(task)$response, whole$predict(task)$response, label = few$id
    )
    expect_identical(few$predict(task)$response, before)
    # the training continued: both models have made the same number of steps
    steps <- whole$model$estimator$get_variable_value("global_step")
    expect_identical(more$model$estimator$get_variable_value("global_step"), steps)
  }
})

test_that("learners are encapsulated by callr and predict after saveRDS() in another process", {
  skip_if_not_installed("callr")
  task <- mlr3::tsk("iris")
  for (family in c("dnn", "trees")) {
    made <- learner(paste0("classif.", family), predict_type = "prob", seed = 1)
    if (family == "dnn") made$param_set$set_values(epochs = 3)
    here <- made$clone(deep = TRUE)$train(task)$predict(task)$prob
    made$encapsulate("callr", mlr3::lrn("classif.featureless", predict_type = "prob"))
    made$train(task)
    expect_identical(nrow(made$log), 0L)
    expect_identical(made$predict(task)$prob, here)
    file <- withr::local_tempfile()
    saveRDS(made, file)
    there <- callr::r(
      function(file) readRDS(file)$predict(mlr3::tsk("iris"))$prob, list(file), libpath = .libPaths()
    )
    expect_identical(there, here)
  }
})

test_that("resample() and benchmark() use the learners, and print nothing", {
  design <- mlr3::benchmark_grid(
    list(cars_task(), noisy_task(50)),
    list(learner("regr.dnn", epochs = 1), learner("regr.trees", n_trees = 3)),
    mlr3::rsmp("cv", folds = 2)
  )
  expect_silent(result <- mlr3::benchmark(design))
  expect_identical(nrow(result$score()), 8L)
})

test_that("errors about parameters use the names of mlr3", {
  expect_error(learner("regr.trees", n_trees = 0), "n_trees")
  expect_error(learner("regr.dnn", units = 3), "units")
  network <- learner("regr.dnn", optimizer = "Adem", epochs = 1)
  expect_error(network$train(cars_task()), "Adem", class = "runhooks_error")
  network <- learner("regr.dnn", activation_fn = "rely", epochs = 1)
  expect_error(network$train(cars_task()), "rely", class = "runhooks_error")
  linear <- learner("regr.linear", penalty = 1, epochs = 3)
  expect_error(linear$train(cars_task()), "`penalty` is 1", class = "runhooks_error")
  expect_error(learner("regr.trees", mtry = 11)$train(cars_task()), "10 predictors")
  expect_error(learner("regr.trees")$importance(), "has no model")
})
