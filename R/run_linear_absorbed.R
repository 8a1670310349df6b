# Inference for linear models with one factor of many levels, whose design matrix would need
# gigabytes. The factor is absorbed: the other columns are centered within its levels.

min_levels_to_absorb <- 200

# Returns the same kind of list as linear_fit(). Returns NULL unless the model has one factor of
# many levels and numeric variables, and the data determine all coefficients.
absorbed_fit <- function(object, frame) {
  factor <- absorbable_factor(object, frame$values)
  if (is.null(factor)) return(NULL)
  logits <- linear_logits(object, frame)
  response <- observed_response(object, frame$response)
  if (ncol(logits) != 1 || ncol(response) != 1) return(NULL)
  weights <- row_weights(object, frame, nrow(logits))
  is_used <- weights != 0
  codes <- level_codes(factor, frame$values)[is_used]
  if (length(unique(codes)) < length(factor$levels)) return(NULL)
  x <- numeric_columns(factor, frame$values)[is_used, , drop = FALSE]
  unweighted <- absorbed_solver(codes, x, rep(1, sum(is_used)))
  if (is.null(unweighted)) return(NULL)
  fit <- list(
    family = model_labels(object)$family, weights = weights[is_used], codes = codes, x = x,
    logits = logits[is_used, , drop = FALSE], response = response[is_used, , drop = FALSE],
    is_penalized = is_penalized(first_optimizer(object)), factor = factor,
    is_iterative = needs_all_rows(first_optimizer(object)),
    offset = if (is.null(frame$offset)) 0 else frame$offset[is_used]
  )
  fit$beta <- unweighted$solve(fit$logits[, 1] - fit$offset)$beta
  fit$means <- as.matrix(inverse_link(fit$family)(fit$logits))
  fit$errors <- fit$response - fit$means
  fit$gradient <- sqrt(sum(unweighted$solve(fit$weights * fit$errors[, 1])$fitted^2))
  if (nzchar(fit$family)) {
    fit$absorbed <- absorbed_solver(codes, x, fit$weights * row_variance(fit))
    fit$step <- fit$absorbed$solve(fit$errors[, 1] / row_variance(fit))
    fit$distance <- absorbed_newton_step_size(fit)
  }
  fit$coefficients <- as.matrix(order_as_factor_levels(fit$beta, factor))
  fit$kept <- rep(TRUE, nrow(fit$coefficients))
  fit
}

# Returns the number of the factor's level in each row.
level_codes <- function(factor, values) match(as.character(values[[factor$name]]), factor$levels)

numeric_columns <- function(factor, values) {
  n <- n_rows(values[[factor$name]])
  do.call(cbind, c(list(matrix(0, n, 0)), lapply(values[factor$numbers], as.numeric)))
}

# Returns a list that describes the factor to absorb: its name and levels, and the names of the
# numeric variables. Returns NULL if the model has other terms, contrasts or few levels.
absorbable_factor <- function(object, values) {
  blueprint <- object$blueprint
  terms <- blueprint$terms
  is_single <- lengths(lapply(terms, unlist)) >= 1 &
    lengths(lapply(terms, `[[`, "words")) + lengths(lapply(terms, `[[`, "numbers")) == 1
  is_factor <- lengths(lapply(terms, `[[`, "words")) == 1
  is_plain <- isTRUE(blueprint$has_intercept) && all(is_single) && sum(is_factor) == 1 &&
    length(blueprint$summands) == length(terms)
  if (!is_plain) return(NULL)
  name <- terms[[which(is_factor)]]$words
  variable <- blueprint$variables[[name]]
  numbers <- unlist(lapply(terms[!is_factor], `[[`, "numbers"))
  are_numbers <- vapply(numbers, function(number) {
    x <- values[[number]]
    info <- blueprint$variables[[number]]
    is.numeric(x) && is.null(dim(x)) && is.null(info$time) && is.null(info$unit)
  }, NA)
  factor_values <- values[[name]]
  has_contrasts <- is.ordered(factor_values) || !is.null(attr(factor_values, "contrasts")) ||
    !identical(unname(getOption("contrasts")[1]), "contr.treatment") ||
    grepl("^(stats::)?C\\(", name)
  is_large <- length(variable$levels) > min_levels_to_absorb && variable$width == 1
  if (!all(are_numbers) || has_contrasts || !is_large) return(NULL)
  levels <- if (is.factor(factor_values)) {
    levels(droplevels(factor_values))
  } else {
    sort_bytewise(unique(factor_values))
  }
  list(
    name = name, levels = levels, numbers = unname(numbers), na_level = variable$na_level,
    order = names(terms)
  )
}

# Prepares the weighted regression on the levels `codes` and the columns `x`, with the weights `w`.
# The result has a function `solve(z)`, which regresses `z`. Returns NULL for collinear columns.
absorbed_solver <- function(codes, x, w) {
  sums <- as.vector(rowsum(w, codes))
  means <- rowsum(w * x, codes) / sums
  centered <- sqrt(w) * (x - means[codes, , drop = FALSE])
  qr_x <- qr(centered, tol = 0)
  sizes <- if (ncol(x)) abs(diag(qr.R(qr_x)))
  if (!all(is.finite(sums)) || any(sizes <= 1e-7 * sqrt(colSums(w * x^2)))) return(NULL)
  unscaled_covariance <- if (ncol(x)) chol2inv(qr.R(qr_x)) else matrix(0, 0, 0)
  quadratic_form <- function(d) rowSums((d %*% unscaled_covariance) * d)
  solve_for <- function(z) {
    level_means <- as.vector(rowsum(w * z, codes)) / sums
    slopes <- if (ncol(x)) qr.coef(qr_x, sqrt(w) * (z - level_means[codes])) else numeric()
    intercepts <- level_means - as.vector(means %*% slopes)
    mean_differences <- sweep(means, 2, means[1, ])
    list(
      beta = c(intercepts[[1]], intercepts[-1] - intercepts[[1]], slopes),
      fitted = intercepts[codes] + as.vector(x %*% slopes),
      variances = c(
        1 / sums[[1]] + quadratic_form(means[1, , drop = FALSE]),
        (1 / sums + 1 / sums[[1]] + quadratic_form(mean_differences))[-1], diag(unscaled_covariance)
      )
    )
  }
  row_variances <- function(codes, x) {
    (1 / sums)[codes] + quadratic_form(x - means[codes, , drop = FALSE])
  }
  list(
    solve = solve_for, row_variances = row_variances, sums = sums, means = means,
    unscaled_covariance = unscaled_covariance
  )
}

