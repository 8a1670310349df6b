# Packages that explain, save and serve models, applied to fits of parsnip.

skip_on_cran()
skip_if_not_installed("parsnip", "1.5.0")
skip_if_not_installed("workflows")

cars_data <- function() transform(mtcars, cyl = factor(cyl), am = factor(am))

linear_fit <- function() {
  spec <- parsnip::set_engine(parsnip::linear_reg(), "runhooks")
  generics::fit(spec, mpg ~ wt + cyl, cars_data())
}

linear_flow <- function(spec = parsnip::linear_reg()) {
  flow <- workflows::workflow(mpg ~ wt + cyl, parsnip::set_engine(spec, "runhooks"))
  generics::fit(flow, cars_data())
}

predict_numbers <- function(object, newdata) predict(object, newdata)$.pred

reference <- function() lm(mpg ~ wt + cyl, cars_data())

test_that("a butchered linear model is small", {
  skip_if_not_installed("butcher", "0.3.0")
  skip_if_not_installed("lobstr")
  small <- butcher::butcher(linear_fit())
  expect_lt(sum(butcher::weigh(small, units = "KB")$size), 20)
  file <- withr::local_tempfile()
  saveRDS(small, file)
  expect_lt(file.size(file), 20000)
})

test_that("a bundled workflow predicts the same in another process", {
  skip_if_not_installed("bundle")
  skip_if_not_installed("butcher", "0.3.0")
  tree <- parsnip::boost_tree("regression", trees = 5, tree_depth = 2)
  for (spec in list(parsnip::linear_reg(), tree, wide_deep("regression", epochs = 2))) {
    flow <- linear_flow(spec)
    folder <- withr::local_tempdir()
    saveRDS(bundle::bundle(butcher::butcher(flow)), file.path(folder, "flow.rds"))
    saveRDS(cars_data(), file.path(folder, "data.rds"))
    code <- paste(
      "library(workflows)", sprintf("setwd('%s')", folder),
      "flow <- bundle::unbundle(readRDS('flow.rds'))",
      "saveRDS(predict(flow, readRDS('data.rds')), 'result.rds')",
      sep = "; "
    )
    processx::run(child_rscript(), c("-e", code), env = child_env())
    expect_identical(readRDS(file.path(folder, "result.rds")), predict(flow, cars_data()))
  }
})

test_that("DALEX explains an estimator and a fit", {
  skip_if_not_installed("DALEX")
  cars <- cars_data()[c("mpg", "wt", "cyl")]
  fitted <- linear_fit()
  for (object in list(fitted, fitted$fit)) {
    explainer <- DALEX::explain(
      object, cars[-1], cars$mpg, predict_function = predict_numbers, verbose = FALSE
    )
    expect_equal(explainer$y_hat, unname(fitted(reference())), tolerance = 1e-4)
    parts <- as.data.frame(DALEX::predict_parts(explainer, cars[1, ]))
    expect_equal(
      parts$cumulative[nrow(parts)], predict_numbers(fitted, cars[1, ]), tolerance = 1e-6
    )
    profile <- DALEX::model_profile(explainer, "wt", N = NULL)$agr_profiles
    slopes <- diff(profile$`_yhat_`) / diff(profile$`_x_`)
    expect_equal(slopes[-1], rep(coef(reference())[["wt"]], length(slopes) - 1), tolerance = 1e-3)
  }
})

test_that("pdp computes partial dependence", {
  skip_if_not_installed("pdp")
  mean_prediction <- function(object, newdata) mean(predict_numbers(object, newdata))
  expected <- pdp::partial(reference(), "wt", train = cars_data(), type = "regression")
  fitted <- linear_fit()
  for (object in list(fitted, fitted$fit, linear_flow())) {
    found <- pdp::partial(object, "wt", train = cars_data(), pred.fun = mean_prediction)
    expect_equal(found$yhat, expected$yhat, tolerance = 1e-4)
  }
})

test_that("emmeans uses the engine's fit", {
  skip_if_not_installed("emmeans")
  fitted <- parsnip::extract_fit_engine(linear_flow())
  found <- summary(emmeans::emmeans(fitted, "cyl", data = cars_data()))
  expected <- summary(emmeans::emmeans(reference(), "cyl"))
  expect_equal(found$emmean, expected$emmean, tolerance = 1e-4)
  expect_equal(found$SE, expected$SE, tolerance = 1e-3)
})

test_that("iml finds the importance of predictors", {
  skip_if_not_installed("iml")
  cars <- cars_data()
  predictor <- iml::Predictor$new(
    linear_flow(), cars[c("wt", "cyl", "hp")], cars$mpg, predict.function = predict_numbers
  )
  found <- iml::FeatureImp$new(predictor, loss = "mse", n.repetitions = 2)$results
  expect_equal(found$importance[found$feature == "hp"], 1)
})

