# plot() and autoplot() of models, with base graphics and with ggplot2.

observed_and_fitted <- function(object, function_name, call) {
  check_trained(object, function_name, call)
  frame <- training_frame(object, function_name, call)
  classes <- class_names_of(object)
  if (is.null(classes)) {
    fitted <- as.vector(model_fit(object, frame))
    observed <- as.vector(as.matrix(frame$response))
    return(data.frame(fitted = fitted, observed = observed, residual = observed - fitted))
  }
  predicted <- frame_predictions(object, frame)
  observed <- factor(as.character(frame$response), levels = classes)
  probabilities <- as.matrix(predicted[-1])
  observed_cells <- cbind(seq_along(observed), as.integer(observed))
  structure(
    data.frame(observed = observed, probability = probabilities[observed_cells]),
    calibration = calibration(probabilities, observed)
  )
}

# Returns mean probability and observed frequency in deciles of the probability, for each class. If
# there are two classes, only the second is included.
calibration <- function(probabilities, observed) {
  class_numbers <- if (ncol(probabilities) == 2) 2 else seq_len(ncol(probabilities))
  tables <- lapply(class_numbers, function(k) {
    p <- probabilities[, k]
    limits <- unique(stats::quantile(p, seq(0, 1, 0.1), names = FALSE))
    group <- if (length(limits) > 1) {
      cut(p, limits, include.lowest = TRUE)
    } else {
      factor(rep(1, length(p)))
    }
    mean_of <- function(x) as.vector(tapply(x, group, mean))
    table <- data.frame(
      class = levels(observed)[[k]], predicted = mean_of(p),
      observed = mean_of(as.integer(observed) == k), rows = as.vector(table(group))
    )
    table[table$rows > 0, ]
  })
  do.call(rbind, tables)
}

#' @rdname model_methods
#' @export
plot.tf_estimator <- function(x, which = 1:2, tree = 1, levels = 4, ...) {
  abort_extra_arguments("plot", list(...), c("which", "tree", "levels"))
  which <- check_plot_numbers(which, is_tree_model(x))
  if (!missing(tree)) check_tree_plot(which, x, environment())
  data <- if (any(which < 3)) observed_and_fitted(x, "plot", environment())
  old_par <- graphics::par(mfrow = c(1, length(which)), mar = c(4, 4, 3, 1), mgp = c(2.5, 0.8, 0))
  on.exit(graphics::par(old_par))
  response <- response_label(x)
  for (number in which) {
    if (number == 3) {
      draw_term_weights(term_weights(x, environment()))
    } else if (number == 4) {
      draw_tree(tree_plot_data(x, tree, levels, environment()))
    } else if (is.null(data$probability)) {
      draw_regression_plot(data, number, response)
    } else {
      draw_classification_plot(data, number)
    }
  }
  invisible(x)
}

check_plot_numbers <- function(which, has_trees = FALSE, call = parent.frame()) {
  num_plots <- if (has_trees) 4 else 3
  is_valid <- is.numeric(which) && length(which) > 0 && all(which %in% seq_len(num_plots))
  check_arg(is_valid, which, paste("numbers of plots, 1 to", num_plots), "which", call)
  unique(which)
}

response_label <- function(object) {
  text <- paste(deparse(object$formula[[2]], width.cutoff = 60), collapse = "")
  if (nchar(text) > 30) "response" else text
}

regression_plot_titles <- c("Observed and fitted values", "Residuals")
classification_plot_titles <- c("Probability of the observed class", "Calibration")

draw_regression_plot <- function(data, which, response) {
  fitted <- paste("Fitted", response)
  if (which == 1) {
    graphics::plot(
      data$fitted, data$observed, xlab = fitted, ylab = paste("Observed", response),
      main = regression_plot_titles[[1]], font.main = 1
    )
    graphics::abline(0, 1, col = "grey")
  } else {
    graphics::plot(
      data$fitted, data$residual, xlab = fitted, ylab = "Residual",
      main = regression_plot_titles[[2]], font.main = 1
    )
    graphics::abline(h = 0, col = "grey")
  }
}

draw_classification_plot <- function(data, which) {
  if (which == 1) {
    graphics::boxplot(
      probability ~ observed, data, ylim = c(0, 1), xlab = "Observed class",
      ylab = "Predicted probability"
    )
    graphics::title(classification_plot_titles[[1]], font.main = 1)
    return(invisible())
  }
  table <- attr(data, "calibration")
  classes <- unique(table$class)
  graphics::plot(
    c(0, 1), c(0, 1), type = "n", xlab = "Predicted probability", ylab = "Observed frequency",
    main = classification_plot_titles[[2]], font.main = 1
  )
  graphics::abline(0, 1, col = "grey")
  for (k in seq_along(classes)) {
    rows <- table[table$class == classes[[k]], ]
    graphics::lines(rows$predicted, rows$observed, type = "b", col = series_colours(classes)[[k]])
  }
  draw_legend(classes, "topleft")
}

