# Linear models of numbers and one factor with many levels. The levels are absorbed by centering the
# rows within them, because the design matrix would need gigabytes.

min_levels_to_absorb <- 200

# NULL unless the model has this form and its coefficients are determined.
absorbed_fit <- function(object, frame) {
  factor <- absorbable_factor(object, frame$values)
  if (is.null(factor)) return(NULL)
  logits <- linear_logits(object, frame)
  response <- observed_response(object, frame$response)
  if (ncol(logits) != 1 || ncol(response) != 1) return(NULL)
  weights <- row_weights(object, frame, nrow(logits))
  used <- weights != 0
  code <- level_codes(factor, frame$values)[used]
  if (length(unique(code)) < length(factor$levels)) return(NULL)
  x <- numeric_columns(factor, frame$values)[used, , drop = FALSE]
  plain <- absorbed_solver(code, x, rep(1, sum(used)))
  if (is.null(plain)) return(NULL)
  fit <- list(
    family = model_labels(object)$family, weights = weights[used], code = code, x = x,
    logits = logits[used, , drop = FALSE], response = response[used, , drop = FALSE],
    is_penalized = is_penalized(first_optimizer(object)), factor = factor,
    is_iterative = wants_all_rows(first_optimizer(object)),
    offset = if (is.null(frame$offset)) 0 else frame$offset[used]
  )
  fit$beta <- plain$solve(fit$logits[, 1] - fit$offset)$beta
  fit$means <- as.matrix(inverse_link(fit$family)(fit$logits))
  fit$errors <- fit$response - fit$means
  fit$gradient <- sqrt(sum(plain$solve(fit$weights * fit$errors[, 1])$fitted^2))
  if (nzchar(fit$family)) {
    fit$absorbed <- absorbed_solver(code, x, fit$weights * row_variance(fit))
    fit$step <- fit$absorbed$solve(fit$errors[, 1] / row_variance(fit))
    fit$distance <- absorbed_newton_step_size(fit)
  }
  fit$coefficients <- as.matrix(order_as_factor_levels(fit$beta, factor))
  fit$kept <- rep(TRUE, nrow(fit$coefficients))
  fit
}

level_codes <- function(factor, values) match(as.character(values[[factor$name]]), factor$levels)

numeric_columns <- function(factor, values) {
  n <- n_rows(values[[factor$name]])
  do.call(cbind, c(list(matrix(0, n, 0)), lapply(values[factor$numbers], as.numeric)))
}

# The name and levels of the factor, and the names of the numbers.
absorbable_factor <- function(object, values) {
  blueprint <- object$blueprint
  terms <- blueprint$terms
  is_single <- lengths(lapply(terms, unlist)) >= 1 &
    lengths(lapply(terms, `[[`, "words")) + lengths(lapply(terms, `[[`, "numbers")) == 1
  is_word <- lengths(lapply(terms, `[[`, "words")) == 1
  is_plain <- isTRUE(blueprint$has_intercept) && all(is_single) && sum(is_word) == 1 &&
    length(blueprint$summands) == length(terms)
  if (!is_plain) return(NULL)
  name <- terms[[which(is_word)]]$words
  variable <- blueprint$variables[[name]]
  numbers <- unlist(lapply(terms[!is_word], `[[`, "numbers"))
  are_numbers <- vapply(numbers, function(number) {
    x <- values[[number]]
    about <- blueprint$variables[[number]]
    is.numeric(x) && is.null(dim(x)) && is.null(about$time) && is.null(about$unit)
  }, NA)
  f <- values[[name]]
  has_contrasts <- is.ordered(f) || !is.null(attr(f, "contrasts")) ||
    !identical(unname(getOption("contrasts")[1]), "contr.treatment") ||
    grepl("^(stats::)?C\\(", name)
  is_large <- length(variable$levels) > min_levels_to_absorb && variable$width == 1
  if (!all(are_numbers) || has_contrasts || !is_large) return(NULL)
  levels <- if (is.factor(f)) levels(droplevels(f)) else sort_bytewise(unique(f))
  list(
    name = name, levels = levels, numbers = unname(numbers), na_level = variable$na_level,
    order = names(terms)
  )
}

