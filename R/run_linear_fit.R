# Inference for linear models, computed in double precision from the training data and the trained
# weights.

# Returns the list from which vcov(), summary() and other methods compute their results. Its
# `coefficients` have a column for each response, or for each class except the first. The fit omits
# rows of weight 0.
linear_fit <- function(object, function_name,
                       frame = training_frame(object, function_name, call),
                       call = parent.frame()) {
  if (!has_coefficients(object)) {
    abort_runhooks(
      c(
        "{.fn {function_name}} needs a linear model; this is a {describe_model(object)}.",
        i = if (is_tree_model(object)) {
          "Use {.code feature_importances(model)} for the importance of the features."
        } else {
          "Use {.code variable_value(model)} for all weights."
        }
      ),
      call = call
    )
  }
  check_trained(object, function_name, call)
  check_design_size(object, frame, call)
  labels <- model_labels(object)
  logits <- linear_logits(object, frame)
  classes <- class_names_of(object)
  if (length(classes) > 2) logits <- logits[, -1, drop = FALSE] - logits[, 1]
  # the regression below converts the weights of the model to coefficients for the contrasts of
  # lm(), which give the same linear predictor
  design <- design_matrix(object, frame)
  response <- observed_response(object, frame$response)
  offset <- if (is.null(frame$offset)) numeric(nrow(design)) else frame$offset
  weights <- row_weights(object, frame, nrow(design))
  # drop rows of weight 0, so that levels that occur only there do not add columns
  is_used <- weights != 0
  if (!all(is_used)) {
    design_attributes <- attributes(design)[c("assign", "contrasts")]
    design <- design[is_used, , drop = FALSE]
    attributes(design) <- c(attributes(design), design_attributes)
    logits <- logits[is_used, , drop = FALSE]
    response <- response[is_used, , drop = FALSE]
  }
  fitted <- stats::lm.fit(design, logits - offset[is_used])
  coefficients <- as.matrix(fitted$coefficients)
  dimnames(coefficients) <- list(
    colnames(design),
    if (length(classes) > 2) classes[-1] else if (ncol(logits) > 1) {
      output_names(object, frame$response)
    }
  )
  fit <- list(
    family = labels$family, coefficients = coefficients, design = design, logits = logits,
    frame = frame, offset = offset[is_used],
    kept = !is.na(coefficients[, 1]), decomposed = fitted$qr,
    response = response, weights = weights[is_used],
    is_penalized = is_penalized(first_optimizer(object)),
    is_iterative = needs_all_rows(first_optimizer(object))
  )
  if (length(classes) > 2) fit$response <- fit$response[, -1, drop = FALSE]
  if (nzchar(fit$family)) c(fit, fit_information(fit)) else fit
}

# Does the same as linear_fit(), but without a design matrix if a factor has many levels.
coefficient_fit <- function(object, function_name, call = parent.frame(), frame = NULL) {
  if (!has_coefficients(object)) return(linear_fit(object, function_name, call = call))
  check_trained(object, function_name, call)
  if (is.null(frame)) frame <- training_frame(object, function_name, call)
  fit <- absorbed_fit(object, frame)
  if (is.null(fit)) linear_fit(object, function_name, frame, call) else fit
}

# A design matrix is rejected if it exceeds both limits, because lm() would need hours and four
# times its memory.
max_design_columns <- 1000
max_design_bytes <- 500e6

check_design_size <- function(object, frame, call) {
  levels <- vapply(object$blueprint$variables, function(v) max(1, length(v$levels)), 0)
  widths <- vapply(object$blueprint$variables, `[[`, 1L, "width")
  columns <- sum(vapply(object$blueprint$terms, function(term) {
    crossed <- object$blueprint$crosses[[product_name(term$words)]]
    num_levels <- if (is.null(crossed)) prod(levels[term$words]) else length(crossed)
    num_levels * max(1, widths[term$numbers])
  }, 0))
  bytes <- 8 * columns * sum(frame$rows)
  if (columns <= max_design_columns || bytes <= max_design_bytes) return(invisible())
  rows <- format(sum(frame$rows), big.mark = ",") # nolint: used by cli
  columns <- format(columns, big.mark = ",") # nolint: used by cli
  abort_runhooks(
    c(
      "This needs a design matrix of {rows} rows and about {columns} columns, which takes
       {format(bytes / 1e9, digits = 2)} GB.",
      i = "Use {.code predict(model, data)}, {.code evaluate(model, data)} or
           {.code variable_value(model)}, or combine rare levels of factors."
    ),
    kind = "resource_exhausted", call = call
  )
}

