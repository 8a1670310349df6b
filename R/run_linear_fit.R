# Inference for linear models in double precision, from the data and the weights.

# `coefficients` has a column for each response, or for each class except the first.
linear_fit <- function(object, what, frame = training_frame(object, what, call),
                       call = parent.frame()) {
  if (!has_coefficients(object)) {
    abort_runhooks(
      c(
        "{.fn {what}} needs a linear model; this is a {describe_model(object)}.",
        i = if (is_tree_model(object)) {
          "Use {.code feature_importances(model)} for the importance of the features."
        } else {
          "Use {.code variable_value(model)} for all weights."
        }
      ),
      call = call
    )
  }
  check_trained(object, what, call)
  check_design_size(object, frame, call)
  labels <- model_labels(object)
  logits <- linear_logits(object, frame)
  classes <- tidy_classes_of(object)
  if (length(classes) > 2) logits <- logits[, -1, drop = FALSE] - logits[, 1]
  # the weights as coefficients of lm()'s contrasts, which give the same linear predictor
  design <- design_matrix(object, frame)
  response <- observed_response(object, frame$response)
  offset <- if (is.null(frame$offset)) numeric(nrow(design)) else frame$offset
  weights <- row_weights(object, frame, nrow(design))
  # drop rows of weight 0, so that their levels do not add columns
  used <- weights != 0
  if (!all(used)) {
    about <- attributes(design)[c("assign", "contrasts")]
    design <- design[used, , drop = FALSE]
    attributes(design) <- c(attributes(design), about)
    logits <- logits[used, , drop = FALSE]
    response <- response[used, , drop = FALSE]
  }
  fitted <- stats::lm.fit(design, logits - offset[used])
  coefficients <- as.matrix(fitted$coefficients)
  dimnames(coefficients) <- list(
    colnames(design),
    if (length(classes) > 2) classes[-1] else if (ncol(logits) > 1) {
      output_names(object, frame$response)
    }
  )
  fit <- list(
    family = labels$family, coefficients = coefficients, design = design, logits = logits,
    frame = frame, offset = offset[used],
    kept = !is.na(coefficients[, 1]), decomposed = fitted$qr,
    response = response, weights = weights[used],
    is_penalized = is_penalized(optimizer_argument_of(object)),
    is_iterative = wants_all_rows(optimizer_argument_of(object))
  )
  if (length(classes) > 2) fit$response <- fit$response[, -1, drop = FALSE]
  if (nzchar(fit$family)) c(fit, fit_information(fit)) else fit
}

# A fit without a design matrix if there is a factor with many levels.
coefficient_fit <- function(object, what, call = parent.frame(), frame = NULL) {
  if (!has_coefficients(object)) return(linear_fit(object, what, call = call))
  check_trained(object, what, call)
  if (is.null(frame)) frame <- training_frame(object, what, call)
  fit <- absorbed_fit(object, frame)
  if (is.null(fit)) linear_fit(object, what, frame, call) else fit
}

# lm() would need four times this memory, and hours.
most_columns <- 1000
most_bytes <- 500e6

check_design_size <- function(object, frame, call) {
  levels <- vapply(object$blueprint$variables, function(v) max(1, length(v$levels)), 0)
  widths <- vapply(object$blueprint$variables, `[[`, 1L, "width")
  columns <- sum(vapply(object$blueprint$terms, function(term) {
    crossed <- object$blueprint$crosses[[product_name(term$words)]]
    words <- if (is.null(crossed)) prod(levels[term$words]) else length(crossed)
    words * max(1, widths[term$numbers])
  }, 0))
  bytes <- 8 * columns * sum(frame$rows)
  if (columns <= most_columns || bytes <= most_bytes) return(invisible())
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

optimizer_argument_of <- function(object) {
  object$spec[[model_traits(object$spec$type)$parts[[1]]$optimizer]]
}

# Gradient and information refer to an orthonormal basis of the design, which is accurate for
# collinear columns. `basis` maps to coefficients. Its columns are large and rarely needed.
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
    along <- backsolve(root, as.vector(gradient), transpose = TRUE)
    matrix(backsolve(root, along), ncol = ncol(errors))
  }
  list(
    means = means, errors = errors, gradient = sqrt(sum(gradient^2)), root = root, basis = basis,
    # the Newton step in the coefficients, and the same step in the orthonormal basis
    newton_step = if (!is.null(steps)) basis %*% steps, newton_step_in_basis = steps
  )
}

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
    row_covariance_root(fit, fit$weights * variance[, i], triangle)
  })
  if (any(vapply(roots, is.null, NA))) return(NULL)
  if (k == 1) return(roots[[1]])
  root <- matrix(0, k * ncol(triangle), k * ncol(triangle))
  for (i in seq_len(k)) {
    own <- (i - 1) * ncol(triangle) + seq_len(ncol(triangle))
    root[own, own] <- roots[[min(i, length(roots))]]
  }
  root
}

