# The functions that parsnip calls to fit a model. Each creates an estimator and trains it. They are
# exported, because parsnip calls them by name. `...` comes before the engine arguments to prevent
# partial matching, and anything in `...` is an error.

#' Fit a model for parsnip
#'
#' The package parsnip calls these functions for the engine `"runhooks"`. Use [runhooks-parsnip]
#' instead.
#'
#' @param formula,data The formula and the data frame of the model.
#' @param weights Weights of the rows, or `NULL`.
#' @param family,quantile_levels `"poisson"` for counts, and the levels of quantiles, or `NULL`.
#' @param penalty,mixture,hidden_units,dropout,epochs,activation,learn_rate The arguments of
#'   parsnip's models.
#' @param trees,tree_depth,min_n,loss_reduction,mtry,sample_size,stop_iter The arguments of
#'   `parsnip::boost_tree()`.
#' @param batch_size,optimizer,linear_optimizer,dnn_optimizer,class_weights,validation,offset,hooks
#'   Engine arguments, see [runhooks-parsnip].
#' @param model_dir,seed Engine arguments, see [runhooks-parsnip].
#' @param ... Must be empty.
#' @return A trained estimator.
#' @section Errors:
#'   * `runhooks_error_invalid_argument`: an argument is invalid or not available for this model.
#'     Nothing has been trained.
#' @keywords internal
#' @name parsnip_fit
NULL

#' @rdname parsnip_fit
#' @export
parsnip_linear_fit <- function(formula, data, weights = NULL, ..., penalty = NULL, mixture = NULL,
                               family = NULL, epochs = NULL, learn_rate = NULL, batch_size = NULL,
                               optimizer = NULL, class_weights = NULL, offset = NULL, hooks = NULL,
                               model_dir = NULL, seed = NULL, quantile_levels = NULL) {
  call <- fit_call()
  abort_engine_arguments(list(...), sys.function(), call)
  check_fit_number(penalty, "penalty", 0, Inf, call)
  check_fit_number(mixture, "mixture", 0, 1, call)
  check_learn_rate(learn_rate, call)
  data <- fit_data(formula, data, weights, class_weights, call, offset = offset)
  data$family <- family
  data$quantiles <- quantile_levels
  # the minimum is at a kink of the loss, which L-BFGS does not report as converged
  if (!is.null(quantile_levels) && is.null(c(epochs, batch_size, optimizer))) epochs <- 200
  settings <- list(optimizer = optimizer, batch_size = batch_size, epochs = epochs)
  settings <- linear_settings(data, penalty, mixture, settings, as_hook_list(hooks, call), call)
  args <- list(
    optimizer = settings$optimizer, learning_rate = learn_rate, class_weights = class_weights
  )
  fit_estimator(
    "linear", data, args, settings$epochs, settings$batch_size, settings$hooks, model_dir, seed,
    call
  )
}

#' @rdname parsnip_fit
#' @export
parsnip_mlp_fit <- function(formula, data, weights = NULL, ..., hidden_units = NULL, penalty = NULL,
                            dropout = NULL, epochs = NULL, activation = NULL, learn_rate = NULL,
                            batch_size = NULL, optimizer = NULL, class_weights = NULL,
                            validation = NULL, stop_iter = NULL, hooks = NULL, model_dir = NULL,
                            seed = NULL, quantile_levels = NULL) {
  call <- fit_call()
  abort_engine_arguments(list(...), sys.function(), call)
  check_fit_number(penalty, "penalty", 0, Inf, call)
  check_dropout(dropout, call)
  check_learn_rate(learn_rate, call)
  hidden_units <- resolve_hidden_units(hidden_units, call)
  data <- fit_data(formula, data, weights, class_weights, call)
  data <- hold_out(data, validation, stop_iter, seed, call)
  data$quantiles <- quantile_levels
  is_full_batch <- is.null(batch_size) && identical(optimizer_type(optimizer), "LBFGS")
  if (is_full_batch) abort_unused_learn_rate(learn_rate, call)
  if (!is.null(penalty) && penalty > 0) {
    is_fixed <- !is_full_batch || is_optimizer(optimizer) || !is.null(quantile_levels)
    if (is_fixed) abort_penalty_without_lbfgs(penalty, call)
    optimizer <- penalized_optimizer(penalty, 0, data, is_scaled = TRUE)
  }
  if (!is_full_batch && is.null(batch_size)) batch_size <- min(64, nrow(data$data))
  data$steps_per_iteration <- if (is_full_batch) 1 else ceiling(nrow(data$data) / batch_size)
  args <- list(
    hidden_units = hidden_units, optimizer = optimizer, learning_rate = learn_rate,
    dropout = if (!is.null(dropout) && dropout > 0) dropout,
    class_weights = class_weights
  )
  args["activation_fn"] <- list(mlp_activation(activation, call))
  fit_estimator("dnn", data, args, epochs, batch_size, hooks, model_dir, seed, call)
}

