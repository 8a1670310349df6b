# Plots of models with ggplot2 or base graphics.

plot_data <- function(object, what, call) {
  check_trained(object, what, call)
  frame <- training_frame(object, what, call)
  classes <- tidy_classes_of(object)
  if (is.null(classes)) {
    fit <- as.vector(model_fit(object, frame))
    seen <- as.vector(as.matrix(frame$response))
    return(data.frame(fitted = fit, observed = seen, residual = seen - fit))
  }
  predicted <- frame_predictions(object, frame)
  seen <- factor(as.character(frame$response), levels = classes)
  probabilities <- as.matrix(predicted[-1])
  at <- cbind(seq_along(seen), as.integer(seen))
  structure(
    data.frame(observed = seen, probability = probabilities[at]),
    calibration = calibration(probabilities, seen)
  )
}

# Mean probability and observed frequency in deciles. Two classes have one table, for the second.
calibration <- function(probabilities, seen) {
  shown <- if (ncol(probabilities) == 2) 2 else seq_len(ncol(probabilities))
  tables <- lapply(shown, function(k) {
    p <- probabilities[, k]
    cuts <- unique(stats::quantile(p, seq(0, 1, 0.1), names = FALSE))
    group <- if (length(cuts) > 1) cut(p, cuts, include.lowest = TRUE) else factor(rep(1, length(p)))
    mean_of <- function(x) as.vector(tapply(x, group, mean))
    table <- data.frame(
      class = levels(seen)[[k]], predicted = mean_of(p),
      observed = mean_of(as.integer(seen) == k), rows = as.vector(table(group))
    )
    table[table$rows > 0, ]
  })
  do.call(rbind, tables)
}

#' @rdname model_methods
#' @export
plot.tf_estimator <- function(x, which = 1:2, tree = 1, levels = 4, ...) {
  abort_extra_arguments("plot", list(...), c("which", "tree", "levels"))
  which <- check_which(which, is_tree_model(x))
  if (!missing(tree)) check_tree_plot(which, x, environment())
  data <- if (any(which < 3)) plot_data(x, "plot", environment())
  old <- graphics::par(mfrow = c(1, length(which)), mar = c(4, 4, 3, 1), mgp = c(2.5, 0.8, 0))
  on.exit(graphics::par(old))
  response <- response_strings(x)
  for (one in which) {
    if (one == 3) {
      draw_weights(weight_data(x, environment()))
    } else if (one == 4) {
      draw_tree(tree_plot_data(x, tree, levels, environment()))
    } else if (is.null(data$probability)) {
      draw_numbers(data, one, response)
    } else {
      draw_classes(data, one)
    }
  }
  invisible(x)
}

check_which <- function(which, has_trees = FALSE, call = parent.frame()) {
  last <- if (has_trees) 4 else 3
  good <- is.numeric(which) && length(which) > 0 && all(which %in% seq_len(last))
  check_arg(good, which, paste("numbers of plots, 1 to", last), "which", call)
  unique(which)
}

response_strings <- function(object) {
  words <- paste(deparse(object$formula[[2]], width.cutoff = 60), collapse = "")
  if (nchar(words) > 30) "response" else words
}

number_titles <- c("Observed and fitted values", "Residuals")
class_titles <- c("Probability of the observed class", "Calibration")

draw_numbers <- function(data, which, response) {
  fitted <- paste("Fitted", response)
  if (which == 1) {
    graphics::plot(
      data$fitted, data$observed, xlab = fitted, ylab = paste("Observed", response),
      main = number_titles[[1]], font.main = 1
    )
    graphics::abline(0, 1, col = "grey")
  } else {
    graphics::plot(
      data$fitted, data$residual, xlab = fitted, ylab = "Residual", main = number_titles[[2]],
      font.main = 1
    )
    graphics::abline(h = 0, col = "grey")
  }
}

