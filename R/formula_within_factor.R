# Centers numeric terms within levels of factors, and orthogonalizes slopes within levels.

# Factors explain nearly all of a number if the standard deviation within levels is smaller than
# this share of the whole.
max_unexplained_share <- 0.2

# Returns the index of the level in each row, for each factor.
factor_codes_of <- function(blueprint, values, names = factor_terms(blueprint)) {
  lapply(setNames(nm = names), function(name) {
    variables <- blueprint$features[[name]]
    match(factor_strings(variables, values), factor_levels(name, blueprint))
  })
}

factor_terms <- function(blueprint) {
  is_alone <- function(term) {
    length(term$numbers) == 0 &&
      all(vapply(blueprint$variables[term$words], `[[`, 1L, "width") == 1L)
  }
  names(Filter(is_alone, blueprint$terms))
}

factor_strings <- function(variables, values) {
  if (length(variables) > 1) return(crossed_strings(values[variables]))
  as.character(values[[variables]])
}

factor_levels <- function(name, blueprint) {
  if (length(blueprint$features[[name]]) > 1) blueprint$crosses[[name]]
  else blueprint$variables[[name]]$levels
}

# Creates the categorical column of a factor or of a combination of factors.
factor_column <- function(name, blueprint) {
  levels <- factor_levels(name, blueprint)
  key <- blueprint$keys[[name]]
  column <- column_categorical_with_vocabulary_list(key, vocabulary_list = levels)
  if ("" %in% levels) column$empty_is_word <- TRUE
  column
}

# Subtracts the effects `means` of factors from the columns of `z`.
residualize_on_factors <- function(z, means, codes) {
  for (name in names(means)) {
    row_means <- means[[name]][codes[[name]], , drop = FALSE]
    row_means[is.na(row_means)] <- 0 # unseen levels
    z <- z - row_means
  }
  z
}

# Fits the effects of all factors on the columns of `z` by alternating projections. Returns the
# effects and the residuals.
sweep_factors <- function(z, codes, max_sweeps = 100) {
  codes <- Filter(function(code) any(!is.na(code)), codes)
  means <- lapply(codes, function(code) matrix(0, max(code, na.rm = TRUE), ncol(z)))
  for (sweep_number in seq_len(if (length(codes) > 1) max_sweeps else length(codes))) {
    change <- 0
    for (name in names(codes)) {
      step <- level_means(z, codes[[name]], nrow(means[[name]]))
      means[[name]] <- means[[name]] + step
      previous <- z
      z <- residualize_on_factors(z, setNames(list(step), name), codes)
      change <- pmax(change, colSums((z - previous)^2))
    }
    if (all(change <= 1e-6 * colSums(z^2))) break
  }
  list(means = means, residuals = z)
}

level_means <- function(z, code, n) {
  means <- matrix(0, n, ncol(z))
  sums <- rowsum(z, code)
  rows <- as.integer(rownames(sums))
  is_level <- !is.na(rows)
  counts <- tabulate(code, n)
  means[rows[is_level], ] <- sums[is_level, ] / counts[rows[is_level]]
  means
}

# Returns the coefficients that orthogonalize numbers within each level of a factor. NULL if no
# numbers are nearly collinear.
new_slopes <- function(blueprint, values, codes) {
  terms <- Filter(function(term) length(term$words) && length(term$numbers), blueprint$terms)
  is_narrow <- vapply(terms, function(term) {
    all(vapply(blueprint$variables[c(term$words, term$numbers)], `[[`, 1L, "width") == 1L)
  }, NA)
  terms <- terms[is_narrow]
  if (length(terms) == 0) return(NULL)
  factors <- vapply(terms, function(term) product_name(term$words), "")
  by_factor <- split(names(terms), factor(factors, sort_bytewise(unique(factors))))
  slopes <- lapply(setNames(nm = names(by_factor)), function(name) {
    code <- codes[[name]]
    is_term <- !is.null(code)
    if (!is_term) code <- factor_codes_of(blueprint, values, name)[[1]]
    x <- number_matrix(blueprint, by_factor[[name]], values)
    slopes_within(x, code, length(factor_levels(name, blueprint)), is_term, by_factor[[name]])
  })
  slopes <- Filter(Negate(is.null), slopes)
  if (length(slopes)) slopes
}