# Returns the optimizer of the first part of a model; a linear model has only this part.
first_optimizer <- function(object) {
  object$spec[[model_traits(object$spec$type)$parts[[1]]$optimizer]]
}

# Computes the means, the errors, the gradient, the Cholesky factor `root` of the information matrix
# and the Newton step. Gradient and information refer to an orthonormal basis of the design, which
# is accurate for nearly collinear columns. The matrix `basis` converts this basis to coefficients.
fit_information <- function(fit) {
  p <- sum(fit$kept)
  w <- fit$weights
  means <- switch(fit$family,
    gaussian = fit$logits, binomial = stats::plogis(fit$logits), poisson = exp(fit$logits),
    multinomial = {
      largest <- apply(cbind(0, fit$logits), 1, max)
      odds <- exp(fit$logits - largest)
      odds / (rowSums(odds) + exp(-largest))
    }
  )
  errors <- fit$response - means
  gradient <- qr.qty(fit$decomposed, w * errors)[seq_len(p), , drop = FALSE]
  triangle <- qr.R(fit$decomposed)[seq_len(p), seq_len(p), drop = FALSE]
  root <- information_root(fit, means, triangle)
  basis <- backsolve(triangle, diag(p))
  steps <- if (!is.null(root)) {
    half_solution <- backsolve(root, as.vector(gradient), transpose = TRUE)
    matrix(backsolve(root, half_solution), ncol = ncol(errors))
  }
  list(
    means = means, errors = errors, gradient = sqrt(sum(gradient^2)), root = root, basis = basis,
    # the Newton step in the coefficients, and the same step in the orthonormal basis
    newton_step = if (!is.null(steps)) basis %*% steps, newton_step_in_basis = steps
  )
}

# Returns the Cholesky factor of the information matrix, or NULL if the matrix is singular.
# `triangle` is the factor R of the design's QR decomposition, which defines the orthonormal basis.
information_root <- function(fit, means, triangle) {
  if (fit$family == "multinomial") return(joint_information_root(fit, means))
  k <- ncol(means)
  variance <- switch(fit$family,
    gaussian = array(1, dim(means)), binomial = means * (1 - means), poisson = means
  )
  is_plain <- fit$family == "gaussian" && all(fit$weights == 1)
  outputs <- if (fit$family == "gaussian") 1 else seq_len(k)
  roots <- lapply(outputs, function(i) {
    if (is_plain) return(diag(ncol(triangle)))
    weighted_design_root(fit, fit$weights * variance[, i], triangle)
  })
  if (any(vapply(roots, is.null, NA))) return(NULL)
  if (k == 1) return(roots[[1]])
  root <- matrix(0, k * ncol(triangle), k * ncol(triangle))
  for (i in seq_len(k)) {
    block <- (i - 1) * ncol(triangle) + seq_len(ncol(triangle))
    root[block, block] <- roots[[min(i, length(roots))]]
  }
  root
}

# Returns the Cholesky factor of the design's weighted cross product in the orthonormal basis.
# `weights` has a weight for each row.
weighted_design_root <- function(fit, weights, triangle) {
  if (!all(is.finite(weights))) return(NULL)
  weighted_qr <- qr(sqrt(weights) * fit$design[, fit$kept, drop = FALSE], tol = 0)
  root <- t(backsolve(triangle, t(qr.R(weighted_qr)), transpose = TRUE))
  sizes <- abs(diag(root))
  if (all(sizes > .Machine$double.eps * max(sizes))) root
}

joint_information_root <- function(fit, means) {
  q <- orthonormal_columns(fit)
  k <- ncol(means)
  block_columns <- function(i) (i - 1) * ncol(q) + seq_len(ncol(q))
  information <- matrix(0, k * ncol(q), k * ncol(q))
  for (a in seq_len(k)) {
    for (b in seq_len(a)) {
      block <- crossprod(q, fit$weights * means[, a] * ((a == b) - means[, b]) * q)
      information[block_columns(a), block_columns(b)] <- block
      information[block_columns(b), block_columns(a)] <- t(block)
    }
  }
  tryCatch(chol(information), error = function(error) NULL)
}