#' @rdname parsnip_fit
#' @export
parsnip_boost_tree_fit <- function(formula, data, weights = NULL, ..., trees = NULL,
                                   tree_depth = NULL, min_n = NULL, learn_rate = NULL,
                                   loss_reduction = NULL, mtry = NULL, sample_size = NULL,
                                   stop_iter = NULL, validation = NULL, class_weights = NULL,
                                   hooks = NULL, model_dir = NULL, seed = NULL) {
  call <- fit_call()
  abort_engine_arguments(list(...), sys.function(), call)
  check_fit_number(mtry, "mtry", 1, Inf, call, whole = TRUE)
  check_fit_number(sample_size, "sample_size", 0, 1, call)
  check_fit_number(trees, "trees", 1, Inf, call, whole = TRUE)
  check_fit_number(tree_depth, "tree_depth", 1, 20, call, whole = TRUE)
  check_fit_number(min_n, "min_n", 1, Inf, call)
  check_fit_number(loss_reduction, "loss_reduction", 0, Inf, call)
  check_learn_rate(learn_rate, call)
  data <- fit_data(formula, data, weights, class_weights, call, is_tree = TRUE)
  data <- hold_out(data, validation, stop_iter, seed, call)
  # a step grows one layer of a tree, so a tree needs as many steps as its depth
  data$steps_per_iteration <- if (is.null(tree_depth)) 6 else tree_depth
  n <- nrow(data$data)
  args <- list(
    n_trees = trees, max_depth = tree_depth, learning_rate = learn_rate,
    mtry = mtry, sample_size = sample_size,
    min_node_weight = if (!is.null(min_n)) min_n_to_node_weight(min_n, data$y, n),
    class_weights = class_weights
  )
  if (!is.null(loss_reduction) && loss_reduction > 0) {
    args$tree_complexity <- loss_reduction * gain_factor(data$y) / n
    args$pruning_mode <- "post"
  }
  fit_estimator("boosted_trees", data, args, NULL, NULL, hooks, model_dir, seed, call)
}

# Returns the call that errors show: the one that the user wrote, not the one that parsnip
# generates.
fit_call <- function() quote(fit())

abort_engine_arguments <- function(extras, f, call) {
  if (length(extras) == 0) return(invisible())
  internal <- c("formula", "data", "weights", "family", "quantile_levels", "...")
  arguments <- setdiff(names(formals(f)), internal)
  name <- if (is.null(names(extras))) "" else names(extras)[[1]]
  abort_runhooks(
    c(
      "The engine {.val runhooks} of this model has no argument {.arg {name}}.",
      did_you_mean(name, arguments),
      i = "Its arguments are {.arg {arguments}}."
    ),
    call = call
  )
}

check_fit_number <- function(x, name, min, max, call, whole = FALSE) {
  if (is.null(x)) return(invisible())
  range <- if (is.finite(max)) {
    paste("between", min, "and", max)
  } else {
    paste(if (min > 0) "of at least" else "not below", min)
  }
  is_valid <- is_number(x) && x >= min && x <= max && (!whole || x == round(x))
  check_arg(is_valid, x, paste(if (whole) "a whole number" else "a number", range), name, call)
}

check_learn_rate <- function(x, call) {
  is_valid <- is.null(x) || is_number(x) && is.finite(x) && x > 0
  check_arg(is_valid, x, "a positive number", "learn_rate", call)
}

check_dropout <- function(x, call) {
  is_valid <- is.null(x) || is_number(x) && x >= 0 && x < 1
  check_arg(is_valid, x, "a number of at least 0 and below 1", "dropout", call)
}

resolve_hidden_units <- function(units, call) {
  if (is.null(units)) return(16)
  if (is.list(units)) units <- unlist(units)
  check_arg(
    is.numeric(units) && all(is.finite(units)) && all(units >= 1) && all(units == round(units)),
    units, "whole numbers of at least 1", "hidden_units", call
  )
  units
}

# Adds `offset(<column>)` to the formula, and removes the column from the predictors: it would be
# one of them in a formula with `.`.
formula_with_offset <- function(formula, data, offset, call) {
  if (is.null(offset)) return(formula)
  choices <- setdiff(names(data), all.vars(formula[[2]]))
  check_arg(
    is_string(offset) && offset %in% choices, offset, "the name of a column of the data", "offset",
    call
  )
  column <- as.name(offset)
  predictors <- base::call("-", formula[[3]], column)
  formula[[3]] <- base::call("+", predictors, base::call("offset", column))
  formula
}

