# Plots of models and histories, by ggplot2 and without.

# Two panels as data: observed and fitted, residuals over fitted; of classes the probability of the
# observed one, by class.
plot_data <- function(object, what, call) {
  check_trained(object, what, call)
  frame <- training_frame(object, what, call)
  classes <- tidy_classes_of(object)
  if (is.null(classes)) {
    fit <- as.vector(model_fit(object, frame))
    seen <- as.vector(as.matrix(frame$response))
    return(data.frame(fitted = fit, observed = seen, residual = seen - fit))
  }
  predicted <- predict(object, newdata = rows_of(frame$data, frame$rows))
  seen <- factor(as.character(frame$response), levels = classes)
  at <- cbind(seq_along(seen), as.integer(seen))
  data.frame(observed = seen, probability = as.matrix(predicted[-1])[at])
}

#' @rdname model_methods
#' @export
plot.tf_estimator <- function(x, which = 1:2, ...) {
  data <- plot_data(x, "plot", environment())
  if (!is.null(data$probability)) {
    graphics::boxplot(
      probability ~ observed, data,
      ylim = c(0, 1), xlab = "observed class", ylab = "its probability", ...
    )
    return(invisible(x))
  }
  which <- intersect(which, 1:2)
  if (length(which) == 2) {
    old <- graphics::par(mfrow = c(1, 2))
    on.exit(graphics::par(old))
  }
  if (1 %in% which) {
    graphics::plot(data$fitted, data$observed, xlab = "fitted", ylab = "observed", ...)
    graphics::abline(0, 1, col = "grey")
  }
  if (2 %in% which) {
    graphics::plot(data$fitted, data$residual, xlab = "fitted", ylab = "residual", ...)
    graphics::abline(h = 0, col = "grey")
  }
  invisible(x)
}

#' Plots by ggplot2
#'
#' Methods of [ggplot2::autoplot()]: of a model that was made from a formula what is observed over
#' what is fitted, or the probability of the observed class; of a history its metrics by step.
#'
#' @param object A trained model, or a history.
#' @param ... For histories as for [plot()][plot.tf_estimator_history].
#' @return A plot of ggplot2.
#' @name autoplot_models
#' @family estimator methods
#' @examples
#' model <- linear_regressor(mpg ~ wt + hp, mtcars)
#' history <- train(model)
#' if (requireNamespace("ggplot2", quietly = TRUE)) {
#'   print(ggplot2::autoplot(history))
#'   ggplot2::autoplot(model)
#' }
NULL

#' @rdname autoplot_models
#' @exportS3Method ggplot2::autoplot
autoplot.tf_estimator <- function(object, ...) {
  refuse_more("autoplot", list(...))
  data <- plot_data(object, "autoplot", environment())
  if (!is.null(data$probability)) {
    return(
      ggplot2::ggplot(data, ggplot2::aes(x = !!quote(observed), y = !!quote(probability))) +
        ggplot2::geom_boxplot() +
        ggplot2::coord_cartesian(ylim = c(0, 1)) +
        ggplot2::labs(x = "observed class", y = "its probability")
    )
  }
  ggplot2::ggplot(data, ggplot2::aes(x = !!quote(fitted), y = !!quote(observed))) +
    ggplot2::geom_abline(colour = "grey") +
    ggplot2::geom_point()
}

#' @rdname autoplot_models
#' @exportS3Method ggplot2::autoplot
autoplot.tf_estimator_history <- function(object, ...) plot(object, method = "ggplot2", ...)