# Does the same as newton_step_size() (R/run_linear_fit.R), without a design matrix.
absorbed_newton_step_size <- function(fit) {
  step <- fit$step
  if (is.null(step)) return(Inf)
  if (!all(is.finite(step$beta))) return(Inf)
  is_far <- sqrt(fit$absorbed$row_variances(fit$codes, fit$x)) > 10 * (1 + abs(fit$logits[, 1]))
  if (fit$family != "gaussian" && any(is_far)) return(Inf)
  centered <- fit$logits[, 1] - mean(fit$logits[, 1])
  scale <- 1
  if (fit$family == "gaussian") {
    squares <- sum(fit$weights * (fit$errors[, 1] - step$fitted)^2)
    rounding <- sum(fit$weights) * (8 * .Machine$double.eps * max(abs(fit$response)))^2
    if (squares <= 1e-20 * sum(fit$weights * centered^2) + rounding) return(0)
    scale <- sum(fit$weights * fit$errors[, 1]^2) / (length(fit$codes) - length(fit$beta))
  } else if (sum(step$fitted^2) <= 1e-12 * sum(centered^2)) {
    return(0)
  }
  errors <- sqrt(scale * step$variances)
  errors[!is.finite(errors)] <- 0
  max(abs(step$beta) / pmax(abs(fit$beta), errors, .Machine$double.xmin))
}

absorbed_standard_errors <- function(fit) {
  if (is.null(fit$step)) return(rep(NaN, nrow(fit$coefficients)))
  unname(order_as_factor_levels(sqrt(fit_dispersion(fit)[[1]] * fit$step$variances), fit$factor))
}

# Returns the covariance matrix of the coefficients. Computes it by one matrix product, without
# copies, because it may take hundreds of megabytes.
absorbed_covariance <- function(fit) {
  names <- rownames(fit$coefficients)
  size <- length(names)
  if (is.null(fit$absorbed)) return(matrix(NaN, size, size, dimnames = list(names, names)))
  solver <- fit$absorbed
  k <- length(solver$sums)
  slopes <- ncol(solver$means)
  first <- solver$means[1, ]
  mean_rows <- rbind(-first, -sweep(solver$means[-1, , drop = FALSE], 2, first), diag(slopes))
  first_level_row <- c(1, rep(-1, k - 1), numeric(slopes))
  level_variances <- c(0, 1 / solver$sums[-1], numeric(slopes))
  order <- order_as_factor_levels(seq_len(size), fit$factor)
  scale <- fit_dispersion(fit)[[1]]
  left <- scale * cbind(
    mean_rows %*% solver$unscaled_covariance, first_level_row / solver$sums[[1]]
  )
  right <- cbind(mean_rows, first_level_row)
  covariance <- tcrossprod(left[order, , drop = FALSE], right[order, , drop = FALSE])
  diagonal <- cbind(seq_len(size), seq_len(size))
  covariance[diagonal] <- covariance[diagonal] + scale * level_variances[order]
  dimnames(covariance) <- list(names, names)
  covariance
}

# Does the same as linear_predictions() (R/run_linear_fit.R), without a design matrix.
absorbed_predictions <- function(object, data, fit, call) {
  frame <- evaluate_blueprint(object$blueprint, data, FALSE, call)
  is_complete <- !Reduce(`|`, frame$missing, logical(frame$n))
  frame <- select_frame_rows(frame, is_complete)
  frame$rows <- rep(TRUE, sum(is_complete))
  codes <- level_codes(fit$factor, frame$values)
  variances <- NaN
  if (!is.null(fit$absorbed)) {
    variances <- fit$absorbed$row_variances(codes, numeric_columns(fit$factor, frame$values))
  }
  error <- sqrt(fit_dispersion(fit)[[1]] * variances)
  # a level that was not in the training data has no coefficient
  logits <- linear_logits(object, frame)
  logits[is.na(codes), ] <- NA
  list(
    logits = scatter_rows_to_na(logits, is_complete),
    error = scatter_rows_to_na(cbind(error), is_complete)
  )
}

# Orders coefficients as in the formula. `beta` has the intercept and the levels first, then the
# numeric variables.
order_as_factor_levels <- function(beta, factor) {
  levels <- factor$levels
  levels[levels %in% factor$na_level] <- "NA"
  n <- length(levels)
  level_names <- c("(Intercept)", paste0(factor$name, levels[-1]))
  level_coefficients <- setNames(beta[seq_len(n)], level_names)
  coefficients <- as.list(setNames(beta[-seq_len(n)], factor$numbers))
  coefficients[[factor$name]] <- level_coefficients[-1]
  unlist(c(list(level_coefficients[1]), lapply(factor$order, function(name) {
    if (name == factor$name) coefficients[[name]] else setNames(coefficients[[name]], name)
  })))
}