draw_classes <- function(data, which) {
  if (which == 1) {
    graphics::boxplot(
      probability ~ observed, data, ylim = c(0, 1), xlab = "Observed class",
      ylab = "Predicted probability"
    )
    graphics::title(class_titles[[1]], font.main = 1)
    return(invisible())
  }
  table <- attr(data, "calibration")
  classes <- unique(table$class)
  graphics::plot(
    c(0, 1), c(0, 1), type = "n", xlab = "Predicted probability", ylab = "Observed frequency",
    main = class_titles[[2]], font.main = 1
  )
  graphics::abline(0, 1, col = "grey")
  for (k in seq_along(classes)) {
    own <- table[table$class == classes[[k]], ]
    graphics::lines(own$predicted, own$observed, type = "b", col = series_colours(classes)[[k]])
  }
  draw_legend(classes, "topleft")
}

# The most important terms: features of trees, or coefficients per standard deviation, which do not
# depend on the units of the features.
weight_data <- function(object, call) {
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
  warn_convergence(fit)
  spread <- function(x) apply(as.matrix(x), 2, stats::sd)
  weights <- fit$coefficients * spread(fit$design)
  is_gaussian <- fit$family == "gaussian"
  if (is_gaussian) weights <- sweep(weights, 2, spread(fit$response), "/")
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

draw_weights <- function(data) {
  bars <- data[rev(seq_len(nrow(data))), ]
  old <- graphics::par(mar = c(4, min(1.5 + 0.5 * max(nchar(bars$term)), 15), 3, 1))
  on.exit(graphics::par(old))
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
  which <- check_which(which, is_tree_model(object))
  if (!missing(tree)) check_tree_plot(which, object, environment())
  if (which == 4) return(tree_ggplot2(tree_plot_data(object, tree, levels, environment())))
  if (which == 3) return(weights_ggplot2(weight_data(object, environment())))
  data <- plot_data(object, "autoplot", environment())
  if (!is.null(data$probability)) return(classes_ggplot2(data, which))
  numbers_ggplot2(data, which, response_strings(object))
}

numbers_ggplot2 <- function(data, which, response) {
  labels <- ggplot2::labs(x = paste("Fitted", response), title = number_titles[[which]])
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

classes_ggplot2 <- function(data, which) {
  if (which == 1) {
    return(
      ggplot2::ggplot(data, ggplot2::aes(x = !!quote(observed), y = !!quote(probability))) +
        ggplot2::geom_boxplot() +
        ggplot2::coord_cartesian(ylim = c(0, 1)) +
        ggplot2::labs(x = "Observed class", y = "Predicted probability", title = class_titles[[1]])
    )
  }
  table <- attr(data, "calibration")
  several <- length(unique(table$class)) > 1
  ggplot2::ggplot(
    table, ggplot2::aes(x = !!quote(predicted), y = !!quote(observed), colour = !!quote(class))
  ) +
    ggplot2::geom_abline(colour = "grey") +
    ggplot2::geom_line(show.legend = several) +
    ggplot2::geom_point(show.legend = several) +
    ggplot2::coord_equal(xlim = c(0, 1), ylim = c(0, 1)) +
    ggplot2::labs(
      x = "Predicted probability", y = "Observed frequency", colour = "Class",
      title = class_titles[[2]]
    )
}

weights_ggplot2 <- function(data) {
  labels <- ggplot2::labs(y = NULL, x = attr(data, "axis"), title = attr(data, "title"))
  data$term <- factor(data$term, rev(data$term))
  ggplot2::ggplot(data, ggplot2::aes(x = !!quote(weight), y = !!quote(term))) +
    ggplot2::geom_col() +
    labels
}

#' @rdname autoplot_models
#' @exportS3Method ggplot2::autoplot
autoplot.tf_estimator_history <- function(object, ...) plot(object, method = "ggplot2", ...)

# plotmo selects a column with `[, i]`, which must be a vector, so this returns a data frame.
#' @exportS3Method plotmo::plotmo.predict
plotmo.predict.tf_estimator <- function(object, newdata, type, ..., TRACE) {
  as.data.frame(predict(object, newdata = newdata, type = type, ...))
}
