# Centers numeric terms within levels of factors, and orthogonalizes slopes within levels.

# Factors explain nearly all of a number if less of its standard deviation remains within levels.
max_unexplained_share <- 0.2

factor_codes_of <- function(blueprint, values, names = factor_terms(blueprint)) {
  lapply(setNames(nm = names), function(name) {
    words <- blueprint$features[[name]]
    match(factor_strings(words, values), factor_levels(name, blueprint))
  })
}

factor_terms <- function(blueprint) {
  is_alone <- function(term) {
    length(term$numbers) == 0 &&
      all(vapply(blueprint$variables[term$words], `[[`, 1L, "width") == 1L)
  }
  names(Filter(is_alone, blueprint$terms))
}

factor_strings <- function(words, values) {
  if (length(words) > 1) crossed_strings(values[words]) else as.character(values[[words]])
}

factor_levels <- function(name, blueprint) {
  if (length(blueprint$features[[name]]) > 1) blueprint$crosses[[name]]
  else blueprint$variables[[name]]$levels
}

# The categorical column of a factor or of a combination of factors.
factor_column <- function(name, blueprint) {
  levels <- factor_levels(name, blueprint)
  column <- column_categorical_with_vocabulary_list(blueprint$keys[[name]], vocabulary_list = levels)
  if ("" %in% levels) column$empty_is_word <- TRUE
  column
}

residualize_on_factors <- function(z, means, codes) {
  for (name in names(means)) {
    of_row <- means[[name]][codes[[name]], , drop = FALSE]
    of_row[is.na(of_row)] <- 0 # unseen levels
    z <- z - of_row
  }
  z
}

# Removes the effects of all factors from the numbers, by alternating projections.
sweep_factors <- function(z, codes, max_sweeps = 100) {
  codes <- Filter(function(code) any(!is.na(code)), codes)
  means <- lapply(codes, function(code) matrix(0, max(code, na.rm = TRUE), ncol(z)))
  for (turn in seq_len(if (length(codes) > 1) max_sweeps else length(codes))) {
    moved <- 0
    for (name in names(codes)) {
      step <- level_means(z, codes[[name]], nrow(means[[name]]))
      means[[name]] <- means[[name]] + step
      was <- z
      z <- residualize_on_factors(z, setNames(list(step), name), codes)
      moved <- pmax(moved, colSums((z - was)^2))
    }
    if (all(moved <= 1e-6 * colSums(z^2))) break
  }
  list(means = means, left = z)
}

level_means <- function(z, code, n) {
  means <- matrix(0, n, ncol(z))
  sums <- rowsum(z, code)
  at <- as.integer(rownames(sums))
  is_level <- !is.na(at)
  counts <- tabulate(code, n)
  means[at[is_level], ] <- sums[is_level, ] / counts[at[is_level]]
  means
}

# Coefficients that orthogonalize numbers within each level; NULL if they are not nearly collinear.
new_slopes <- function(blueprint, values, codes) {
  terms <- Filter(function(term) length(term$words) && length(term$numbers), blueprint$terms)
  is_narrow <- vapply(terms, function(term) {
    all(vapply(blueprint$variables[c(term$words, term$numbers)], `[[`, 1L, "width") == 1L)
  }, NA)
  terms <- terms[is_narrow]
  if (length(terms) == 0) return(NULL)
  words <- vapply(terms, function(term) product_name(term$words), "")
  by_factor <- split(names(terms), factor(words, sort_bytewise(unique(words))))
  slopes <- lapply(setNames(nm = names(by_factor)), function(name) {
    code <- codes[[name]]
    has_own <- !is.null(code)
    if (!has_own) code <- factor_codes_of(blueprint, values, name)[[1]]
    x <- number_matrix(blueprint, by_factor[[name]], values)
    slopes_within(x, code, length(factor_levels(name, blueprint)), has_own, by_factor[[name]])
  })
  slopes <- Filter(Negate(is.null), slopes)
  if (length(slopes)) slopes
}

# `is_centered`: the factor is also a term, which absorbs the mean of each level.
slopes_within <- function(x, code, n_levels, is_centered, terms) {
  k <- ncol(x)
  scale <- column_scale(x, is_centered)
  z <- standardize_columns(x, scale)
  means <- if (is_centered) level_means(z, code, n_levels) else matrix(0, n_levels, k)
  shares <- array(0, c(n_levels, k, k))
  is_needed <- FALSE
  for (rows in split(seq_along(code), code)) {
    level <- code[[rows[[1]]]]
    own <- z[rows, , drop = FALSE]
    left <- sweep(own, 2, means[level, ])
    smallest <- 1e-7 * root_mean_square(x[rows, , drop = FALSE]) / scale$scale
    kept <- independent_columns(left, seq_len(k), smallest)
    if (length(kept)) {
      r <- triangle_of(left, kept)
      shares[level, kept, kept] <- whitening_matrix(r)
    }
    is_needed <- is_needed || length(kept) < k ||
      any(abs(diag(r)) < max_unexplained_share * root_mean_square(own))
  }
  if (!is_needed) return(NULL)
  list(terms = terms, center = scale$center, scale = scale$scale, means = means, shares = shares)
}

# The slopes of a term, with its index among them.
slopes_of <- function(blueprint, name) {
  slopes <- blueprint$slopes[[product_name(blueprint$terms[[name]]$words)]]
  at <- match(name, slopes$terms)
  if (length(at) && !is.na(at)) c(slopes, at = at)
}

slope_fields <- function(blueprint, name) {
  slopes <- slopes_of(blueprint, name)
  if (is.null(slopes)) return(list())
  words <- product_name(blueprint$terms[[name]]$words)
  slopes$means <- setNames(list(slopes$means), words)
  shares <- matrix(slopes$shares[, , slopes$at], dim(slopes$shares)[[1]])
  list(
    among = numbers_column(blueprint, slopes$terms, slopes, rep(1L, length(slopes$terms))),
    shares = as.list(as.vector(t(shares)))
  )
}

# The number in each row that is multiplied by the weight of its level.
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