orthonormal_columns <- function(fit) {
  qr.qy(fit$decomposed, diag(1, nrow(fit$design), sum(fit$kept)))
}

# Returns the residuals after one more Newton step. For a numeric response, this step reaches the
# optimum.
residuals_at_optimum <- function(fit) {
  if (!is.null(fit$factor)) return(fit$errors - fit$step$fitted)
  zeros <- matrix(0, nrow(fit$errors) - nrow(fit$newton_step_in_basis), ncol(fit$errors))
  fit$errors - qr.qy(fit$decomposed, rbind(fit$newton_step_in_basis, zeros))
}

# Returns the variance of each row's response, without the factors for dispersion and weight.
row_variance <- function(fit) {
  mean <- fit$means[, 1]
  switch(fit$family, gaussian = 1, binomial = mean * (1 - mean), poisson = mean)
}

# Returns the largest component of the Newton step, relative to the coefficient or its standard
# error, whichever is larger.
newton_step_size <- function(fit) {
  if (is.null(fit$root) || has_infinite_optimum(fit)) return(Inf)
  if (is_within_precision(fit)) return(0)
  beta <- fit$coefficients[fit$kept, , drop = FALSE]
  errors <- sqrt(diag(fit_covariance(fit)))
  errors[!is.finite(errors)] <- 0 # as many coefficients as rows
  max(abs(fit$newton_step) / pmax(abs(beta), errors, .Machine$double.xmin))
}

# Returns TRUE if the model is at the optimum up to rounding errors. For a numeric response, also if
# the residuals at the optimum are only rounding errors.
is_within_precision <- function(fit) {
  centered <- sweep(fit$logits, 2, colMeans(fit$logits))
  if (fit$family != "gaussian") return(sum(fit$newton_step_in_basis^2) <= 1e-12 * sum(centered^2))
  residual_squares <- fit$weights * residuals_at_optimum(fit)^2
  rounding <- sum(fit$weights) * (8 * .Machine$double.eps * max(abs(fit$response)))^2
  sum(residual_squares) <= 1e-20 * sum(fit$weights * centered^2) + rounding
}

# Returns TRUE if the optimal linear predictor of a row is infinite, for example because a predictor
# separates the classes.
has_infinite_optimum <- function(fit) {
  if (fit$family == "gaussian") return(FALSE)
  inverse <- chol2inv(fit$root)
  p <- sum(fit$kept)
  blocks <- lapply(seq_len(ncol(fit$logits)), function(i) (i - 1) * p + seq_len(p))
  # rows of the basis have a norm of at most 1, so the eigenvalues bound the variances
  largest <- vapply(blocks, function(block) {
    eigen(inverse[block, block, drop = FALSE], symmetric = TRUE, only.values = TRUE)$values[[1]]
  }, 0)
  if (all(largest <= 100)) return(FALSE)
  q <- orthonormal_columns(fit)
  any(vapply(seq_along(blocks), function(i) {
    block <- blocks[[i]]
    error <- sqrt(pmax(rowSums((q %*% inverse[block, block, drop = FALSE]) * q), 0))
    any(error > 10 * (1 + abs(fit$logits[, i])))
  }, NA))
}

warn_not_converged <- function(fit) {
  if (!nzchar(fit$family) || fit$is_penalized) return(invisible(FALSE))
  distance <- if (is.null(fit$distance)) newton_step_size(fit) else fit$distance
  if (distance <= 1e-3) return(invisible(FALSE))
  distance_text <- if (is.finite(distance)) {
    paste0(format(100 * distance, digits = 2, scientific = distance > 1e3), " %")
  } else {
    "any distance"
  }
  rlang::warn(
    c(
      paste0(
        "The model has not converged: one more step would move a coefficient by ", distance_text,
        " of its size or standard error."
      ),
      x = paste0("The norm of the gradient is ", format(fit$gradient, digits = 2), "."),
      i = if (is_nearly_perfect_fit(fit)) {
        "The residuals are at the limit of single precision; use `lm()` for more digits."
      } else if (is.finite(distance) && isTRUE(fit$is_iterative)) {
        "Train longer, for example with `steps = 1000`."
      } else if (is.finite(distance)) {
        "Use the default optimizer, which reaches the optimum."
      } else {
        "Separable classes have no finite optimum."
      }
    ),
    class = c("runhooks_warning_not_converged", "runhooks_warning")
  )
  invisible(TRUE)
}