test_that("probably has conformal intervals", {
  skip_if_not_installed("probably")
  skip_if_not_installed("tune", "2.0.0")
  intervals <- probably::int_conformal_split(linear_flow(), cars_data())
  found <- predict(intervals, cars_data(), level = 0.9)
  inside <- cars_data()$mpg >= found$.pred_lower & cars_data()$mpg <= found$.pred_upper
  expect_gte(mean(inside), 0.9)
})

test_that("stacks blends candidates", {
  for (package in c("stacks", "rsample")) skip_if_not_installed(package)
  skip_if_not_installed("tune", "2.0.0")
  set.seed(1)
  folds <- rsample::vfold_cv(cars_data(), 3)
  results <- function(spec) {
    flow <- workflows::workflow(mpg ~ wt + cyl, parsnip::set_engine(spec, "runhooks"))
    tune::fit_resamples(flow, folds, control = stacks::control_stack_resamples())
  }
  stack <- stacks::add_candidates(stacks::stacks(), results(parsnip::linear_reg()), name = "linear")
  tree <- parsnip::boost_tree("regression", trees = 5, tree_depth = 2, learn_rate = 0.3)
  stack <- stacks::add_candidates(stack, results(tree), name = "trees")
  stack <- suppressWarnings(stacks::fit_members(stacks::blend_predictions(stack)))
  expect_true(all(is.finite(predict(stack, cars_data())$.pred)))
})

test_that("vetiver pins a workflow, which predicts the same in another process and by plumber", {
  for (package in c("vetiver", "pins", "callr")) skip_if_not_installed(package)
  withr::local_options(rlib_message_verbosity = "quiet")
  tree <- parsnip::boost_tree("classification", trees = 5, tree_depth = 2)
  network <- parsnip::mlp("regression", hidden_units = 3, epochs = 2)
  flows <- list(
    linear = linear_flow(), network = linear_flow(network),
    classes = generics::fit(
      workflows::workflow(am ~ wt + cyl, parsnip::set_engine(tree, "runhooks")), cars_data()
    )
  )
  board <- pins::board_folder(withr::local_tempdir())
  for (name in names(flows)) {
    model <- vetiver::vetiver_model(flows[[name]], name)
    expect_match(model$description, "runhooks")
    suppressMessages(vetiver::vetiver_pin_write(board, model))
    found <- callr::r(
      function(board, name, data) {
        model <- vetiver::vetiver_pin_read(board, name)
        vetiver::load_pkgs(model$metadata$required_pkgs)
        predict(model, data)
      },
      list(board, name, cars_data()), libpath = .libPaths()
    )
    expect_identical(found, predict(flows[[name]], cars_data()), label = name)
  }
  skip_if_not_installed("plumber")
  skip_if_not_installed("jsonlite")
  api <- vetiver::vetiver_api(
    plumber::pr(), suppressMessages(vetiver::vetiver_pin_read(board, "linear"))
  )
  body <- charToRaw(jsonlite::toJSON(cars_data()[1:3, c("wt", "cyl")]))
  request <- as.environment(list(
    REQUEST_METHOD = "POST", PATH_INFO = "/predict", QUERY_STRING = "",
    HTTP_CONTENT_TYPE = "application/json", CONTENT_TYPE = "application/json",
    HTTP_CONTENT_LENGTH = as.character(length(body)),
    rook.input = list(read = function() body, rewind = function() length(body), read_lines = function() {
      rawToChar(body)
    })
  ))
  answer <- api$call(request)
  expect_identical(answer$status, 200L)
  served <- jsonlite::fromJSON(answer$body)$.pred
  expect_equal(served, predict(flows$linear, cars_data()[1:3, ])$.pred, tolerance = 1e-3)
})

test_that("vip finds the importance of predictors by shuffling", {
  skip_if_not_installed("vip")
  by_shuffling <- vip::vi_permute(
    linear_flow(), train = cars_data()[c("mpg", "wt", "cyl", "hp")], target = "mpg", metric = "rmse",
    pred_wrapper = predict_numbers, nsim = 2
  )
  importance <- setNames(by_shuffling$Importance, by_shuffling$Variable)
  expect_identical(importance[["hp"]], 0)
  expect_gt(importance[["wt"]], 0)
})

test_that("marginaleffects computes slopes and comparisons of fits and workflows", {
  skip_if_not_installed("marginaleffects")
  slope <- coef(reference())[["wt"]]
  # marginaleffects extracts the training data by insight, which warns once
  for (object in list(linear_fit(), linear_flow())) {
    found <- suppressWarnings(marginaleffects::avg_slopes(
      object, variables = "wt", newdata = cars_data(), vcov = FALSE
    ))
    expect_equal(found$estimate, slope, tolerance = 1e-3)
    found <- marginaleffects::avg_predictions(object, newdata = cars_data(), vcov = FALSE)
    expect_equal(found$estimate, mean(cars_data()$mpg), tolerance = 1e-4)
  }
})
