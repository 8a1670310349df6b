# Orthogonalizes nearly collinear numeric terms, such as x, x^2 and x^3, against the previous terms
# and the factors. Linear models are then well conditioned, and single precision suffices for data
# that are as collinear as lm() accepts.

# `is_whitened`: a full-batch optimizer trains the model to the optimum.
orthogonalize_terms <- function(blueprint, frame, is_whitened) {
  known <- blueprint$known
  if (!is.null(known)) {
    # if the terms differ, reading the model directory raises an error later
    own <- c(names(blueprint$terms), blueprint$offset$name)
    if (!setequal(names(known$terms), own)) return(blueprint)
    if (!is.null(known$basis)) blueprint$basis <- recorded_basis(known$basis)
    if (!is.null(known$slopes)) blueprint$slopes <- lapply(known$slopes, recorded_slopes)
    return(blueprint)
  }
  if (!is_whitened) return(blueprint)
  codes <- if (!is.null(frame$values)) factor_codes_of(blueprint, frame$values)
  names <- number_terms(blueprint)
  if (length(names)) {
    numbers <- frame$numbers
    if (is.null(numbers)) {
      x <- number_matrix(blueprint, names, frame$values)
      numbers <- frame_numbers(x, codes, blueprint$has_bias)
    }
    if (numbers$k >= 2 || length(numbers$means)) {
      blueprint$basis <- new_basis(numbers, names, blueprint)
    }
  }
  # training on a stream does not reach the optimum
  if (!is.null(frame$values)) blueprint$slopes <- new_slopes(blueprint, frame$values, codes)
  blueprint
}

number_terms <- function(blueprint) {
  names(Filter(function(term) length(term$words) == 0, blueprint$terms))
}

number_matrix <- function(blueprint, names, values) {
  do.call(cbind, lapply(unname(blueprint$terms[names]), function(term) {
    matrix(as.numeric(feature_value(term$numbers, values)), n_rows(values[[1]]))
  }))
}

# `shares` convert standardized numbers to orthogonal ones; they are 0 for collinear columns.
new_basis <- function(numbers, names, blueprint) {
  kept <- numbers$kept
  shares <- matrix(0, numbers$k, numbers$k)
  if (length(kept)) shares[kept, kept] <- whitening_matrix(numbers$triangle(kept))
  widths <- vapply(names, function(name) {
    max(vapply(blueprint$variables[blueprint$terms[[name]]$numbers], `[[`, 1L, "width"))
  }, 1L)
  basis <- list(
    terms = names, widths = unname(widths), center = numbers$scale$center,
    scale = numbers$scale$scale, shares = shares
  )
  basis$means <- if (length(numbers$means)) numbers$means
  basis
}

# Inverts the triangle `r` of a QR decomposition, so that columns become orthonormal.
whitening_matrix <- function(r) backsolve(r * sign(diag(r)), diag(ncol(r)))

# `kept`: the columns that lm() would keep. `means`: effects of the factors on the columns, if they
# explain nearly all of a column; the columns are then residualized.
frame_numbers <- function(x, codes = NULL, has_bias = TRUE) {
  scale <- column_scale(x, has_bias)
  z <- standardize_columns(x, scale)
  kept <- known_columns(qr(if (has_bias) cbind(1, x) else x, tol = 1e-7), has_bias)
  means <- NULL
  if (length(kept)) {
    found <- sweep_factors(z, codes)
    before <- triangle_of(z, kept)
    left <- triangle_of(found$left, kept)
    if (any(abs(diag(left)) < max_unexplained_share * abs(diag(before)))) {
      means <- found$means
      z <- found$left
      kept <- independent_columns(z, kept, 1e-7 * root_mean_square(x) / scale$scale)
    }
  }
  list(
    scale = scale, k = ncol(x), means = means, kept = kept,
    triangle = function(kept) triangle_of(z, kept)
  )
}

known_columns <- function(decomposed, has_bias) {
  known <- sort(decomposed$pivot[seq_len(decomposed$rank)])
  if (has_bias) known[-1] - 1 else known
}

triangle_of <- function(z, kept) {
  qr.R(qr(z[, kept, drop = FALSE], tol = 0)) / sqrt(nrow(z))
}

root_mean_square <- function(x) sqrt(colMeans(x^2))

# The columns of `kept` whose residual on the previous ones exceeds `smallest`.
independent_columns <- function(z, kept, smallest) {
  kept <- utils::head(kept, nrow(z))
  while (length(kept)) {
    low <- which(abs(diag(as.matrix(triangle_of(z, kept)))) <= smallest[kept])
    if (length(low) == 0) break
    kept <- kept[-low[[1]]]
  }
  kept
}

standardize_columns <- function(x, scale) sweep(sweep(x, 2, scale$center), 2, scale$scale, `/`)

basis_numbers <- function(basis, blueprint, values) {
  z <- standardize_columns(number_matrix(blueprint, basis$terms, values), basis)
  residualize_on_factors(z, basis$means, factor_codes_of(blueprint, values, names(basis$means)))
}

basis_columns <- function(basis, name) {
  at <- match(name, basis$terms)
  sum(basis$widths[seq_len(at - 1)]) + seq_len(basis$widths[[at]])
}

basis_fields <- function(blueprint, name) {
  basis <- blueprint$basis
  if (!name %in% basis$terms) return(list())
  shares <- basis$shares[, basis_columns(basis, name), drop = FALSE]
  list(
    among = numbers_column(blueprint, basis$terms, basis), shares = as.list(as.vector(t(shares)))
  )
}

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