# Warns after a training if a linear_regressor() has not converged. Classifiers are not checked:
# separable classes have no optimum, so their training may end with a small gradient instead.
warn_unfinished_fit <- function(object) {
  is_checked <- has_coefficients(object) && identical(model_labels(object)$family, "gaussian")
  if (is_checked) warn_not_converged(coefficient_fit(object, "train"))
}

# Warns if the residuals are near the limit of single precision, where rounding changes them.
# summary.lm() has a similar warning.
warn_perfect_fit <- function(fit) {
  has_optimum <- !is.null(fit$root) || !is.null(fit$step)
  if (fit$family != "gaussian" || !has_optimum || fit_residual_df(fit) < 1) return(invisible())
  sum_of_squares <- function(x) colSums(fit$weights * x^2)
  squares <- sum_of_squares(fit$errors)
  optimal_squares <- sum_of_squares(residuals_at_optimum(fit))
  is_rounded <- squares > 1.02 * optimal_squares |
    optimal_squares <= 1e-30 * sum_of_squares(fit$response)
  if (!any(is_rounded)) return(invisible())
  rlang::warn(
    c(
      "The fit is essentially perfect: standard errors may be unreliable.",
      x = paste0(
        "They include the rounding of single precision. The residuals at the optimum are ",
        format(sqrt(min(optimal_squares / squares, 1, na.rm = TRUE)), digits = 2),
        " times as large."
      ),
      i = "lm() computes in double precision."
    ),
    class = c("runhooks_warning_perfect_fit", "runhooks_warning")
  )
}

is_nearly_perfect_fit <- function(fit) {
  if (fit$family != "gaussian") return(FALSE)
  centered <- sweep(fit$logits, 2, colMeans(fit$logits))
  sum(fit$weights * fit$errors^2) <= 1e-8 * sum(fit$weights * centered^2)
}

# Warns if inference is unreliable, because of missing convergence or a perfect fit.
warn_unreliable_inference <- function(fit) {
  if (!nzchar(fit$family) || fit$is_penalized) return(invisible())
  if (!warn_not_converged(fit)) warn_perfect_fit(fit)
}

# Returns the fit for a function that needs a likelihood. `needs_design`: whether this function uses
# the design matrix.
inference_fit <- function(object, function_name, call = parent.frame(), needs_design = FALSE) {
  fit <- if (needs_design) {
    linear_fit(object, function_name, call = call)
  } else {
    coefficient_fit(object, function_name, call)
  }
  if (!nzchar(fit$family) || fit$is_penalized) {
    abort_runhooks(
      c(
        "{.fn {function_name}} needs a model whose loss is a likelihood.",
        x = if (fit$is_penalized) {
          "The optimizer of this model penalizes weights."
        } else {
          "The loss of this model is not a likelihood."
        }
      ),
      call = call
    )
  }
  warn_unreliable_inference(fit)
  fit
}

fit_nobs <- function(fit) sum(fit$weights != 0)

fit_residual_df <- function(fit) fit_nobs(fit) - sum(fit$kept)

fit_num_coefficients <- function(fit) sum(fit$kept) * ncol(fit$coefficients)

fit_dispersion <- function(fit) {
  if (fit$family != "gaussian") return(diag(ncol(fit$errors)))
  crossprod(fit$errors, fit$weights * fit$errors) / fit_residual_df(fit)
}

fit_covariance <- function(fit) {
  k <- ncol(fit$errors)
  inverse <- if (is.null(fit$root)) {
    matrix(NaN, k * ncol(fit$basis), k * ncol(fit$basis))
  } else {
    chol2inv(fit$root)
  }
  all_bases <- kronecker(diag(k), fit$basis)
  if (fit$family == "gaussian") {
    # all responses have the same rows and correlated errors
    block <- seq_len(ncol(fit$basis))
    return(kronecker(
      fit_dispersion(fit), fit$basis %*% inverse[block, block, drop = FALSE] %*% t(fit$basis)
    ))
  }
  all_bases %*% inverse %*% t(all_bases)
}

