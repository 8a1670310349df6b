# All models of parsnip by all interfaces, with and without weights, all types of predictions, and
# all ways to save. Everything equals the direct call.

skip_on_cran()
skip_if_not_installed("parsnip", "1.5.0")
for (package in c("workflows", "recipes", "hardhat", "sparsevctrs")) skip_if_not_installed(package)

levels_of <- c(0.2, 0.8)

rows <- local({
  withr::local_seed(3)
  n <- 60
  x <- Matrix::rsparsematrix(n, 4, 0.6)
  dimnames(x) <- list(NULL, c("a", "b", "c", "d"))
  data <- as.data.frame(as.matrix(x))
  data$f <- factor(sample(c("u", "v", "w"), n, TRUE))
  eta <- data$a - data$b / 2 + (data$f == "v") + rnorm(n) / 2
  list(
    x = data, sparse = x, times = rep(1:3, length.out = n),
    y = list(
      number = eta, count = rpois(n, exp(eta / 2)),
      two = factor(ifelse(eta + rnorm(n) > 0, "yes", "no")),
      three = factor(c("k", "l", "m")[findInterval(eta, c(-0.5, 0.5)) + 1])
    )
  )
})

# Describes a case. `kind`: the first part of the name of the function that the direct call uses.
# `...`: the arguments of that call.
case <- function(spec, y, kind, types, ..., head = NULL, training = list()) {
  list(
    spec = spec, y = y, kind = kind, types = types, args = list(...), head = head,
    training = training
  )
}

quantile <- function(spec) parsnip::set_mode(spec, "quantile regression", quantile_levels = levels_of)

quantiles <- function(weight) quantile_head(levels_of, weight_column = weight)

number_types <- c("numeric", "raw")
class_types <- c("class", "prob", "raw")

cases <- list(
  linear_reg = case(
    parsnip::linear_reg(), "number", "linear", c(number_types, "conf_int", "pred_int")
  ),
  linear_reg_quantile = case(
    quantile(parsnip::linear_reg()), "number", "linear", "quantile",
    head = quantiles, training = list(num_epochs = 200)
  ),
  logistic_reg = case(parsnip::logistic_reg(), "two", "linear", c(class_types, "conf_int")),
  multinom_reg = case(parsnip::multinom_reg(), "three", "linear", class_types),
  poisson_reg = case(
    parsnip::poisson_reg(), "count", "linear", c(number_types, "conf_int"),
    head = function(weight) {
      poisson_regression_head(weight_column = weight, loss_reduction = "sum_over_batch_size")
    }
  ),
  mlp = case(
    parsnip::mlp("regression", hidden_units = 3, epochs = 3), "number", "dnn", number_types,
    hidden_units = 3, training = list(num_epochs = 3)
  ),
  mlp_classes = case(
    parsnip::mlp("classification", hidden_units = 3, epochs = 3), "three", "dnn", class_types,
    hidden_units = 3, training = list(num_epochs = 3)
  ),
  mlp_quantile = case(
    quantile(parsnip::mlp(hidden_units = 3, epochs = 3)), "number", "dnn", "quantile",
    hidden_units = 3, head = quantiles,
    training = list(num_epochs = 3)
  ),
  wide_deep = case(
    wide_deep("regression", hidden_units = 3, epochs = 3), "number", "dnn_linear_combined",
    number_types, dnn_hidden_units = 3, training = list(num_epochs = 3)
  ),
  wide_deep_classes = case(
    wide_deep("classification", hidden_units = 3, epochs = 3), "two", "dnn_linear_combined",
    class_types, dnn_hidden_units = 3, training = list(num_epochs = 3)
  ),
  boost_tree = case(
    parsnip::boost_tree("regression", trees = 4, tree_depth = 2), "number", "boosted_trees",
    number_types, n_trees = 4, max_depth = 2
  ),
  boost_tree_classes = case(
    parsnip::boost_tree("classification", trees = 4, tree_depth = 2), "three", "boosted_trees",
    class_types, n_trees = 4, max_depth = 2
  )
)

