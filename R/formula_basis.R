# Numbers of which others say nearly all: x, x^2, x^3. Each term of numbers becomes what those before
# it leave over, with mean 0 and mean square 1, so that single precision is enough for a linear model
# of them, and its optimum is near in all directions. The data may be as collinear as lm() takes them.

# `is_whitened` says whether the model is trained by an optimizer that goes to the optimum.
add_basis <- function(blueprint, frame, is_whitened) {
  known <- blueprint$known
  if (!is.null(known)) is_whitened <- !is.null(known$basis)
  if (!is_whitened) return(blueprint)
  names <- number_terms(blueprint)
  if (length(names) == 0) return(blueprint)
  if (!is.null(known)) {
    blueprint$basis <- known_basis(known$basis)
    return(blueprint)
  }
  numbers <- frame$numbers
  if (is.null(numbers)) numbers <- frame_numbers(number_matrix(blueprint, names, frame$values))
  if (numbers$k >= 2) blueprint$basis <- new_basis(numbers, names, blueprint)
  blueprint
}

# Terms of numbers alone.
number_terms <- function(blueprint) {
  names(Filter(function(term) length(term$words) == 0, blueprint$terms))
}

# Their numbers side by side.
number_matrix <- function(blueprint, names, values) {
  do.call(cbind, lapply(unname(blueprint$terms[names]), function(term) {
    matrix(as.numeric(feature_value(term$numbers, values)), n_rows(values[[1]]))
  }))
}

# `shares` makes of standardized numbers what is fed to the model; a column that others say whole, as
# lm() finds it, has none.
new_basis <- function(numbers, names, blueprint) {
  scale <- numbers$scale
  found <- numbers$decomposed
  kept <- sort(found$pivot[seq_len(found$rank)])[-1] - 1
  shares <- matrix(0, numbers$k, numbers$k)
  if (length(kept)) {
    r <- numbers$triangle(kept)
    shares[kept, kept] <- backsolve(r * sign(diag(r)), diag(length(kept)))
  }
  widths <- vapply(names, function(name) {
    max(vapply(blueprint$variables[blueprint$terms[[name]]$numbers], `[[`, 1L, "width"))
  }, 1L)
  list(
    terms = names, widths = unname(widths), center = scale$center, scale = scale$scale,
    shares = shares
  )
}

# What is to be known of numbers: their scales, how lm() finds (1, x), and the triangle of standardized
# ones of some columns.
frame_numbers <- function(x) {
  scale <- column_scale(x, TRUE)
  z <- standardized(x, scale)
  list(
    scale = scale, k = ncol(x), decomposed = qr(cbind(1, x), tol = 1e-7),
    triangle = function(kept) qr.R(qr(z[, kept, drop = FALSE], tol = 0)) / sqrt(nrow(z))
  )
}

standardized <- function(x, scale) sweep(sweep(x, 2, scale$center), 2, scale$scale, `/`)

# The columns of `shares` that are those of a term.
basis_columns <- function(basis, name) {
  at <- match(name, basis$terms)
  sum(basis$widths[seq_len(at - 1)]) + seq_len(basis$widths[[at]])
}

# What a numeric column has besides: all numbers, and how it is made of them.
basis_fields <- function(blueprint, name) {
  basis <- blueprint$basis
  if (!name %in% basis$terms) return(list())
  keys <- vapply(basis$terms, function(term) {
    blueprint$keys[[product_name(blueprint$terms[[term]]$numbers)]]
  }, "")
  among <- rebuild_column(list(
    type = "SideBySideColumn", name = "all numbers", keys = as.list(unname(keys)),
    widths = as.list(basis$widths), center = as.list(basis$center), scale = as.list(basis$scale)
  ))
  shares <- basis$shares[, basis_columns(basis, name), drop = FALSE]
  list(among = among, shares = as.list(as.vector(t(shares))))
}

# --- in the folder

basis_record <- function(basis) {
  if (is.null(basis)) return(NULL)
  basis$widths <- as.double(basis$widths)
  basis$shares <- as.vector(basis$shares)
  basis
}

known_basis <- function(record) {
  record$widths <- as.integer(record$widths)
  record$shares <- matrix(record$shares, length(record$center))
  record
}

is_known_basis <- function(x) {
  if (is.null(x)) return(TRUE)
  n <- length(x$center)
  is_plain_list(x) && is.character(x$terms) && is.double(x$widths) && is.double(x$center) &&
    is.double(x$scale) && is.double(x$shares) && length(x$terms) == length(x$widths) &&
    sum(x$widths) == n && length(x$scale) == n && length(x$shares) == n^2 && all(x$scale > 0) &&
    all(is.finite(x$shares))
}