# Returns the number of standard errors from an estimate to each limit of its interval.
interval_quantile <- function(fit, level, call = parent.frame()) {
  is_valid <- is_number(level) && level > 0 && level < 1
  check_arg(is_valid, level, "a number between 0 and 1", "level", call)
  upper <- (1 + level) / 2
  if (fit$family == "gaussian") stats::qt(upper, fit_residual_df(fit)) else stats::qnorm(upper)
}

# Returns the linear predictors of the rows of `data` and their standard errors.
linear_predictions <- function(object, data, fit, call = parent.frame()) {
  if (!is.null(fit$factor)) return(absorbed_predictions(object, data, fit, call))
  design <- design_matrix(object, fit$frame, data)[, fit$kept, drop = FALSE]
  logits <- design %*% fit$coefficients[fit$kept, , drop = FALSE]
  offset <- offset_value(fill_missing(data, object$blueprint$na$constants), object$blueprint, call)
  if (!is.null(offset)) logits <- logits + offset
  covariance <- fit_covariance(fit)
  error <- vapply(seq_len(ncol(logits)), function(i) {
    block <- (i - 1) * ncol(design) + seq_len(ncol(design))
    sqrt(pmax(rowSums((design %*% covariance[block, block, drop = FALSE]) * design), 0))
  }, numeric(nrow(design)))
  list(logits = logits, error = matrix(error, nrow(design)))
}

predict_interval <- function(object, newdata, type, interval, level, call) {
  check_arg(
    is_string(interval) && interval %in% c("confidence", "prediction"), interval,
    "\"confidence\" or \"prediction\"", "interval", call
  )
  if (is.null(object$blueprint)) abort_no_formula("predict(interval = )", call)
  if (!has_coefficients(object)) {
    abort_runhooks(
      c(
        "Intervals are available for linear models only; this is a {describe_model(object)}.",
        i = "Drop {.arg interval} to get predictions."
      ),
      call = call
    )
  }
  if (is.null(handle_fields(object)$shared_state$data) && is.null(object$data)) {
    abort_runhooks(
      "Intervals need the training data, which were removed from this model.", call = call
    )
  }
  fit <- inference_fit(object, "predict", call)
  abort_interval(fit, interval, object, call)
  data <- check_new_data(bake_newdata(object, newdata, call), call)
  predictions <- linear_predictions(object, data, fit)
  error <- predictions$error
  if (interval == "prediction") {
    error <- sqrt(sweep(error^2, 2, diag(fit_dispersion(fit)), `+`))
  }
  half_width <- interval_quantile(fit, level, call) * error
  to_response <- if (identical(type, "link")) identity else inverse_link(fit$family)
  logits <- predictions$logits
  limits <- lapply(list(logits, logits - half_width, logits + half_width), function(x) {
    to_response(unname(x))
  })
  outputs <- colnames(fit$coefficients)
  if (is.null(outputs)) outputs <- seq_len(ncol(half_width))
  suffix <- if (ncol(half_width) > 1) paste0("_", outputs) else ""
  columns <- lapply(seq_len(ncol(half_width)), function(i) {
    names <- paste0(c(".pred", ".pred_lower", ".pred_upper"), suffix[[i]])
    setNames(lapply(limits, function(x) x[, i]), names)
  })
  fast_tibble(do.call(c, columns), nrow(half_width))
}

# Raises an error if the interval does not exist: several classes have several linear predictors,
# and prediction intervals need normal errors.
abort_interval <- function(fit, interval, object, call) {
  is_joint <- fit$family == "multinomial"
  if (!is_joint && (interval == "confidence" || fit$family == "gaussian")) return(invisible())
  n <- ncol(fit$errors) + 1 # nolint: used by cli
  abort_runhooks(
    c(
      "{.code interval = \"{interval}\"} is not for a {describe_model(object)} of this kind.",
      x = if (is_joint) {
        "It has {n} classes, and their probabilities depend on several linear predictors."
      } else {
        "Its predictions do not have normal errors."
      },
      i = if (is_joint) "Use {.fn confint} for intervals of its coefficients." else {
        "Use {.code interval = \"confidence\"} for intervals of the mean."
      }
    ),
    call = call
  )
}

inverse_link <- function(family) {
  switch(family, binomial = stats::plogis, poisson = exp, identity)
}