# Returns the 30 most important terms: the features of a tree model, or the coefficients of a linear
# model per standard deviation. These do not depend on the units of the features.
term_weights <- function(object, call) {
  check_trained(object, "plot", call)
  if (is_tree_model(object)) {
    data <- utils::head(feature_importances(object, normalize = TRUE), 30)
    return(structure(
      data.frame(term = data$feature, weight = data$importance), title = "Feature importances",
      axis = "Share of the gain of all splits"
    ))
  }
  if (!has_coefficients(object)) {
    abort_runhooks(
      "Plot 3 is for linear models and trees; this is a {describe_model(object)}.", call = call
    )
  }
  fit <- linear_fit(object, "plot", call = call)
  warn_not_converged(fit)
  column_sds <- function(x) apply(as.matrix(x), 2, stats::sd)
  weights <- fit$coefficients * column_sds(fit$design)
  is_gaussian <- fit$family == "gaussian"
  if (is_gaussian) weights <- sweep(weights, 2, column_sds(fit$response), "/")
  names <- rownames(weights)
  if (ncol(weights) > 1) names <- outer(names, colnames(weights), function(x, y) paste0(y, ": ", x))
  data <- data.frame(term = as.vector(names), weight = as.vector(weights))
  is_shown <- rownames(weights) != "(Intercept)" & !is.na(weights)
  data <- data[as.vector(is_shown), ]
  if (nrow(data) == 0) {
    abort_runhooks("Plot 3 shows coefficients of features, but this model has none.", call = call)
  }
  data <- utils::head(data[order(-abs(data$weight)), ], 30)
  structure(
    data, row.names = seq_len(nrow(data)), title = "Standardized coefficients",
    axis = if (is_gaussian) "Standardized coefficient" else "Coefficient per standard deviation"
  )
}

draw_term_weights <- function(data) {
  bars <- data[rev(seq_len(nrow(data))), ]
  old_par <- graphics::par(mar = c(4, min(1.5 + 0.5 * max(nchar(bars$term)), 15), 3, 1))
  on.exit(graphics::par(old_par))
  graphics::barplot(
    bars$weight, names.arg = bars$term, horiz = TRUE, las = 1, xlab = attr(data, "axis"),
    main = attr(data, "title"), font.main = 1
  )
}

#' Plot models and histories with ggplot2
#'
#' Methods of [ggplot2::autoplot()] that return the plots of [plot()] as ggplot2 objects: for a
#' model from a formula one of its plots, for a history its metrics by step.
#'
#' @param object A trained model, or a history.
#' @param which,tree The number of the plot, and of the tree in plot 4, as for
#'   [plot()][plot.tf_estimator]. Both are 1 by default.
#' @param levels Number of levels of the tree to show.
#' @param ... For histories, arguments of [plot()][plot.tf_estimator_history].
#' @return A ggplot2 object.
#' @section Errors:
#'   * `runhooks_error_invalid_argument`: the model has no plot with this number.
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
autoplot.tf_estimator <- function(object, which = 1, tree = 1, levels = 4, ...) {
  abort_extra_arguments("autoplot", list(...), c("which", "tree", "levels"))
  check_arg(length(which) == 1, which, "the number of one plot", "which", environment())
  which <- check_plot_numbers(which, is_tree_model(object))
  if (!missing(tree)) check_tree_plot(which, object, environment())
  if (which == 4) return(tree_ggplot2(tree_plot_data(object, tree, levels, environment())))
  if (which == 3) return(term_weights_ggplot2(term_weights(object, environment())))
  data <- observed_and_fitted(object, "autoplot", environment())
  if (!is.null(data$probability)) return(classification_ggplot2(data, which))
  regression_ggplot2(data, which, response_label(object))
}

regression_ggplot2 <- function(data, which, response) {
  labels <- ggplot2::labs(x = paste("Fitted", response), title = regression_plot_titles[[which]])
  if (which == 2) {
    return(
      ggplot2::ggplot(data, ggplot2::aes(x = !!quote(fitted), y = !!quote(residual))) +
        ggplot2::geom_hline(yintercept = 0, colour = "grey") +
        ggplot2::geom_point() +
        labels +
        ggplot2::labs(y = "Residual")
    )
  }
  ggplot2::ggplot(data, ggplot2::aes(x = !!quote(fitted), y = !!quote(observed))) +
    ggplot2::geom_abline(colour = "grey") +
    ggplot2::geom_point() +
    labels +
    ggplot2::labs(y = paste("Observed", response))
}

classification_ggplot2 <- function(data, which) {
  if (which == 1) {
    return(
      ggplot2::ggplot(data, ggplot2::aes(x = !!quote(observed), y = !!quote(probability))) +
        ggplot2::geom_boxplot() +
        ggplot2::coord_cartesian(ylim = c(0, 1)) +
        ggplot2::labs(
          x = "Observed class", y = "Predicted probability", title = classification_plot_titles[[1]]
        )
    )
  }
  table <- attr(data, "calibration")
  has_legend <- length(unique(table$class)) > 1
  ggplot2::ggplot(
    table, ggplot2::aes(x = !!quote(predicted), y = !!quote(observed), colour = !!quote(class))
  ) +
    ggplot2::geom_abline(colour = "grey") +
    ggplot2::geom_line(show.legend = has_legend) +
    ggplot2::geom_point(show.legend = has_legend) +
    ggplot2::coord_equal(xlim = c(0, 1), ylim = c(0, 1)) +
    ggplot2::labs(
      x = "Predicted probability", y = "Observed frequency", colour = "Class",
      title = classification_plot_titles[[2]]
    )
}

term_weights_ggplot2 <- function(data) {
  labels <- ggplot2::labs(y = NULL, x = attr(data, "axis"), title = attr(data, "title"))
  data$term <- factor(data$term, rev(data$term))
  ggplot2::ggplot(data, ggplot2::aes(x = !!quote(weight), y = !!quote(term))) +
    ggplot2::geom_col() +
    labels
}

#' @rdname autoplot_models
#' @exportS3Method ggplot2::autoplot
autoplot.tf_estimator_history <- function(object, ...) plot(object, method = "ggplot2", ...)

# Returns a data frame instead of a tibble, because plotmo needs `[, i]` to return a vector.
#' @exportS3Method plotmo::plotmo.predict
plotmo.predict.tf_estimator <- function(object, newdata, type, ..., TRACE) {
  as.data.frame(predict(object, newdata = newdata, type = type, ...))
}
