# Orthogonalizes nearly collinear numeric terms, such as x, x^2 and x^3, against the previous terms
# and the factors. Linear models are then well conditioned, and single precision suffices for data
# that are as collinear as lm() accepts.

# Adds the coefficients of the orthogonalization to the blueprint: `basis` for numeric terms, and
# `slopes` for numbers within the levels of a factor. A new blueprint is returned unchanged
# unless `is_whitened`, which is TRUE if a full-batch optimizer trains the model to the optimum.
orthogonalize_terms <- function(blueprint, frame, is_whitened) {
  recorded <- blueprint$known
  if (!is.null(recorded)) {
    # if the terms differ, a later check of the model directory raises an error
    term_names <- c(names(blueprint$terms), blueprint$offset$name)
    if (!setequal(names(recorded$terms), term_names)) return(blueprint)
    if (!is.null(recorded$basis)) blueprint$basis <- recorded_basis(recorded$basis)
    if (!is.null(recorded$slopes)) blueprint$slopes <- lapply(recorded$slopes, recorded_slopes)
    return(blueprint)
  }
  if (!is_whitened) return(blueprint)
  codes <- if (!is.null(frame$values)) factor_codes_of(blueprint, frame$values)
  names <- number_terms(blueprint)
  if (length(names)) {
    statistics <- frame$numbers
    if (is.null(statistics)) {
      x <- number_matrix(blueprint, names, frame$values)
      statistics <- number_statistics(x, codes, blueprint$has_bias)
    }
    if (statistics$k >= 2 || length(statistics$means)) {
      blueprint$basis <- new_basis(statistics, names, blueprint)
    }
  }
  # not for a stream, because training on one does not reach the optimum
  if (!is.null(frame$values)) blueprint$slopes <- new_slopes(blueprint, frame$values, codes)
  blueprint
}

# Returns the names of the terms without factors.
number_terms <- function(blueprint) {
  names(Filter(function(term) length(term$words) == 0, blueprint$terms))
}

# Returns a matrix with the columns of numeric terms.
number_matrix <- function(blueprint, names, values) {
  do.call(cbind, lapply(unname(blueprint$terms[names]), function(term) {
    matrix(as.numeric(feature_value(term$numbers, values)), n_rows(values[[1]]))
  }))
}

# Returns the basis. Its matrix `shares` converts standardized numbers to orthogonal ones. It is 0
# for collinear columns.
new_basis <- function(statistics, names, blueprint) {
  independent <- statistics$independent
  shares <- matrix(0, statistics$k, statistics$k)
  if (length(independent)) {
    shares[independent, independent] <- whitening_matrix(statistics$triangle(independent))
  }
  widths <- vapply(names, function(name) {
    max(vapply(blueprint$variables[blueprint$terms[[name]]$numbers], `[[`, 1L, "width"))
  }, 1L)
  basis <- list(
    terms = names, widths = unname(widths), center = statistics$scale$center,
    scale = statistics$scale$scale, shares = shares
  )
  basis$means <- if (length(statistics$means)) statistics$means
  basis
}

# Returns the matrix that makes columns orthonormal: the inverse of the triangle `r` of their QR
# decomposition, with a positive diagonal.
whitening_matrix <- function(r) backsolve(r * sign(diag(r)), diag(ncol(r)))

# Returns statistics of the columns of `x`. `independent` are the columns that lm() would keep. If
# factors explain nearly all of a column, `means` are the effects of the factors, and the columns
# are residualized. `triangle()` returns R of the QR decomposition of columns.
number_statistics <- function(x, codes = NULL, has_bias = TRUE) {
  scale <- column_scale(x, has_bias)
  z <- standardize_columns(x, scale)
  independent <- columns_kept_by_lm(qr(if (has_bias) cbind(1, x) else x, tol = 1e-7), has_bias)
  means <- NULL
  if (length(independent)) {
    effects <- sweep_factors(z, codes)
    total <- qr_triangle(z, independent)
    residual <- qr_triangle(effects$residuals, independent)
    if (any(abs(diag(residual)) < max_unexplained_share * abs(diag(total)))) {
      means <- effects$means
      z <- effects$residuals
      independent <- independent_columns(z, independent, 1e-7 * root_mean_square(x) / scale$scale)
    }
  }
  list(
    scale = scale, k = ncol(x), means = means, independent = independent,
    triangle = function(columns) qr_triangle(z, columns)
  )
}