# Returns these coefficients for one factor. `is_centered`: whether the factor is also a term, which
# absorbs the mean of each level.
slopes_within <- function(x, code, n_levels, is_centered, terms) {
  k <- ncol(x)
  scale <- column_scale(x, is_centered)
  z <- standardize_columns(x, scale)
  means <- if (is_centered) level_means(z, code, n_levels) else matrix(0, n_levels, k)
  shares <- array(0, c(n_levels, k, k))
  is_needed <- FALSE
  for (rows in split(seq_along(code), code)) {
    level <- code[[rows[[1]]]]
    rows_of_level <- z[rows, , drop = FALSE]
    residuals <- sweep(rows_of_level, 2, means[level, ])
    smallest <- 1e-7 * root_mean_square(x[rows, , drop = FALSE]) / scale$scale
    independent <- independent_columns(residuals, seq_len(k), smallest)
    if (length(independent)) {
      r <- qr_triangle(residuals, independent)
      shares[level, independent, independent] <- whitening_matrix(r)
    }
    is_needed <- is_needed || length(independent) < k ||
      any(abs(diag(r)) < max_unexplained_share * root_mean_square(rows_of_level))
  }
  if (!is_needed) return(NULL)
  list(terms = terms, center = scale$center, scale = scale$scale, means = means, shares = shares)
}

# Returns the coefficients for the factor of a term, and the index `at` of the term among its
# `terms`.
slopes_of <- function(blueprint, name) {
  slopes <- blueprint$slopes[[product_name(blueprint$terms[[name]]$words)]]
  index <- match(name, slopes$terms)
  if (length(index) && !is.na(index)) c(slopes, at = index)
}

slope_fields <- function(blueprint, name) {
  slopes <- slopes_of(blueprint, name)
  if (is.null(slopes)) return(list())
  factor_name <- product_name(blueprint$terms[[name]]$words)
  slopes$means <- setNames(list(slopes$means), factor_name)
  shares <- matrix(slopes$shares[, , slopes$at], dim(slopes$shares)[[1]])
  list(
    among = numbers_column(blueprint, slopes$terms, slopes, rep(1L, length(slopes$terms))),
    shares = as.list(as.vector(t(shares)))
  )
}

# Returns, for each row, the number that is multiplied by the weight of the row's level.
slope_numbers <- function(slopes, blueprint, values, code) {
  z <- standardize_columns(number_matrix(blueprint, slopes$terms, values), slopes)
  z <- residualize_on_factors(z, list(own = slopes$means), list(own = code))
  shares <- matrix(slopes$shares[, , slopes$at], dim(slopes$shares)[[1]])
  rowSums(z * shares[code, , drop = FALSE])
}

slopes_record <- function(slopes) {
  if (is.null(slopes)) return(NULL)
  lapply(slopes, function(x) {
    x[c("means", "shares")] <- lapply(x[c("means", "shares")], as.vector)
    x
  })
}

recorded_slopes <- function(record) {
  k <- length(record$center)
  record$means <- matrix(record$means, ncol = k)
  record$shares <- array(record$shares, c(nrow(record$means), k, k))
  record
}

are_recorded_slopes <- function(x) {
  if (is.null(x)) return(TRUE)
  is_plain_list(x) && !is.null(names(x)) && all(vapply(x, function(x) {
    k <- length(x$center)
    is_plain_list(x) && is.character(x$terms) && length(x$terms) == k && k > 0 &&
    are_valid_scales(x) &&
      is.double(x$means) && are_valid_means(list(own = x$means), k) && is.double(x$shares) &&
      length(x$shares) == k * length(x$means) && all(is.finite(x$shares))
  }, NA))
}