# A function that regresses on the levels and `x` with weights `w`; NULL for collinear columns.
absorbed_solver <- function(code, x, w) {
  sums <- as.vector(rowsum(w, code))
  means <- rowsum(w * x, code) / sums
  left <- sqrt(w) * (x - means[code, , drop = FALSE])
  decomposed <- qr(left, tol = 0)
  sizes <- if (ncol(x)) abs(diag(qr.R(decomposed)))
  if (!all(is.finite(sums)) || any(sizes <= 1e-7 * sqrt(colSums(w * x^2)))) return(NULL)
  unscaled_covariance <- if (ncol(x)) chol2inv(qr.R(decomposed)) else matrix(0, 0, 0)
  spread <- function(d) rowSums((d %*% unscaled_covariance) * d)
  solver <- function(z) {
    of_level <- as.vector(rowsum(w * z, code)) / sums
    slopes <- if (ncol(x)) qr.coef(decomposed, sqrt(w) * (z - of_level[code])) else numeric()
    level <- of_level - as.vector(means %*% slopes)
    away <- sweep(means, 2, means[1, ])
    list(
      beta = c(level[[1]], level[-1] - level[[1]], slopes),
      fitted = level[code] + as.vector(x %*% slopes),
      variances = c(
        1 / sums[[1]] + spread(means[1, , drop = FALSE]),
        (1 / sums + 1 / sums[[1]] + spread(away))[-1], diag(unscaled_covariance)
      )
    )
  }
  row_variances <- function(code, x) (1 / sums)[code] + spread(x - means[code, , drop = FALSE])
  list(
    solve = solver, row_variances = row_variances, sums = sums, means = means,
    unscaled_covariance = unscaled_covariance
  )
}

# newton_step_size() without a design matrix.
absorbed_newton_step_size <- function(fit) {
  step <- fit$step
  if (is.null(step)) return(Inf)
  if (!all(is.finite(step$beta))) return(Inf)
  is_far <- sqrt(fit$absorbed$row_variances(fit$code, fit$x)) > 10 * (1 + abs(fit$logits[, 1]))
  if (fit$family != "gaussian" && any(is_far)) return(Inf)
  centered <- fit$logits[, 1] - mean(fit$logits[, 1])
  scale <- 1
  if (fit$family == "gaussian") {
    squares <- sum(fit$weights * (fit$errors[, 1] - step$fitted)^2)
    rounding <- sum(fit$weights) * (8 * .Machine$double.eps * max(abs(fit$response)))^2
    if (squares <= 1e-20 * sum(fit$weights * centered^2) + rounding) return(0)
    scale <- sum(fit$weights * fit$errors[, 1]^2) / (length(fit$code) - length(fit$beta))
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

# The matrix is computed by one product, because it may take hundreds of megabytes.
absorbed_covariance <- function(fit) {
  names <- rownames(fit$coefficients)
  size <- length(names)
  if (is.null(fit$absorbed)) return(matrix(NaN, size, size, dimnames = list(names, names)))
  about <- fit$absorbed
  k <- length(about$sums)
  slopes <- ncol(about$means)
  first <- about$means[1, ]
  along <- rbind(-first, -sweep(about$means[-1, , drop = FALSE], 2, first), diag(slopes))
  of_first <- c(1, rep(-1, k - 1), numeric(slopes))
  of_level <- c(0, 1 / about$sums[-1], numeric(slopes))
  order <- order_as_factor_levels(seq_len(size), fit$factor)
  scale <- fit_dispersion(fit)[[1]]
  left <- scale * cbind(along %*% about$unscaled_covariance, of_first / about$sums[[1]])
  right <- cbind(along, of_first)
  all <- tcrossprod(left[order, , drop = FALSE], right[order, , drop = FALSE])
  at <- cbind(seq_len(size), seq_len(size))
  all[at] <- all[at] + scale * of_level[order]
  dimnames(all) <- list(names, names)
  all
}

# As linear_predictions(), for rows of other data.
absorbed_predictions <- function(object, data, fit, call) {
  frame <- blueprint_frame(object$blueprint, data, FALSE, call)
  rows <- !Reduce(`|`, frame$missing, logical(frame$n))
  frame <- select_frame_rows(frame, rows)
  frame$rows <- rep(TRUE, sum(rows))
  code <- level_codes(fit$factor, frame$values)
  variances <- NaN
  if (!is.null(fit$absorbed)) {
    variances <- fit$absorbed$row_variances(code, numeric_columns(fit$factor, frame$values))
  }
  error <- sqrt(fit_dispersion(fit)[[1]] * variances)
  # a level that training has not seen has no coefficient
  logits <- linear_logits(object, frame)
  logits[is.na(code), ] <- NA
  list(logits = scatter_rows_to_na(logits, rows), error = scatter_rows_to_na(cbind(error), rows))
}

order_as_factor_levels <- function(beta, factor) {
  levels <- factor$levels
  levels[levels %in% factor$na_level] <- "NA"
  n <- length(levels)
  own <- setNames(beta[seq_len(n)], c("(Intercept)", paste0(factor$name, levels[-1])))
  parts <- as.list(setNames(beta[-seq_len(n)], factor$numbers))
  parts[[factor$name]] <- own[-1]
  unlist(c(list(own[1]), lapply(factor$order, function(name) {
    if (name == factor$name) parts[[name]] else setNames(parts[[name]], name)
  })))
}