interfaces <- c("formula", "recipe", "xy", "sparse")

predictors <- function(interface) if (interface == "sparse") rows$x[c("a", "b", "c", "d")] else rows$x

new_rows <- function(interface) {
  if (interface == "sparse") rows$sparse[1:20, ] else predictors(interface)[1:20, ]
}

fit_by <- function(case, interface, has_weights) {
  spec <- parsnip::set_engine(case$spec, "runhooks", seed = 1)
  y <- rows$y[[case$y]]
  weights <- if (has_weights) hardhat::frequency_weights(rows$times)
  data <- cbind(rows$x, y = y)
  switch(interface,
    formula = generics::fit(spec, y ~ ., data, case_weights = weights),
    recipe = {
      if (has_weights) data$times <- weights
      flow <- workflows::workflow(recipes::recipe(y ~ ., data), spec)
      if (has_weights) flow <- workflows::add_case_weights(flow, times)
      generics::fit(flow, data)
    },
    xy = parsnip::fit_xy(spec, rows$x, y, case_weights = weights),
    sparse = parsnip::fit_xy(spec, rows$sparse, y, case_weights = weights)
  )
}

direct_by <- function(case, interface, has_weights) {
  data <- cbind(predictors(interface), y = rows$y[[case$y]])
  args <- c(list(y ~ ., data = data, config = run_config(tf_random_seed = 1)), case$args)
  if (has_weights) args$data$weights <- as.numeric(rows$times)
  if (!is.null(case$head)) {
    args$head <- case$head(if (has_weights) "weights")
  } else if (has_weights) {
    args$weight_column <- "weights"
  }
  kind <- if (!is.null(case$head)) {
    "estimator"
  } else if (is.factor(data$y)) {
    "classifier"
  } else {
    "regressor"
  }
  names(args)[[1]] <- "formula"
  model <- do.call(paste(case$kind, kind, sep = "_"), args)
  do.call(train, c(list(model), case$training))
  model
}

# Returns the predictions of the direct call, with the names that parsnip gives.
direct_prediction <- function(model, interface, type) {
  data <- predictors(interface)[1:20, ]
  interval <- c(conf_int = "confidence", pred_int = "prediction")
  if (type %in% names(interval)) {
    return(predict(model, data, interval = interval[[type]], level = 0.9))
  }
  if (type %in% c("class", "prob")) return(predict(model, data, type = type))
  if (type == "quantile") return(predict(model, data))
  if (type == "numeric") predict(model, data)[".pred"] else predict(model, data)
}

numbers_of <- function(predicted, type) {
  if (type == "quantile" && ".pred_quantile" %in% names(predicted)) {
    return(unname(as.matrix(predicted$.pred_quantile)))
  }
  if (type %in% c("conf_int", "pred_int")) {
    # for classes, the direct call has the interval of the second class, which parsnip has last
    predicted <- predicted[grep("^[.]pred_(lower|upper)", names(predicted))]
    predicted <- predicted[utils::tail(seq_along(predicted), 2)]
  }
  unname(lapply(as.list(predicted), function(x) if (is.factor(x)) as.character(x) else x))
}

predicted_by <- function(fitted, case, interface, type) {
  level <- if (grepl("_int$", type)) list(level = 0.9)
  do.call(predict, c(list(fitted, new_rows(interface), type = type), level))
}

test_that("each model has the numbers of the direct call, by each interface and type", {
  for (name in names(cases)) {
    case <- cases[[name]]
    for (has_weights in c(FALSE, TRUE)) for (interface in interfaces) {
      fitted <- suppressWarnings(fit_by(case, interface, has_weights))
      direct <- suppressWarnings(direct_by(case, interface, has_weights))
      for (type in case$types) {
        found <- numbers_of(predicted_by(fitted, case, interface, type), type)
        expected <- numbers_of(direct_prediction(direct, interface, type), type)
        if (type == "quantile") expected <- unname(do.call(cbind, expected))
        expect_equal(
          found, expected, tolerance = 1e-12, ignore_attr = TRUE,
          label = paste(name, interface, type, if (has_weights) "with weights")
        )
      }
    }
  }
})

