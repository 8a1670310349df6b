# wide_deep(): a model specification for parsnip, and its fit function.

#' Specify a wide and deep model for parsnip
#'
#' A model specification of the package parsnip for [dnn_linear_combined_regressor()] and
#' [dnn_linear_combined_classifier()]: a linear model and a network that are trained together. It
#' can be tuned and used in workflows, as `parsnip::mlp()` can.
#'
#' The linear part has all terms of the formula. The deep part omits interactions, because its
#' layers learn them. See [runhooks-parsnip] for the engine arguments and the predictions. Both
#' optimizers are engine arguments: `linear_optimizer` and `dnn_optimizer`.
#'
#' @param mode `"regression"` or `"classification"`.
#' @param engine `"runhooks"`.
#' @param hidden_units The number of units of each hidden layer, such as `c(32, 16)`. 16 by default.
#' @param dropout The share of the units to drop in training.
#' @param epochs The number of times that training reads the data.
#' @param activation The name of a function in `tf$nn`, or `"linear"`.
#' @param learn_rate The learning rate of both parts.
#' @return A model specification of the class `wide_deep`.
#' @section Errors: Those of `parsnip::new_model_spec()`, if the mode or the engine does not exist.
#' @family estimators
#' @export
#' @examplesIf requireNamespace("parsnip", quietly = TRUE)
#' spec <- wide_deep("regression", hidden_units = c(8, 4), epochs = 10)
#' fitted <- generics::fit(spec, mpg ~ wt * cyl, mtcars)
#' predict(fitted, mtcars[1:3, ])
wide_deep <- function(mode = "unknown", engine = "runhooks", hidden_units = NULL, dropout = NULL,
                      epochs = NULL, activation = NULL, learn_rate = NULL) {
  rlang::check_installed("parsnip", "for `wide_deep()`.", version = "1.5.0")
  check_string(mode)
  check_one_of(engine, "runhooks")
  args <- list(
    hidden_units = rlang::enquo(hidden_units), dropout = rlang::enquo(dropout),
    epochs = rlang::enquo(epochs), activation = rlang::enquo(activation),
    learn_rate = rlang::enquo(learn_rate)
  )
  parsnip::new_model_spec(
    "wide_deep", args = args, eng_args = NULL, mode = mode, user_specified_mode = !missing(mode),
    method = NULL, engine = engine, user_specified_engine = !missing(engine)
  )
}

#' @export
update.wide_deep <- function(object, parameters = NULL, ...) {
  values <- c(as.list(parameters), rlang::enquos(...))
  if (length(values) > 0) parsnip::set_args(object, !!!values) else object
}

#' @rdname parsnip_fit
#' @export
parsnip_wide_deep_fit <- function(formula, data, weights = NULL, ..., hidden_units = NULL,
                                  dropout = NULL, epochs = NULL, activation = NULL,
                                  learn_rate = NULL, batch_size = NULL, linear_optimizer = NULL,
                                  dnn_optimizer = NULL, class_weights = NULL, validation = NULL,
                                  stop_iter = NULL, offset = NULL, hooks = NULL, model_dir = NULL,
                                  seed = NULL) {
  call <- fit_call()
  abort_engine_arguments(list(...), sys.function(), call)
  check_dropout(dropout, call)
  check_learn_rate(learn_rate, call)
  hidden_units <- resolve_hidden_units(hidden_units, call)
  data <- fit_data(formula, data, weights, class_weights, call, offset = offset)
  data <- hold_out(data, validation, stop_iter, seed, call)
  if (is.null(batch_size)) batch_size <- min(64, nrow(data$data))
  data$steps_per_iteration <- ceiling(nrow(data$data) / batch_size)
  args <- list(
    dnn_hidden_units = hidden_units, linear_optimizer = linear_optimizer,
    dnn_optimizer = dnn_optimizer, learning_rate = learn_rate,
    dnn_dropout = if (!is.null(dropout) && dropout > 0) dropout,
    class_weights = class_weights
  )
  args["dnn_activation_fn"] <- list(mlp_activation(activation, call))
  fit_estimator(
    "dnn_linear_combined", data, args, epochs, batch_size, hooks, model_dir, seed, call
  )
}
