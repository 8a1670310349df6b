# Computes statistics of a stream in one pass: levels, classes, means, scales, and a QR
# decomposition.

# Reads a stream and computes the statistics that `requested` selects. Returns a list that replaces
# the frame of evaluate_blueprint(), and the updated blueprint.
scan_stream <- function(blueprint, stream, columns, requested, call) {
  state <- new_stream_statistics(requested)
  visit <- function(chunk) {
    frame <- evaluate_blueprint(blueprint, chunk, TRUE, call)
    update_levels(state, blueprint, frame$values)
    state$missing <- add_missing_counts(state$missing, missing_counts(frame$missing), state$read)
    state$passed <- union(state$passed, frame$passed)
    state$read <- state$read + frame$n
    rows <- !Reduce(`|`, frame$missing, logical(frame$n))
    if (any(rows)) update_row_statistics(state, blueprint, select_frame_rows(frame, rows), call)
  }
  each_chunk(stream, columns, visit)
  check_statistics(state, blueprint, call)
  blueprint <- set_levels(state, blueprint, call)
  list(
    blueprint = blueprint, n = state$n, read = state$read, moments = state$moments,
    passed = state$passed,
    numbers = if (!is.null(state$triangle)) stream_number_statistics(state, blueprint$has_bias),
    response = scanned_response(state, blueprint$response$name, call)
  )
}

# Creates the state of a scan. `requested` contains `features` (to scale), `basis` (terms to
# orthogonalize), and flags for the response.
new_stream_statistics <- function(requested) {
  list2env(
    list(
      requested = requested, n = 0, read = 0, missing = NULL, levels = list(), crosses = list(),
      moments = list(), classes = NULL, response = NULL, triangle = NULL
    ),
    parent = emptyenv()
  )
}

update_row_statistics <- function(state, blueprint, frame, call) {
  for (name in state$requested$features) {
    x <- feature_value(blueprint$features[[name]], frame$values)
    state$moments[[name]] <- merge_moments(state$moments[[name]], x)
  }
  if (length(state$requested$basis)) {
    x <- number_matrix(blueprint, state$requested$basis, frame$values)
    update_triangle(state, x)
  }
  if (!is.null(frame$offset)) {
    state$moments$.offset <- merge_moments(state$moments$.offset, frame$offset)
  }
  y <- frame$response
  if (is.null(state$response)) state$response <- y
  if (state$requested$classes) {
    # fractions are invalid as classes; without this check, each row could have its own class
    if (is.numeric(y) && any(y != trunc(y))) response_classes(y, blueprint$response$name, call)
    state$classes <- merge_levels(state$classes, y)
  } else if (state$requested$response && is.numeric(y)) {
    state$moments$.response <- merge_moments(state$moments$.response, y)
  }
  state$n <- state$n + n_rows(y)
}

check_statistics <- function(state, blueprint, call) {
  if (state$read == 0) abort_runhooks("The data have no rows.", call = call)
  is_omitted <- blueprint$na$kind %in% c("omit", "exclude")
  if (state$missing$rows > 0 && !is_omitted) abort_missing_rows(state$missing, blueprint, call)
  if (state$n == 0) abort_runhooks("All rows have NA.", call = call)
}

stream_means <- function(stream, columns) {
  moments <- list()
  each_chunk(stream, columns, function(chunk) {
    for (name in columns) {
      x <- chunk[[name]]
      if (!is.numeric(x) || !is.null(dim(x))) next
      moments[[name]] <<- merge_moments(moments[[name]], x[is.finite(x)])
    }
  })
  lapply(moments, `[[`, "mean")
}

# Adds the rows of `x` to the running mean and sum of squared deviations.
merge_moments <- function(total, x) {
  columns <- matrix(as.numeric(x), n_rows(x))
  n <- nrow(columns)
  if (n == 0) return(total)
  mean <- colMeans(columns)
  chunk <- list(
    n = n, mean = mean, squares = colSums(sweep(columns, 2, mean)^2),
    largest = apply(abs(columns), 2, max)
  )
  if (is.null(total)) return(chunk)
  n <- total$n + chunk$n
  step <- chunk$mean - total$mean
  list(
    n = n, mean = total$mean + step * chunk$n / n,
    squares = total$squares + chunk$squares + step^2 * total$n * chunk$n / n,
    largest = pmax(total$largest, chunk$largest)
  )
}

moments_scale <- function(moments, is_centered) {
  center <- if (is_centered) moments$mean else 0 * moments$mean
  spread <- sqrt(moments$squares / moments$n + (moments$mean - center)^2)
  scale_from_spread(center, spread, moments$largest)
}

# Adds rows to the triangle of a QR decomposition of (1, x - shift), which keeps full precision,
# unlike crossproducts.
update_triangle <- function(state, x) {
  if (is.null(state$shift)) state$shift <- colMeans(x)
  stacked <- rbind(state$triangle, cbind(1, sweep(x, 2, state$shift)))
  # with fewer rows than columns there is no triangle yet
  state$triangle <- if (nrow(stacked) > ncol(stacked)) qr.R(qr(stacked, tol = 0)) else stacked
  state$moments$.basis <- merge_moments(state$moments$.basis, x)
}