# Returns `settings`, a list with `optimizer`, `batch_size` and `epochs`, completed by defaults and
# `hooks`. A penalty selects the optimizer.
linear_settings <- function(data, penalty, mixture, settings, hooks, call) {
  is_penalized <- !is.null(penalty) && penalty > 0
  if (is_penalized) {
    abort_penalty_conflict(penalty, settings, data$quantiles, call)
    settings$optimizer <- penalized_optimizer(penalty, mixture, data)
    # collinear terms need many steps, because terms of a penalized model are not orthogonalized
    settings$epochs <- 5000
    hooks <- c(hooks, list(hook_stop_when_converged()))
  }
  # `epochs` alone selects training in batches, with the default optimizer for batches
  if (!is.null(settings$epochs) && is.null(data$quantiles)) {
    if (is.null(c(settings$batch_size, settings$optimizer))) {
      settings$batch_size <- min(512, nrow(data$data))
    }
  }
  c(settings, list(hooks = hooks))
}

abort_penalty_conflict <- function(penalty, settings, quantiles, call) {
  if (!is.null(quantiles)) {
    abort_runhooks(
      "{.arg penalty} is {penalty}, but quantiles have no penalty. Use {.code penalty = 0}.",
      call = call
    )
  }
  settings <- names(Filter(Negate(is.null), settings))
  if (length(settings) == 0) return(invisible())
  abort_runhooks(
    c(
      "{.arg penalty} is {penalty}, which needs all rows in each step, but {.arg {settings}}
       {?is/are} given.",
      i = "Remove {.arg {settings}}, or use {.code penalty = 0}."
    ),
    call = call
  )
}

abort_unused_learn_rate <- function(learn_rate, call) {
  if (is.null(learn_rate)) return(invisible())
  abort_runhooks(
    c(
      "{.arg learn_rate} has no effect on an optimizer that uses all rows in each step.",
      i = "Remove {.arg learn_rate}, or give a {.arg batch_size}."
    ),
    call = call
  )
}

abort_penalty_without_lbfgs <- function(penalty, call) {
  abort_runhooks(
    c(
      "{.arg penalty} of {.fn mlp} is {penalty}, but only the optimizer {.val LBFGS} with all rows
       in each step has a penalty.",
      i = "Use {.code set_engine(\"runhooks\", optimizer = \"LBFGS\")} without {.arg batch_size},
           or {.code penalty = 0} with {.arg dropout}."
    ),
    call = call
  )
}

# Returns an L-BFGS optimizer with the objective of glmnet, times the sum of the weights of the
# rows. glmnet standardizes a numeric outcome, so `penalty` is divided by the standard deviation of
# the outcome.
penalized_optimizer <- function(penalty, mixture, data, is_scaled = FALSE) {
  if (is.null(mixture)) mixture <- 1
  weights <- if (!is.null(data$weight)) data$data[[data$weight]]
  rows <- if (is.null(weights)) nrow(data$data) else sum(weights)
  total <- penalty * rows
  if (!data$is_class && is.null(data$family) && !is_scaled) {
    # the squared error loss has no factor 1/2
    total <- 2 * total / column_scale(as.numeric(data$y), TRUE, weights)$scale
  }
  tf$train$LBFGSOptimizer(
    l1_regularization_strength = total * mixture,
    l2_regularization_strength = total * (1 - mixture) / 2, penalize_bias = FALSE
  )
}

# Converts `min_n` rows to the minimum weight of a node. The hessian of a squared error is 2. Half a
# row less allows for rounding in single precision.
min_n_to_node_weight <- function(min_n, y, n) if (is.factor(y)) min_n / n else (2 * min_n - 1) / n

# Converts a decrease of the sum of losses to the gain of a split, which is twice the decrease of
# the mean loss. The squared error loss has no factor 1/2, and the outcome is standardized.
gain_factor <- function(y) {
  if (is.factor(y)) 2 else 4 / column_scale(as.numeric(y), TRUE)$scale^2
}

# Converts parsnip's activation to a name in tf$nn or a function. NULL means no activation.
mlp_activation <- function(activation, call) {
  if (is.null(activation)) return("relu")
  if (identical(activation, "linear")) return(NULL)
  if (is.function(activation)) return(activation)
  is_valid <- is_string(activation) &&
    !is.null(tryCatch(tf$nn[[activation]], runhooks_error_not_found = function(error) NULL))
  check_arg(
    is_valid, activation, "\"linear\" or the name of a function in `tf$nn`, such as \"relu\"",
    "activation", call
  )
  activation
}