test_that("fits predict the same after saving, butchering and bundling, in another process", {
  skip_if_not_installed("callr")
  skip_if_not_installed("butcher", "0.3.0")
  skip_if_not_installed("bundle")
  saved <- list()
  expect_error(
    predict(butcher::butcher(fit_by(cases$linear_reg, "xy", FALSE)), rows$x, "conf_int"),
    "Intervals need the training data"
  )
  for (name in names(cases)) for (interface in interfaces) {
    fitted <- suppressWarnings(fit_by(cases[[name]], interface, has_weights = TRUE))
    small <- butcher::butcher(fitted)
    types <- grep("_int$", cases[[name]]$types, value = TRUE, invert = TRUE)
    saved[[paste(name, interface)]] <- list(
      fits = list(
        plain = fitted, butchered = small, bundled = bundle::bundle(small)
      ),
      new_data = new_rows(interface), types = types,
      intervals = setdiff(cases[[name]]$types, types)
    )
  }
  # returns the predictions of each way to save a fit; only complete fits have intervals
  all_predictions <- function(saved) {
    lapply(saved, function(one) {
      one$fits$bundled <- bundle::unbundle(one$fits$bundled)
      types <- list(plain = c(one$types, one$intervals), butchered = one$types, bundled = one$types)
      Map(
        function(fitted, types) {
          lapply(types, function(type) predict(fitted, one$new_data, type))
        },
        one$fits, types[names(one$fits)]
      )
    })
  }
  file <- withr::local_tempfile()
  saveRDS(saved, file)
  found <- callr::r(
    function(file, all_predictions) {
      loadNamespace("workflows")
      all_predictions(readRDS(file))
    },
    list(file, rlang::set_env(all_predictions, globalenv())), libpath = .libPaths()
  )
  for (name in names(saved)) {
    expected <- all_predictions(saved[name])[[1]]
    expect_identical(found[[name]], expected, label = name)
    types <- seq_along(expected$butchered)
    expect_identical(expected$butchered, expected$plain[types], label = paste(name, "butchered"))
    expect_identical(expected$bundled, expected$plain[types], label = paste(name, "bundled"))
  }
})

test_that("penalties equal those of glmnet", {
  skip_if_not_installed("glmnet")
  x <- as.matrix(rows$x[c("a", "b", "c", "d")])
  families <- list(
    linear_reg = c("number", "gaussian"), logistic_reg = c("two", "binomial"),
    multinom_reg = c("three", "multinomial"), poisson_reg = c("count", "poisson")
  )
  for (name in names(families)) for (mixture in c(0, 0.5, 1)) for (penalty in c(0.01, 0.1)) {
    for (weights in list(NULL, rows$times)) {
      y <- rows$y[[families[[name]][[1]]]]
      family <- families[[name]][[2]]
      spec <- cases[[name]]$spec
      spec <- parsnip::set_engine(
        parsnip::set_args(spec, penalty = penalty, mixture = mixture), "runhooks"
      )
      given <- if (!is.null(weights)) hardhat::frequency_weights(weights)
      fitted <- parsnip::fit_xy(spec, as.data.frame(x), y, case_weights = given)
      reference <- glmnet::glmnet(
        x, y, family, weights = weights, alpha = mixture, lambda = penalty,
        control = list(thresh = 1e-14, maxit = 1e6)
      )
      expected <- predict(reference, x, type = "response")
      found <- if (is.factor(y)) {
        as.matrix(predict(fitted, as.data.frame(x), type = "prob"))
      } else {
        as.matrix(predict(fitted, as.data.frame(x)))
      }
      if (family == "binomial") found <- found[, 2]
      expect_equal(
        as.vector(found), as.vector(expected), tolerance = 1e-4,
        label = paste(name, mixture, penalty, if (!is.null(weights)) "weights")
      )
    }
  }
})