# Computes the statistics of number_statistics() (R/formula_orthogonalize.R) from the triangle of
# the stream.
stream_number_statistics <- function(state, has_bias) {
  k <- length(state$shift)
  scale <- moments_scale(state$moments$.basis, has_bias)
  to_raw <- rbind(c(1, state$shift), cbind(0, diag(k)))
  if (!has_bias) to_raw <- to_raw[, -1, drop = FALSE]
  to_standardized <- rbind((state$shift - scale$center) / scale$scale, diag(1 / scale$scale, k))
  standardized <- state$triangle %*% to_standardized
  raw <- qr(state$triangle %*% to_raw, tol = 1e-7)
  list(
    scale = scale, k = k, independent = columns_kept_by_lm(raw, has_bias),
    triangle = function(columns) {
      qr.R(qr(standardized[, columns, drop = FALSE], tol = 0)) / sqrt(state$n)
    }
  )
}

update_levels <- function(state, blueprint, values) {
  factors <- Filter(function(variable) !is.null(variable$levels), blueprint$variables)
  for (name in names(factors)) {
    state$levels[[name]] <- merge_levels(state$levels[[name]], values[[name]])
  }
  for (name in names(blueprint$crosses)) {
    levels <- lapply(values[blueprint$features[[name]]], as.character)
    levels <- as.data.frame(levels, optional = TRUE)
    state$crosses[[name]] <- unique(rbind(state$crosses[[name]], levels))
  }
}

# Adds the levels of a chunk. Records also which orders of the levels are consistent with all
# chunks.
merge_levels <- function(total, x) {
  chunk_levels <- if (is.factor(x)) levels(x) else unique(as.vector(x[!is.na(x)]))
  strings <- as.character(chunk_levels)
  numbers <- suppressWarnings(as.numeric(strings))
  merged <- list(
    values = chunk_levels, is_factor = is.factor(x), is_same = TRUE,
    is_numeric = !anyNA(numbers) && !is.unsorted(numbers), is_sorted = !is.unsorted(strings)
  )
  if (is.null(total)) return(merged)
  for (order in c("is_numeric", "is_sorted")) merged[[order]] <- total[[order]] && merged[[order]]
  merged$is_same <- total$is_same && identical(total$values, chunk_levels)
  merged$values <- if (merged$is_same) chunk_levels else union(total$values, chunk_levels)
  merged
}

# Returns the levels of a factor in the order that a factor of all rows would have.
ordered_levels <- function(collected, name, call) {
  if (collected$is_same) return(collected$values)
  if (collected$is_numeric) return(collected$values[order(as.numeric(collected$values))])
  if (collected$is_sorted) return(sort(collected$values))
  abort_runhooks(
    c(
      "The levels of {.code {name}} differ between chunks of the stream, and their order is
       ambiguous.",
      i = "Specify the levels: {.code factor(x, levels = c(...))}."
    ),
    call = call
  )
}

set_levels <- function(state, blueprint, call) {
  for (name in names(state$levels)) {
    if (!is.null(blueprint$known$variables[[name]]$levels)) next
    collected <- state$levels[[name]]
    levels <- if (collected$is_factor) {
      ordered_levels(collected, name, call)
    } else {
      sorted_strings(collected$values)
    }
    check_has_levels(levels, name, call)
    blueprint$variables[[name]]$levels <- levels
  }
  for (name in names(blueprint$crosses)) {
    factors <- blueprint$features[[name]]
    blueprint$crosses[[name]] <- crossed_levels(state$crosses[[name]], blueprint, factors)
  }
  blueprint
}

scanned_response <- function(state, name, call) {
  collected <- state$classes
  if (is.null(collected)) return(state$response)
  if (!collected$is_factor) return(collected$values)
  levels <- ordered_levels(collected, name, call)
  factor(levels, levels = levels)
}

# Rejects terms such as poly(x, 2) or x - mean(x), whose values change if they are computed from
# some of the rows.
check_row_wise <- function(blueprint, chunk, call) {
  n <- n_rows(chunk[[1]])
  first_half <- seq_len(ceiling(n / 2))
  subsets <- unique(list(first_half, setdiff(seq_len(n), first_half), 1L, n))
  for (name in names(blueprint$variables)) {
    if (!is.call(blueprint$variables[[name]]$expr)) next
    values <- formula_value(name, chunk, blueprint, call)
    for (rows in subsets[lengths(subsets) > 0]) {
      is_selected <- seq_len(n) %in% rows
      subset_values <- tryCatch(
        formula_value(name, lapply(chunk, select_rows, is_selected), blueprint, call),
        error = function(error) NULL
      )
      if (!have_same_values(subset_values, select_rows(values, is_selected))) {
        abort_not_row_wise(name, call)
      }
    }
  }
}

have_same_values <- function(a, b) {
  if (is.factor(a) || is.factor(b)) {
    a <- as.character(a)
    b <- as.character(b)
  }
  isTRUE(all.equal(as.vector(a), as.vector(b), tolerance = 1e-12))
}

abort_not_row_wise <- function(name, call) {
  abort_runhooks(
    c(
      "{.code {name}} depends on all rows, but a stream is read in chunks.",
      i = "Write the numbers that it computes from the data into the formula, as in
           {.code I(x - 3.2)}, {.code cut(x, c(0, 1, 2))} or {.code poly(x, 2, raw = TRUE)}."
    ),
    call = call
  )
}