# Checks the data and drops rows with missing values, as lm() does. Tree models keep rows with
# missing predictors. parsnip::fit_xy() calls the outcome `..y`, which is renamed.
fit_data <- function(formula, data, weights, class_weights, call, is_tree = FALSE, offset = NULL) {
  check_arg(is_formula(formula), formula, "a formula", "formula", call)
  check_arg(is.data.frame(data), data, "a data frame", "data", call)
  data <- as.data.frame(data, optional = TRUE)
  if (nrow(data) == 0) abort_runhooks("The data have no rows.", call = call)
  check_case_weights(weights, nrow(data), call)
  if (identical(formula[[2]], quote(..y))) {
    response <- unused_name("y", setdiff(names(data), "..y"))
    names(data)[names(data) == "..y"] <- response
    formula <- formula_of_all_columns(response)
  }
  formula <- formula_with_offset(formula, data, offset, call)
  predictors <- setdiff(names(data), all.vars(formula[[2]]))
  if (identical(formula[[3]], quote(.)) && length(predictors) == 0) {
    abort_runhooks("The data have no predictors.", call = call)
  }
  y <- fit_response(formula, data, call)
  weight <- if (!is.null(weights)) unused_name("weights", names(data))
  required <- if (is_tree) character() else variables_of(formula)
  if ("." %in% required) required <- names(data)
  if (!is.null(weight)) data[[weight]] <- as.numeric(weights)
  required_columns <- c(list(y), as.list(data)[intersect(required, names(data))])
  is_complete <- !Reduce(`|`, lapply(required_columns, is_missing_row))
  if (!all(is_complete)) data <- data[is_complete, , drop = FALSE]
  if (nrow(data) == 0) abort_runhooks("The data have no complete rows.", call = call)
  if (!is.null(class_weights) && !is.factor(y)) {
    abort_runhooks("{.arg class_weights} needs a model of classes.", call = call)
  }
  list(
    data = data, formula = formula, weight = weight, y = y[is_complete], is_class = is.factor(y)
  )
}

check_case_weights <- function(weights, n, call) {
  if (is.null(weights)) return(invisible())
  if (length(weights) != n) {
    abort_runhooks(
      "{.arg case_weights} must have {n} element{?s}, one for each row, not {length(weights)}.",
      call = call
    )
  }
  is_valid <- is.numeric(weights) && all(is.finite(weights)) && all(weights >= 0)
  check_arg(is_valid, weights, "finite numbers of at least 0", "case_weights", call)
  if (all(weights == 0)) {
    abort_runhooks(
      "All {.arg case_weights} are 0, so no row contributes to the loss.", call = call
    )
  }
}

# Moves a random part of the rows to `held_out`, for early stopping.
hold_out <- function(data, validation, stop_iter, seed, call) {
  check_fit_number(stop_iter, "stop_iter", 1, Inf, call, whole = TRUE)
  if (is.null(validation) && is.null(stop_iter)) return(data)
  if (is.null(validation)) validation <- 0.1
  n <- nrow(data$data)
  is_valid <- is_number(validation) && validation > 0 && validation < 1 && round(n * validation) < n
  check_arg(is_valid, validation, "a number between 0 and 1", "validation", call)
  check_fit_number(seed, "seed", 0, .Machine$integer.max, call, whole = TRUE)
  if (!is.null(seed)) {
    restore_random_state <- save_random_state()
    on.exit(restore_random_state())
    set.seed(seed)
  }
  held_out_rows <- sample.int(n, max(1, round(n * validation)))
  data$held_out <- data$data[held_out_rows, , drop = FALSE]
  data$data <- data$data[-held_out_rows, , drop = FALSE]
  data$y <- data$y[-held_out_rows]
  data$stop_iter <- stop_iter
  data
}

fit_early_stopping <- function(data) {
  if (is.null(data$stop_iter)) return(NULL)
  early_stopping(
    "average_loss",
    patience = data$stop_iter * data$steps_per_iteration,
    every_n_steps = data$steps_per_iteration
  )
}

fit_response <- function(formula, data, call) {
  y <- eval(formula[[2]], data, environment(formula))
  if (is.data.frame(y) || is.matrix(y)) {
    if (ncol(y) != 1) {
      abort_runhooks(
        "The engine {.val runhooks} needs one outcome; there are {ncol(y)}.", call = call
      )
    }
    y <- if (is.data.frame(y)) y[[1]] else y[, 1]
  }
  y
}