columns_kept_by_lm <- function(decomposed, has_bias) {
  kept <- sort(decomposed$pivot[seq_len(decomposed$rank)])
  if (has_bias) kept[-1] - 1 else kept
}

qr_triangle <- function(z, columns) {
  qr.R(qr(z[, columns, drop = FALSE], tol = 0)) / sqrt(nrow(z))
}

root_mean_square <- function(x) sqrt(colMeans(x^2))

# Selects columns from `candidates` whose residual on the previously selected columns exceeds
# `smallest`.
independent_columns <- function(z, candidates, smallest) {
  candidates <- utils::head(candidates, nrow(z))
  while (length(candidates)) {
    dependent <- which(abs(diag(as.matrix(qr_triangle(z, candidates)))) <= smallest[candidates])
    if (length(dependent) == 0) break
    candidates <- candidates[-dependent[[1]]]
  }
  candidates
}

standardize_columns <- function(x, scale) sweep(sweep(x, 2, scale$center), 2, scale$scale, `/`)

# Returns the numbers that the matrix `shares` of a basis converts: standardized and without the
# effects of the factors.
basis_numbers <- function(basis, blueprint, values) {
  z <- standardize_columns(number_matrix(blueprint, basis$terms, values), basis)
  residualize_on_factors(z, basis$means, factor_codes_of(blueprint, values, names(basis$means)))
}

# Returns the positions of a term's columns in the basis.
basis_columns <- function(basis, name) {
  index <- match(name, basis$terms)
  sum(basis$widths[seq_len(index - 1)]) + seq_len(basis$widths[[index]])
}

# Returns the fields of a numeric feature column that contain its orthogonalization.
basis_fields <- function(blueprint, name) {
  basis <- blueprint$basis
  if (!name %in% basis$terms) return(list())
  shares <- basis$shares[, basis_columns(basis, name), drop = FALSE]
  list(
    among = numbers_column(blueprint, basis$terms, basis), shares = as.list(as.vector(t(shares)))
  )
}

# Creates a feature column of the standardized numbers of several terms.
numbers_column <- function(blueprint, terms, scale, widths = scale$widths) {
  keys <- vapply(terms, function(term) {
    blueprint$keys[[product_name(blueprint$terms[[term]]$numbers)]]
  }, "")
  fields <- list(
    type = "SideBySideColumn", name = "all numbers", keys = as.list(unname(keys)),
    widths = as.list(widths), center = as.list(scale$center), scale = as.list(scale$scale)
  )
  if (length(scale$means)) {
    fields$words <- lapply(names(scale$means), factor_column, blueprint)
    fields$means <- as.list(unlist(lapply(unname(scale$means), t)))
  }
  rebuild_column(fields)
}

basis_record <- function(basis) {
  if (is.null(basis)) return(NULL)
  basis$widths <- as.double(basis$widths)
  basis$shares <- as.vector(basis$shares)
  if (!is.null(basis$means)) basis$means <- lapply(basis$means, as.vector)
  basis
}

recorded_basis <- function(record) {
  record$widths <- as.integer(record$widths)
  k <- length(record$center)
  record$shares <- matrix(record$shares, k)
  if (!is.null(record$means)) record$means <- lapply(record$means, matrix, ncol = k)
  record
}

is_recorded_basis <- function(x) {
  if (is.null(x)) return(TRUE)
  n <- length(x$center)
  is_plain_list(x) && is.character(x$terms) && is.double(x$widths) && are_valid_scales(x) &&
    is.double(x$shares) && length(x$terms) == length(x$widths) && sum(x$widths) == n &&
    length(x$shares) == n^2 && all(is.finite(x$shares)) && are_valid_means(x$means, n)
}

are_valid_scales <- function(x) {
  is.double(x$center) && is.double(x$scale) && length(x$scale) == length(x$center) &&
    all(x$scale > 0)
}

are_valid_means <- function(x, n) {
  is_table <- function(x) is.double(x) && length(x) %% n == 0 && all(is.finite(x))
  is.null(x) || (is_plain_list(x) && !is.null(names(x)) && all(vapply(x, is_table, NA)))
}