# `triangle` defines the orthonormal basis.
row_covariance_root <- function(fit, amounts, triangle) {
  if (!all(is.finite(amounts))) return(NULL)
  decomposed <- qr(sqrt(amounts) * fit$design[, fit$kept, drop = FALSE], tol = 0)
  root <- t(backsolve(triangle, t(qr.R(decomposed)), transpose = TRUE))
  sizes <- abs(diag(root))
  if (all(sizes > .Machine$double.eps * max(sizes))) root
}

joint_information_root <- function(fit, means) {
  q <- orthonormal_columns(fit)
  k <- ncol(means)
  own <- function(i) (i - 1) * ncol(q) + seq_len(ncol(q))
  information <- matrix(0, k * ncol(q), k * ncol(q))
  for (a in seq_len(k)) {
    for (b in seq_len(a)) {
      block <- crossprod(q, fit$weights * means[, a] * ((a == b) - means[, b]) * q)
      information[own(a), own(b)] <- block
      information[own(b), own(a)] <- t(block)
    }
  }
  tryCatch(chol(information), error = function(error) NULL)
}

orthonormal_columns <- function(fit) {
  qr.qy(fit$decomposed, diag(1, nrow(fit$design), sum(fit$kept)))
}

residuals_at_optimum <- function(fit) {
  if (!is.null(fit$factor)) return(fit$errors - fit$step$fitted)
  rest <- matrix(0, nrow(fit$errors) - nrow(fit$newton_step_in_basis), ncol(fit$errors))
  fit$errors - qr.qy(fit$decomposed, rbind(fit$newton_step_in_basis, rest))
}

# The variance of each response, apart from the dispersion and the weights.
row_variance <- function(fit) {
  mean <- fit$means[, 1]
  switch(fit$family, gaussian = 1, binomial = mean * (1 - mean), poisson = mean)
}

# The largest component of the Newton step, relative to the coefficient or its standard error,
# whichever is larger.
newton_step_size <- function(fit) {
  if (is.null(fit$root) || has_infinite_optimum(fit)) return(Inf)
  if (is_within_precision(fit)) return(0)
  beta <- fit$coefficients[fit$kept, , drop = FALSE]
  errors <- sqrt(diag(fit_covariance(fit)))
  errors[!is.finite(errors)] <- 0 # as many coefficients as rows
  max(abs(fit$newton_step) / pmax(abs(beta), errors, .Machine$double.xmin))
}

# True if the distance to the optimum, or for numbers the optimum's error, is only rounding.
is_within_precision <- function(fit) {
  centered <- sweep(fit$logits, 2, colMeans(fit$logits))
  if (fit$family != "gaussian") return(sum(fit$newton_step_in_basis^2) <= 1e-12 * sum(centered^2))
  left <- fit$weights * residuals_at_optimum(fit)^2
  rounding <- sum(fit$weights) * (8 * .Machine$double.eps * max(abs(fit$response)))^2
  sum(left) <= 1e-20 * sum(fit$weights * centered^2) + rounding
}

# True for separable classes and the like, where some row's linear predictor has no finite optimum.
has_infinite_optimum <- function(fit) {
  if (fit$family == "gaussian") return(FALSE)
  inverse <- chol2inv(fit$root)
  p <- sum(fit$kept)
  blocks <- lapply(seq_len(ncol(fit$logits)), function(i) (i - 1) * p + seq_len(p))
  # rows of the basis have a norm of at most 1, so the eigenvalues bound the variances
  largest <- vapply(blocks, function(own) {
    eigen(inverse[own, own, drop = FALSE], symmetric = TRUE, only.values = TRUE)$values[[1]]
  }, 0)
  if (all(largest <= 100)) return(FALSE)
  q <- orthonormal_columns(fit)
  any(vapply(seq_along(blocks), function(i) {
    own <- blocks[[i]]
    error <- sqrt(pmax(rowSums((q %*% inverse[own, own, drop = FALSE]) * q), 0))
    any(error > 10 * (1 + abs(fit$logits[, i])))
  }, NA))
}