fit_estimator <- function(kind, data, args, epochs, batch_size, hooks, model_dir, seed, call) {
  check_fit_number(epochs, "epochs", 1, Inf, call, whole = TRUE)
  check_fit_number(batch_size, "batch_size", 1, Inf, call, whole = TRUE)
  check_string(model_dir, null = TRUE, arg = "model_dir", call = call)
  hooks <- as_hook_list(hooks, call)
  # an argument that may be NULL, such as the activation, keeps its NULL
  args <- args[!vapply(args, is.null, NA) | grepl("activation_fn", names(args))]
  training <- list(num_epochs = epochs, batch_size = batch_size)
  training <- training[lengths(training) > 0]
  head <- fit_head(data, args)
  if (is.null(head)) args["weight_column"] <- list(data$weight) else args$head <- head
  folder <- if (!is.null(model_dir)) {
    file.path(model_dir, fit_hash(list(kind, data, args, training, seed)))
  }
  check_fit_number(seed, "seed", 0, .Machine$integer.max, call, whole = TRUE)
  model <- with_fit_call(
    new_fit_estimator(kind, data, args, folder, run_config(tf_random_seed = seed)), call
  )
  marker_file <- if (!is.null(folder)) file.path(folder, "finished_fit")
  if (is.null(marker_file) || !file.exists(marker_file) || is.null(latest_checkpoint(folder))) {
    with_fit_call(train_fit_estimator(model, data, training, hooks), call)
    if (!is.null(marker_file)) file.create(marker_file)
  }
  model
}

# Creates an estimator for the data, without training it.
new_fit_estimator <- function(kind, data, args, folder, config) {
  type <- if (!is.null(args$head)) {
    "estimator"
  } else if (data$is_class) {
    "classifier"
  } else {
    "regressor"
  }
  make <- get(paste0(kind, "_", type), topenv(), mode = "function")
  model <- rlang::exec(
    make, formula = data$formula, data = data$data, model_dir = folder, config = config, !!!args
  )
  formula <- data$formula
  # the stored call has the formula without its environment
  attributes(formula) <- NULL
  model$call <- call(paste0(kind, "_", type), formula = formula, data = quote(data))
  model
}

train_fit_estimator <- function(model, data, training, hooks) {
  stop <- fit_early_stopping(data)
  muffle_training_messages(
    rlang::exec(train, model, hooks = hooks, validation = data$held_out, stop = stop, !!!training)
  )
}

# Errors show the user's call of fit(). The advice of a NaN loss is replaced, because it names
# arguments of train(). An error of a hook keeps its own call.
with_fit_call <- function(expr, call) {
  withCallingHandlers(
    expr,
    runhooks_error = function(error) {
      if (inherits(error, "runhooks_error_hook")) return()
      error$call <- call
      if (inherits(error, "runhooks_error_nan_loss")) {
        error$message <- sub("\n.*", "", error$message[[1]])
        error$body <- c(i = "Try a lower learning rate, or rescale features that are large.")
      }
      rlang::cnd_signal(error)
    }
  )
}

# Messages about arguments of train(), which users of parsnip and mlr3 cannot set.
muffled_message_classes <- paste0(
  "runhooks_message_", c("few_rows", "one_pass", "skipped", "early_stopping", "interrupted")
)

muffle_training_messages <- function(expr) {
  withCallingHandlers(
    expr,
    message = function(message) {
      if (inherits(message, muffled_message_classes)) invokeRestart("muffleMessage")
    }
  )
}

# Returns the head of the estimator, or NULL for regressors and classifiers.
fit_head <- function(data, args) {
  if (!is.null(data$quantiles)) return(quantile_head(data$quantiles, weight_column = data$weight))
  if (!identical(data$family, "poisson")) return(NULL)
  # a penalty is relative to the sum of the losses, as in the other models
  reduction <- if (is_penalized(args$optimizer)) "sum" else "sum_over_batch_size"
  poisson_regression_head(weight_column = data$weight, loss_reduction = reduction)
}

# Returns a hash that is the same in each session. Functions and optimizers are replaced by their
# code and their fields, because they contain environments.
fit_hash <- function(parts) {
  plain <- function(x) {
    if (is.function(x)) return(code_text(body(x)))
    if (inherits(x, "formula")) return(code_text(x))
    if (is_optimizer(x)) x <- optimizer_fields(x)
    if (is.list(x) && !is.data.frame(x)) return(lapply(unclass(x), plain))
    x
  }
  rlang::hash(plain(parts))
}
