# Registers the engine "runhooks" of parsnip's models, when parsnip is loaded.

# Calls `register` now or when the package is loaded.
register_on_load <- function(package, register) {
  safely <- function(...) {
    # an error here must not prevent that a package is loaded
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

# A function, because the arguments of dials are calls of its functions by name.
dial <- function(fun, ...) list(pkg = "dials", fun = fun, ...)

parsnip_models <- local({
  # in powers of 2
  batch_size <- dial("batch_size", range = c(3, 8))
  linear <- list(
    fun = "parsnip_linear_fit",
    args = list(
      penalty = dial("penalty"), mixture = dial("mixture", range = c(0, 1)),
      epochs = dial("epochs"), learn_rate = dial("learn_rate", range = c(-3, 0)),
      batch_size = batch_size
    )
  )
  mlp <- list(
    penalty = dial("penalty"), hidden_units = dial("hidden_units", range = c(1, 64)),
    dropout = dial("dropout", range = c(0, 0.9)), epochs = dial("epochs"),
    activation = dial(
      "activation", values = c("linear", "relu", "elu", "selu", "tanh", "sigmoid", "softplus")
    ),
    learn_rate = dial("learn_rate", range = c(-4, -0.5)), batch_size = batch_size,
    stop_iter = dial("stop_iter")
  )
  trees <- list(
    trees = dial("trees"), tree_depth = dial("tree_depth"), min_n = dial("min_n"),
    learn_rate = dial("learn_rate", range = c(-3, -0.2)), loss_reduction = dial("loss_reduction"),
    stop_iter = dial("stop_iter"), mtry = dial("mtry"), sample_size = dial("sample_prop")
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

register_model <- function(model, about) {
  for (mode in about$modes) {
    defaults <- as.list(about$defaults)
    if (mode == "quantile regression") defaults$quantile_levels <- quote(quantile_levels)
    parsnip::set_model_engine(model, mode = mode, eng = "runhooks")
    parsnip::set_dependency(model, eng = "runhooks", pkg = "runhooks", mode = mode)
    parsnip::set_fit(
      model = model, mode = mode, eng = "runhooks",
      value = list(
        # with data frames, parsnip would drop interactions and offsets
        interface = "formula", protect = c("formula", "data", "weights"),
        func = c(pkg = "runhooks", fun = about$fun), defaults = defaults
      )
    )
    parsnip::set_encoding(
      model = model, mode = mode, eng = "runhooks",
      options = list(
        predictor_indicators = "none", compute_intercept = FALSE, remove_intercept = FALSE,
        allow_sparse_x = TRUE
      )
    )
    intervals <- if (mode != "quantile regression") about$intervals
    for (type in c(prediction_types[[mode]], intervals)) {
      parsnip::set_pred(
        model = model, mode = mode, eng = "runhooks", type = type, value = prediction_spec(type)
      )
    }
  }
  for (name in names(about$args)) {
    parsnip::set_model_arg(
      model = model, eng = "runhooks", parsnip = name, original = name, func = about$args[[name]],
      has_submodel = name %in% about$submodels
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

# Convert our tibbles to what parsnip expects. Each fit has a copy, so long ones call a function.
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
  values <- as.matrix(results)
  dimnames(values) <- NULL
  values <- hardhat::quantile_pred(values, object$spec$quantile_levels)
  tibble::new_tibble(list(.pred_quantile = values), nrow = length(values))
}

finish_interval <- function(results, object) {
  if (object$spec$mode == "regression") return(results[c(".pred_lower", ".pred_upper")])
  # the interval is that of the second class
  low <- results$.pred_lower
  high <- results$.pred_upper
  names <- paste0(c(".pred_lower_", ".pred_upper_"), rep(object$lvl, each = 2))
  fast_tibble(setNames(list(1 - high, 1 - low, low, high), names), length(low))
}
