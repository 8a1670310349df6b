# Registers the engine "runhooks" for the models of parsnip when parsnip is loaded.

# Calls `register` now if `package` is loaded, and again whenever it is loaded later.
register_on_load <- function(package, register) {
  safely <- function(...) {
    # an error here would prevent the other package from being loaded
    tryCatch(register(), error = function(error) {
      packageStartupMessage("runhooks is not available in ", package, ": ", conditionMessage(error))
    })
  }
  if (isNamespaceLoaded(package)) safely()
  setHook(packageEvent(package, "onLoad"), safely)
}

register_parsnip <- function() {
  register_wide_deep()
  for (model in names(parsnip_models)) register_model(model, parsnip_models[[model]])
}

register_wide_deep <- function() {
  if ("wide_deep" %in% parsnip::get_from_env("models")) return(invisible())
  parsnip::set_new_model("wide_deep")
  for (mode in parsnip_models$wide_deep$modes) parsnip::set_model_mode("wide_deep", mode)
}

# Describes the function of the package dials that returns the default range of a parameter.
dials_fn <- function(fun, ...) list(pkg = "dials", fun = fun, ...)

parsnip_models <- local({
  # dials gives the range of the batch size as powers of 2: 8 to 256
  batch_size <- dials_fn("batch_size", range = c(3, 8))
  linear <- list(
    fun = "parsnip_linear_fit",
    args = list(
      penalty = dials_fn("penalty"), mixture = dials_fn("mixture", range = c(0, 1)),
      epochs = dials_fn("epochs"), learn_rate = dials_fn("learn_rate", range = c(-3, 0)),
      batch_size = batch_size
    )
  )
  mlp <- list(
    penalty = dials_fn("penalty"), hidden_units = dials_fn("hidden_units", range = c(1, 64)),
    dropout = dials_fn("dropout", range = c(0, 0.9)), epochs = dials_fn("epochs"),
    activation = dials_fn(
      "activation", values = c("linear", "relu", "elu", "selu", "tanh", "sigmoid", "softplus")
    ),
    learn_rate = dials_fn("learn_rate", range = c(-4, -0.5)), batch_size = batch_size,
    stop_iter = dials_fn("stop_iter")
  )
  trees <- list(
    trees = dials_fn("trees"), tree_depth = dials_fn("tree_depth"), min_n = dials_fn("min_n"),
    learn_rate = dials_fn("learn_rate", range = c(-3, -0.2)),
    loss_reduction = dials_fn("loss_reduction"), stop_iter = dials_fn("stop_iter"),
    mtry = dials_fn("mtry"), sample_size = dials_fn("sample_prop")
  )
  list(
    linear_reg = c(
      linear,
      list(
        modes = c("regression", "quantile regression"), intervals = c("conf_int", "pred_int")
      )
    ),
    logistic_reg = c(linear, list(modes = "classification", intervals = "conf_int")),
    multinom_reg = c(linear, list(modes = "classification")),
    poisson_reg = c(
      linear,
      list(modes = "regression", defaults = list(family = "poisson"), intervals = "conf_int")
    ),
    wide_deep = list(
      fun = "parsnip_wide_deep_fit", args = mlp[names(mlp) != "penalty"],
      modes = c("regression", "classification")
    ),
    mlp = list(
      fun = "parsnip_mlp_fit", args = mlp,
      modes = c("regression", "classification", "quantile regression")
    ),
    boost_tree = list(
      fun = "parsnip_boost_tree_fit", args = trees, modes = c("regression", "classification"),
      submodels = "trees"
    )
  )
})

register_model <- function(model, model_info) {
  for (mode in model_info$modes) {
    defaults <- as.list(model_info$defaults)
    if (mode == "quantile regression") defaults$quantile_levels <- quote(quantile_levels)
    parsnip::set_model_engine(model, mode = mode, eng = "runhooks")
    parsnip::set_dependency(model, eng = "runhooks", pkg = "runhooks", mode = mode)
    parsnip::set_fit(
      model = model, mode = mode, eng = "runhooks",
      value = list(
        # the interface "data.frame" would drop interactions and offsets
        interface = "formula", protect = c("formula", "data", "weights"),
        func = c(pkg = "runhooks", fun = model_info$fun), defaults = defaults
      )
    )
    parsnip::set_encoding(
      model = model, mode = mode, eng = "runhooks",
      options = list(
        predictor_indicators = "none", compute_intercept = FALSE, remove_intercept = FALSE,
        allow_sparse_x = TRUE
      )
    )
    intervals <- if (mode != "quantile regression") model_info$intervals
    for (type in c(prediction_types[[mode]], intervals)) {
      parsnip::set_pred(
        model = model, mode = mode, eng = "runhooks", type = type, value = prediction_spec(type)
      )
    }
  }
  for (name in names(model_info$args)) {
    parsnip::set_model_arg(
      model = model, eng = "runhooks", parsnip = name, original = name,
      func = model_info$args[[name]], has_submodel = name %in% model_info$submodels
    )
  }
}

prediction_types <- list(
  regression = c("numeric", "raw"), classification = c("class", "prob", "raw"),
  `quantile regression` = "quantile"
)

prediction_spec <- function(type) {
  args <- list(object = quote(object$fit), newdata = quote(new_data))
  if (type %in% c("numeric", "class", "prob", "quantile")) args$type <- type
  intervals <- c(conf_int = "confidence", pred_int = "prediction")
  if (type %in% names(intervals)) {
    args$interval <- intervals[[type]]
    args$level <- quote(level)
  }
  list(pre = NULL, post = post_functions[[type]], func = c(fun = "predict"), args = args)
}

# Functions that convert our tibbles to the tibbles and vectors that parsnip expects. Each fit
# stores a copy of these functions, so longer code is in separate functions.
post_functions <- list(
  numeric = function(results, object) results[[1]],
  class = function(results, object) results[[1]],
  quantile = function(results, object) finish_quantiles(results, object),
  prob = function(results, object) {
    names(results) <- paste0(".pred_", object$lvl)
    results
  },
  conf_int = function(results, object) finish_interval(results, object),
  pred_int = function(results, object) results[c(".pred_lower", ".pred_upper")]
)

finish_quantiles <- function(results, object) {
  quantiles <- as.matrix(results)
  dimnames(quantiles) <- NULL
  # as this name, because older versions of hardhat lack it
  quantile_pred <- getExportedValue("hardhat", "quantile_pred")
  quantiles <- quantile_pred(quantiles, object$spec$quantile_levels)
  tibble::new_tibble(list(.pred_quantile = quantiles), nrow = length(quantiles))
}

finish_interval <- function(results, object) {
  if (object$spec$mode == "regression") return(results[c(".pred_lower", ".pred_upper")])
  # the interval is that of the second class; the interval of the first class is its complement
  low <- results$.pred_lower
  high <- results$.pred_upper
  names <- paste0(c(".pred_lower_", ".pred_upper_"), rep(object$lvl, each = 2))
  fast_tibble(setNames(list(1 - high, 1 - low, low, high), names), length(low))
}