warn_convergence <- function(fit) {
  if (!nzchar(fit$family) || fit$is_penalized) return(invisible(FALSE))
  distance <- if (is.null(fit$distance)) newton_step_size(fit) else fit$distance
  if (distance <= 1e-3) return(invisible(FALSE))
  far <- if (is.finite(distance)) {
    paste0(format(100 * distance, digits = 2, scientific = distance > 1e3), " %")
  } else {
    "any distance"
  }
  rlang::warn(
    c(
      paste0(
        "The model has not converged: one more step would move a coefficient by ", far,
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

# The hook accepts a small gradient, because separable classes have no optimum. Responses of
# linear_regressor() have one. Data with many rows are not read again.
warn_unfinished_fit <- function(object) {
  is_checked <- has_coefficients(object) && identical(model_labels(object)$family, "gaussian")
  if (is_checked) warn_convergence(coefficient_fit(object, "train"))
}

# Residuals near single precision contain rounding errors; summary() of lm() warns, too.
warn_perfect_fit <- function(fit) {
  is_known <- !is.null(fit$root) || !is.null(fit$step)
  if (fit$family != "gaussian" || !is_known || fit_df(fit) < 1) return(invisible())
  size <- function(x) colSums(fit$weights * x^2)
  left <- size(fit$errors)
  least <- size(residuals_at_optimum(fit))
  if (all(left <= 1.02 * least & least > 1e-30 * size(fit$response))) return(invisible())
  rlang::warn(
    c(
      "The fit is essentially perfect: standard errors may be unreliable.",
      x = paste0(
        "They include the rounding of single precision. The residuals at the optimum are ",
        format(sqrt(min(least / left, 1, na.rm = TRUE)), digits = 2), " times as large."
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
record_inference <- function(fit) {
  if (!nzchar(fit$family) || fit$is_penalized) return(invisible())
  if (!warn_convergence(fit)) warn_perfect_fit(fit)
}

# `needs_design`: for functions that use the design matrix.
inference_fit <- function(object, what, call = parent.frame(), needs_design = FALSE) {
  fit <- if (needs_design) {
    linear_fit(object, what, call = call)
  } else {
    coefficient_fit(object, what, call)
  }
  if (!nzchar(fit$family) || fit$is_penalized) {
    abort_runhooks(
      c(
        "{.fn {what}} needs a model whose loss is a likelihood.",
        x = if (fit$is_penalized) {
          "The optimizer of this model penalizes weights."
        } else {
          "The loss of this model is not a likelihood."
        }
      ),
      call = call
    )
  }
  record_inference(fit)
  fit
}

fit_nobs <- function(fit) sum(fit$weights != 0)

fit_df <- function(fit) fit_nobs(fit) - sum(fit$kept)

fit_edf <- function(fit) sum(fit$kept) * ncol(fit$coefficients)

fit_dispersion <- function(fit) {
  if (fit$family != "gaussian") return(diag(ncol(fit$errors)))
  crossprod(fit$errors, fit$weights * fit$errors) / fit_df(fit)
}

fit_covariance <- function(fit) {
  k <- ncol(fit$errors)
  inverse <- if (is.null(fit$root)) {
    matrix(NaN, k * ncol(fit$basis), k * ncol(fit$basis))
  } else {
    chol2inv(fit$root)
  }
  wide <- kronecker(diag(k), fit$basis)
  if (fit$family == "gaussian") {
    # all responses have the same rows and correlated errors
    own <- seq_len(ncol(fit$basis))
    return(kronecker(
      fit_dispersion(fit), fit$basis %*% inverse[own, own, drop = FALSE] %*% t(fit$basis)
    ))
  }
  wide %*% inverse %*% t(wide)
}

interval_factor <- function(fit, level, call = parent.frame()) {
  good <- is_number(level) && level > 0 && level < 1
  check_arg(good, level, "a number between 0 and 1", "level", call)
  upper <- (1 + level) / 2
  if (fit$family == "gaussian") stats::qt(upper, fit_df(fit)) else stats::qnorm(upper)
}

linear_predictions <- function(object, data, fit, call = parent.frame()) {
  if (!is.null(fit$factor)) return(absorbed_predictions(object, data, fit, call))
  design <- design_matrix(object, fit$frame, data)[, fit$kept, drop = FALSE]
  logits <- design %*% fit$coefficients[fit$kept, , drop = FALSE]
  offset <- offset_value(fill_missing(data, object$blueprint$na$constants), object$blueprint, call)
  if (!is.null(offset)) logits <- logits + offset
  covariance <- fit_covariance(fit)
  error <- vapply(seq_len(ncol(logits)), function(i) {
    own <- (i - 1) * ncol(design) + seq_len(ncol(design))
    sqrt(pmax(rowSums((design %*% covariance[own, own, drop = FALSE]) * design), 0))
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
  if (is.null(unclass(object$estimator)$kept$data) && is.null(object$data)) {
    abort_runhooks(
      "Intervals need the training data, which were removed from this model.", call = call
    )
  }
  fit <- inference_fit(object, "predict", call)
  abort_interval(fit, interval, object, call)
  data <- check_new_data(bake_newdata(object, newdata, call), call)
  made <- linear_predictions(object, data, fit)
  error <- made$error
  if (interval == "prediction") {
    error <- sqrt(sweep(error^2, 2, diag(fit_dispersion(fit)), `+`))
  }
  half <- interval_factor(fit, level, call) * error
  link <- if (identical(type, "link")) identity else inverse_link(fit$family)
  limits <- lapply(
    list(made$logits, made$logits - half, made$logits + half), function(x) link(unname(x))
  )
  outputs <- colnames(fit$coefficients)
  if (is.null(outputs)) outputs <- seq_len(ncol(half))
  suffix <- if (ncol(half) > 1) paste0("_", outputs) else ""
  columns <- lapply(seq_len(ncol(half)), function(i) {
    names <- paste0(c(".pred", ".pred_lower", ".pred_upper"), suffix[[i]])
    setNames(lapply(limits, function(x) x[, i]), names)
  })
  fast_tibble(do.call(c, columns), nrow(half))
}

# A probability of several classes has several predictors; prediction intervals need normal errors.
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
